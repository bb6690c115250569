package device_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	resourcev1 "k8s.io/api/resource/v1"

	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/internal/engine/device"
	"github.com/dovetail-sdk/dovetail/internal/engine/faults"
)

// on returns a device of one node in a slice of several.
func on(node string, d resourcev1.Device) resourcev1.Device {
	d.NodeName = &node
	return d
}

func TestNodes(t *testing.T) {
	yes := true
	changed := func(s *resourcev1.ResourceSlice, change func(*resourcev1.ResourceSlice)) *resourcev1.ResourceSlice {
		change(s)
		return s
	}
	part := func(name string, generation, count int64, devices ...resourcev1.Device) *resourcev1.ResourceSlice {
		return changed(slice("n", devices...), func(s *resourcev1.ResourceSlice) {
			s.Name, s.Spec.Pool.Generation, s.Spec.Pool.ResourceSliceCount = name, generation, count
		})
	}
	two := []resourcev1.Device{dev("d0", "gpu"), dev("d1", "gpu")}
	for _, tt := range []struct {
		name     string
		slices   []*resourcev1.ResourceSlice
		claims   []*resourcev1.ResourceClaim
		ready    int64 // devices of the node once it has started
		starting int64 // and before, where its type promises 4
		all      int64 // of the dimension of those who want all, once started
	}{
		{"nothing published", nil, nil, 0, 4, 0},
		{"published", []*resourcev1.ResourceSlice{slice("n", two...)}, nil, 2, 2, 1},
		{"of another node", []*resourcev1.ResourceSlice{slice("m", two...)}, nil, 0, 4, 0},
		{"allocated", []*resourcev1.ResourceSlice{slice("n", two...)}, []*resourcev1.ResourceClaim{allocate(claim("c"), "n", "d1")}, 1, 1, 0},
		{"allocated elsewhere", []*resourcev1.ResourceSlice{slice("n", two...)}, []*resourcev1.ResourceClaim{allocate(claim("c"), "m", "d1")}, 2, 2, 1},
		{"administrative access takes nothing", []*resourcev1.ResourceSlice{slice("n", two...)},
			[]*resourcev1.ResourceClaim{func() *resourcev1.ResourceClaim {
				c := allocate(claim("c"), "n", "d1")
				c.Status.Allocation.Devices.Results[0].AdminAccess = &yes
				return c
			}()}, 2, 2, 1},
		{"two slices", []*resourcev1.ResourceSlice{part("a", 1, 2, two[0]), part("b", 1, 2, two[1])}, nil, 2, 2, 1},
		{"one of two slices", []*resourcev1.ResourceSlice{part("a", 1, 2, two[0])}, nil, 0, 4, 0},
		{"one of two slices, one device allocated", []*resourcev1.ResourceSlice{part("a", 1, 2, two[0])},
			[]*resourcev1.ResourceClaim{allocate(claim("c"), "n", "d1")}, 0, 3, 0},
		{"newer generation", []*resourcev1.ResourceSlice{part("a", 1, 1, two...), part("b", 2, 1, two[1])}, nil, 1, 1, 1},
		{"newer generation, not complete", []*resourcev1.ResourceSlice{part("a", 1, 1, two...), part("b", 2, 2, two[1])}, nil, 0, 4, 0},
		{"slices that disagree", []*resourcev1.ResourceSlice{part("a", 1, 2, two[0]), part("b", 1, 3, two[1])}, nil, 0, 4, 0},
		{"one name twice", []*resourcev1.ResourceSlice{part("a", 1, 2, two[0]), part("b", 1, 2, two[0])}, nil, 0, 4, 0},
		{"all nodes", []*resourcev1.ResourceSlice{changed(slice("n", two...), func(s *resourcev1.ResourceSlice) {
			s.Spec.NodeName, s.Spec.AllNodes = nil, &yes
		})}, nil, 0, 4, 0},
		{"some nodes", []*resourcev1.ResourceSlice{changed(slice("n", two...), func(s *resourcev1.ResourceSlice) {
			s.Spec.NodeName, s.Spec.NodeSelector = nil, onNode("n")
		})}, nil, 0, 4, 0},
		{"device by device", []*resourcev1.ResourceSlice{changed(slice("n", on("n", two[0]), on("m", two[1])), func(s *resourcev1.ResourceSlice) {
			s.Spec.NodeName, s.Spec.PerDeviceNodeSelection = nil, &yes
		})}, nil, 1, 1, 1},
		{"shared counters", []*resourcev1.ResourceSlice{slice("n", two[0], shared("gpu"))}, nil, 1, 1, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			o := world()
			o.Slices, o.Claims = tt.slices, tt.claims
			it := shape("t", some(4, "gpu"))
			c, _ := counted(t, newIndex(t, o), []*cloudprovider.InstanceType{it}, "gpu", "gpus")
			const gpus = "devices of class gpu"
			require.Equal(t, tt.ready, c.OfNode("n", false, it).Get(gpus))
			require.Equal(t, tt.starting, c.OfNode("n", true, it).Get(gpus))
			require.Equal(t, tt.ready, c.OfNode("n", true, nil).Get(gpus), "a type that is not known promises nothing")
			require.Equal(t, tt.all, c.OfNode("n", false, it).Get("all devices of class gpu"))
		})
	}
}

// A node that is starting has what each driver has published, or what its type
// promises of that driver.
func TestStartingNodeByDriver(t *testing.T) {
	o := world()
	o.Slices = []*resourcev1.ResourceSlice{slice("n", dev("d0", "gpu"))}
	it := shape("t", some(4, "gpu"), cloudprovider.InstanceDevice{Driver: "nic.example.com", Count: 2, Device: dev("", "nic")})
	c, _ := counted(t, newIndex(t, o), []*cloudprovider.InstanceType{it}, "gpu", "nic")
	require.Equal(t, "1 device of class gpu\n2 devices of class nic", render(c.OfNode("n", true, it)))
	require.Equal(t, "1 device of class gpu", render(c.OfNode("n", false, it)))
	require.Equal(t, "4 devices of class gpu\n2 devices of class nic", render(c.OfNode("", true, it)))
}

func TestFaults(t *testing.T) {
	bad := claim("bad", exactly("r", "gpu", -1), first("s", option("a", "gpu", -2)))
	bad.Spec.Devices.Requests[0].FirstAvailable = []resourcev1.DeviceSubRequest{option("a", "gpu", 1)}
	odd := slice("n")
	odd.Spec.Driver, odd.Spec.Pool.Name = "", ""
	_, err := device.New(device.Objects{
		Claims:    []*resourcev1.ResourceClaim{nil, claim(""), bad, bad},
		Templates: []*resourcev1.ResourceClaimTemplate{nil, template(""), template("t", exactly("r", "gpu", -3)), template("t")},
		Classes:   []*resourcev1.DeviceClass{nil, class(""), class("gpu"), class("gpu")},
		Slices:    []*resourcev1.ResourceSlice{nil, {}, odd, odd},
	}, nil)
	require.EqualError(t, err, `Devices.Claims[0]: is nil; leave it out
Devices.Claims[1]: metadata.name: is empty; a ResourceClaim is found by name
ResourceClaim "shop/bad": spec.devices.requests[0]: has both exactly and firstAvailable; use one of them
ResourceClaim "shop/bad": spec.devices.requests[0].exactly.count: is -1; use one or more, or leave it out for one
ResourceClaim "shop/bad": spec.devices.requests[1].firstAvailable[0].count: is -2; use one or more, or leave it out for one
ResourceClaim "shop/bad": is listed twice; list each object once
Devices.Templates[0]: is nil; leave it out
Devices.Templates[1]: metadata.name: is empty; a ResourceClaimTemplate is found by name
ResourceClaimTemplate "shop/t": spec.spec.devices.requests[0].exactly.count: is -3; use one or more, or leave it out for one
ResourceClaimTemplate "shop/t": is listed twice; list each object once
Devices.Classes[0]: is nil; leave it out
Devices.Classes[1]: metadata.name: is empty; a DeviceClass is found by name
DeviceClass "gpu": is listed twice; list each object once
Devices.Slices[0]: is nil; leave it out
Devices.Slices[1]: metadata.name: is empty; a ResourceSlice is found by name
ResourceSlice "n-slice": spec.driver: is empty; devices are found by driver
ResourceSlice "n-slice": spec.pool.name: is empty; devices are found by pool
ResourceSlice "n-slice": is listed twice; list each object once`)
	var fault *faults.Fault
	require.ErrorAs(t, err, &fault)
	require.Equal(t, "Devices.Claims[0]", fault.Object)
}
