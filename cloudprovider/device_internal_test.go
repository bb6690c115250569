package cloudprovider

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
)

func TestValidateDevices(t *testing.T) {
	text, number, yes, node := "a1", int64(3), true, "n"
	attribute := func(a resourcev1.DeviceAttribute) resourcev1.Device {
		return resourcev1.Device{Attributes: map[resourcev1.QualifiedName]resourcev1.DeviceAttribute{"model": a, "fine": {BoolValue: &yes}}}
	}
	for _, tt := range []struct {
		name   string
		device InstanceDevice
		want   string
	}{
		{"sound", InstanceDevice{Driver: "d", Count: 1, Device: attribute(resourcev1.DeviceAttribute{StringValue: &text})}, ""},
		{"a list", InstanceDevice{Driver: "d", Count: 1, Device: attribute(resourcev1.DeviceAttribute{IntValues: []int64{1, 2}})}, ""},
		{"no driver", InstanceDevice{Count: 1}, "type t: devices[0]: driver: empty; set it to the name of the driver in the ResourceSlices"},
		{"no devices", InstanceDevice{Driver: "d"}, "type t: devices[0] (d): count: 0; use one or more, or leave the device out"},
		{"negative", InstanceDevice{Driver: "d", Count: -2}, "type t: devices[0] (d): count: -2; use one or more, or leave the device out"},
		{"no value", InstanceDevice{Driver: "d", Count: 1, Device: attribute(resourcev1.DeviceAttribute{})},
			"type t: devices[0] (d): attribute model: 0 values of different types; set exactly one"},
		{"two values", InstanceDevice{Driver: "d", Count: 1, Device: attribute(resourcev1.DeviceAttribute{StringValue: &text, IntValue: &number})},
			"type t: devices[0] (d): attribute model: 2 values of different types; set exactly one"},
		{"on a node", InstanceDevice{Driver: "d", Count: 1, Device: resourcev1.Device{NodeName: &node}},
			"type t: devices[0] (d): device: nodeName, nodeSelector or allNodes is set; leave them empty, as the node is one of this type"},
		{"on all nodes", InstanceDevice{Driver: "d", Count: 1, Device: resourcev1.Device{AllNodes: &yes}},
			"type t: devices[0] (d): device: nodeName, nodeSelector or allNodes is set; leave them empty, as the node is one of this type"},
		{"on some nodes", InstanceDevice{Driver: "d", Count: 1, Device: resourcev1.Device{NodeSelector: &corev1.NodeSelector{}}},
			"type t: devices[0] (d): device: nodeName, nodeSelector or allNodes is set; leave them empty, as the node is one of this type"},
		{"several", InstanceDevice{Device: attribute(resourcev1.DeviceAttribute{})},
			"type t: devices[0]: driver: empty; set it to the name of the driver in the ResourceSlices\n" +
				"type t: devices[0] (): count: 0; use one or more, or leave the device out\n" +
				"type t: devices[0] (): attribute model: 0 values of different types; set exactly one"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := faults{prefix: "type t"}
			validateDevices(&f, []InstanceDevice{tt.device})
			if tt.want == "" {
				require.Empty(t, f.errs)
			} else {
				require.EqualError(t, errors.Join(f.errs...), tt.want)
			}
		})
	}
}

func TestCloneDevices(t *testing.T) {
	text := "a1"
	it := &InstanceType{Devices: []InstanceDevice{{Driver: "d", Count: 2, Device: resourcev1.Device{
		Attributes: map[resourcev1.QualifiedName]resourcev1.DeviceAttribute{"model": {StringValue: &text}},
	}}}}
	c := it.Clone()
	require.Equal(t, it, c)
	c.Devices[0].Count = 3
	c.Devices[0].Device.Attributes["red"] = resourcev1.DeviceAttribute{}
	require.Equal(t, 2, it.Devices[0].Count)
	require.Len(t, it.Devices[0].Device.Attributes, 1)
	require.Nil(t, (&InstanceType{}).Clone().Devices)
}
