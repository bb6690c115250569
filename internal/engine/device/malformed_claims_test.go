package device_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"

	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/internal/engine/device"
)

// FuzzNeeds reads objects as they might come from anywhere. Whatever they hold,
// there is an error, a refusal or an answer, and the same one each time.
func FuzzNeeds(f *testing.F) {
	type input struct {
		Pod      corev1.Pod
		Claim    resourcev1.ResourceClaim
		Template resourcev1.ResourceClaimTemplate
		Class    resourcev1.DeviceClass
		Slice    resourcev1.ResourceSlice
		Device   resourcev1.Device
		Count    int
	}
	for _, seed := range []input{
		{Pod: *pod("p", "t"), Template: *template("t", exactly("r", "gpu", 2, "big")), Class: *class("gpu", "gpu"), Slice: *slice("n", dev("d", "gpu")), Device: dev("", "gpu", "big"), Count: 3},
		{Pod: *podOf("p", "c"), Claim: *allocate(claim("c", all("r", "gpu")), "n", "d"), Class: *class("gpu"), Slice: *slice("n", dev("d"))},
		{Pod: *podOf("p", "c", "c"), Claim: *claim("c", first("r", option("a", "gpu", 1), option("b", "gpu", 2))), Class: *class("gpu"), Count: -1},
	} {
		text, err := json.Marshal(seed)
		require.NoError(f, err)
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		var in input
		if json.Unmarshal(text, &in) != nil {
			return
		}
		answer := func() any {
			x, err := device.New(device.Objects{
				Claims: []*resourcev1.ResourceClaim{&in.Claim}, Templates: []*resourcev1.ResourceClaimTemplate{&in.Template},
				Classes: []*resourcev1.DeviceClass{&in.Class}, Slices: []*resourcev1.ResourceSlice{&in.Slice}, Matcher: words{},
			}, nil)
			if err != nil {
				return err.Error()
			}
			needs := append(x.Needs([]*corev1.Pod{&in.Pod, &in.Pod, nil}), x.DaemonNeed(&in.Pod))
			it := &cloudprovider.InstanceType{Devices: []cloudprovider.InstanceDevice{{Driver: driver, Device: in.Device, Count: in.Count}}}
			c := x.Count(needs, []*cloudprovider.InstanceType{it})
			out := []any{c.OfType(it), c.OfNode("n", true, it), c.OfNode("n", false, nil)}
			for i := range needs {
				lists, refusal := c.Requests(&needs[i])
				out = append(out, lists, refusal, needs[i].Key(), c.Notes(&needs[i]))
			}
			return out
		}
		require.Equal(t, answer(), answer())
	})
}
