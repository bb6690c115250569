package device_test

import (
	"reflect"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"

	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/internal/engine/device"
	"github.com/dovetail-sdk/dovetail/provisioning/resources"
)

// world has a class of every device, one of the GPUs and one of the large GPUs,
// and a template of a request for one of each.
func world() device.Objects {
	return device.Objects{
		Classes: []*resourcev1.DeviceClass{class("any"), class("gpu", "gpu"), class("big", "gpu", "big"), class("nic", "nic"), class("broken", "broken")},
		Templates: []*resourcev1.ResourceClaimTemplate{
			template("any", exactly("r", "any", 1)), template("gpu", exactly("r", "gpu", 1)), template("big", exactly("r", "big", 1)),
			template("nic", exactly("r", "nic", 1)), template("red", exactly("r", "gpu", 1, "red")), template("broken", exactly("r", "broken", 1)),
			template("gpus", all("r", "gpu")), template("nics", all("r", "nic")), template("bigs", all("r", "big")),
			template("gpus and nics", all("r", "gpu"), all("s", "nic"), exactly("t", "big", 3)),
			template("gpus and big", all("r", "gpu"), exactly("s", "big", 1)),
			template("best", first("r", option("a", "big", 1), option("b", "gpu", 2), option("c", "any", 40), option("d", "nic", 0)), exactly("s", "nic", 1)),
		},
	}
}

// counted returns the Counts for one pod of each of some templates, and their needs.
func counted(t testing.TB, x *device.Index, types []*cloudprovider.InstanceType, templates ...string) (*device.Counts, []device.Need) {
	t.Helper()
	var pods []*corev1.Pod
	for _, name := range templates {
		pods = append(pods, pod(name, name))
	}
	needs := x.Needs(pods)
	return x.Count(needs, types), needs
}

func TestDimensions(t *testing.T) {
	gpus := []*cloudprovider.InstanceType{nil, shape("plain", some(4, "gpu"), some(1, "nic")), shape("mixed", some(2, "gpu"), some(2, "gpu", "big")), shape("none")}
	for _, tt := range []struct {
		name      string
		templates []string
		types     []string // amounts of each type
		pods      []string // amounts of each pod
	}{
		{"one set", []string{"gpu"},
			[]string{"4 devices of class gpu", "4 devices of class gpu", ""},
			[]string{"1 device of class gpu"}},
		{"apart", []string{"gpu", "nic"},
			[]string{"4 devices of class gpu\n1 device of class nic", "4 devices of class gpu", ""},
			[]string{"1 device of class gpu", "1 device of class nic"}},
		{"one within the other", []string{"big", "gpu"},
			[]string{"4 devices of class big or of class gpu\n4 devices of class gpu",
				"2 devices of class big\n4 devices of class big or of class gpu\n4 devices of class gpu", ""},
			[]string{"1 device of class big\n1 device of class big or of class gpu", "1 device of class big or of class gpu\n1 device of class gpu"}},
		{"a selector of the request", []string{"red"},
			[]string{"", "", ""},
			[]string{"1 device of class gpu where `red`"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c, needs := counted(t, newIndex(t, world()), gpus, tt.templates...)
			for i, want := range tt.types {
				require.Equal(t, want, render(c.OfType(gpus[i+1])))
				require.Equal(t, want, render(c.OfNode("new", true, gpus[i+1])))
			}
			for i, want := range tt.pods {
				require.Equal(t, want, render(requests(t, c, &needs[i])))
			}
			require.Zero(t, c.OfType(shape("other", some(9, "gpu"))).Len(), "a type that was not counted has nothing")
		})
	}
}

func TestFirstAvailable(t *testing.T) {
	c, needs := counted(t, newIndex(t, world()), nil, "best")
	lists, refusal := c.Requests(&needs[0])
	require.Nil(t, refusal)
	var texts []string
	for _, l := range lists {
		texts = append(texts, render(l))
	}
	// The third way would take more devices than a claim can hold.
	require.Equal(t, []string{
		"1 device of class big\n1 device of class nic",
		"2 devices of class gpu\n1 device of class nic",
		"2 devices of class nic",
	}, texts)
}

// Where a selector cannot be evaluated for a device, kube-scheduler gives up, and does not try the
// subrequests after it.
func TestFirstAvailableStopsAtWhatCannotBeEvaluated(t *testing.T) {
	good, bad := shape("good", some(2, "gpu")), shape("bad", some(2, "gpu"), some(1, "fragile"))
	o := world()
	o.Templates = append(o.Templates, template("either", first("r", option("a", "broken", 1), option("b", "gpu", 1))))
	c, needs := counted(t, newIndex(t, o), []*cloudprovider.InstanceType{good, bad}, "either", "gpu")
	ways, refusal := c.Requests(&needs[0])
	require.Nil(t, refusal)
	require.Equal(t, "1 device of class gpu\nselectors that can be evaluated for devices of class broken", render(ways[1]))
	require.True(t, ways[1].Fits(c.OfType(good)))
	require.False(t, ways[1].Fits(c.OfType(bad)))
	require.True(t, requests(t, c, &needs[1]).Fits(c.OfType(bad)), "others are not concerned")
}

func TestAllDevices(t *testing.T) {
	const none, one, sole = "none of all devices of class gpu", "all devices of class gpu", "sole use of devices of class gpu"
	types := []*cloudprovider.InstanceType{
		shape("plain", some(4, "gpu")), shape("none", some(1, "nic")), shape("many", some(33, "gpu")), shape("most", some(32, "gpu")),
		shape("odd", some(4, "gpu"), cloudprovider.InstanceDevice{Count: 1, Device: shared("gpu")}),
		shape("fragile", some(1, "gpu", "fragile")),
	}
	c, needs := counted(t, newIndex(t, world()), types, "gpus")
	var got []int64
	for _, it := range types {
		l := c.OfType(it)
		got = append(got, l.Get(one))
		require.Positive(t, l.Get(sole))
	}
	require.Equal(t, []int64{1, 0, 0, 1, 0, 1}, got)
	require.Equal(t, one+"\n"+sole, render(requests(t, c, &needs[0])))
	text, ok := device.Amount(one, 0)
	require.True(t, ok)
	require.Equal(t, none, text)

	// One who wants all and others who want some of the same keep apart.
	both := []string{"gpus", "big", "nic", "gpus and nics"}
	mixed := shape("mixed", some(2, "gpu", "big"), some(2, "gpu"), some(1, "nic"))
	c, needs = counted(t, newIndex(t, world()), []*cloudprovider.InstanceType{mixed}, both...)
	fit := func(of ...int) bool {
		var sum resources.List
		for _, i := range of {
			l, err := sum.Add(requests(t, c, &needs[i]))
			require.NoError(t, err)
			sum = l
		}
		return sum.Fits(c.OfType(mixed))
	}
	require.True(t, fit(0))
	require.True(t, fit(0, 2))
	require.True(t, fit(1, 1, 2))
	require.False(t, fit(0, 1))
	require.False(t, fit(0, 0))

	_, refusal := c.Requests(&needs[3])
	require.Equal(t, "resource claims: all devices of class gpu, and some of the same in another request", refusal.Text)
	require.True(t, refusal.Unsupported)
}

// shared returns a device that draws on shared counters.
func shared(attributes ...string) resourcev1.Device {
	d := dev("", attributes...)
	d.ConsumesCounters = []resourcev1.DeviceCounterConsumption{{CounterSet: "memory"}}
	return d
}

func TestAllOfSeveral(t *testing.T) {
	x := newIndex(t, device.Objects{
		Classes:   world().Classes,
		Templates: []*resourcev1.ResourceClaimTemplate{template("t", all("r", "nic"), all("s", "gpu"), exactly("u", "broken", 3))},
	})
	name := corev1.ResourceName("all devices of class gpu and of class nic beside 3 more")
	for _, tt := range []struct {
		gpus, nics int
		want       int64
	}{{1, 1, 1}, {20, 9, 1}, {20, 10, 0}, {0, 1, 0}, {1, 0, 0}} {
		it := shape("t", some(tt.gpus, "gpu"), some(tt.nics, "nic"))
		c, needs := counted(t, x, []*cloudprovider.InstanceType{it}, "t")
		if tt.want == 1 {
			require.EqualValues(t, 1, requests(t, c, &needs[0]).Get(name))
		}
		require.Equal(t, tt.want, c.OfType(it).Get(name), "%+v", tt)
	}
}

// provideCPU says of a device that it provides CPUs of its node, in the field that the
// Kubernetes of this build has for it.
func provideCPU(t *testing.T, d *resourcev1.Device) {
	for _, name := range []string{"NodeAllocatableResourceMappings", "NodeAllocatableResources"} {
		if f := reflect.ValueOf(d).Elem().FieldByName(name); f.IsValid() {
			f.Set(reflect.MakeMap(f.Type()))
			f.SetMapIndex(reflect.ValueOf(corev1.ResourceCPU), reflect.Zero(f.Type().Elem()))
			return
		}
	}
	t.Fatal("a device has no field for the resources of its node that it provides")
}

func TestNotes(t *testing.T) {
	yes := true
	several, mapped := dev("", "gpu"), dev("", "gpu")
	several.AllowMultipleAllocations = &yes
	provideCPU(t, &mapped)
	remote := slice("rack", dev("a", "gpu"))
	remote.Spec.NodeName, remote.Spec.AllNodes = nil, &yes
	o := world()
	o.Slices = []*resourcev1.ResourceSlice{remote, slice("n", shared("gpu"))}
	it := shape("t", some(1, "nic", "fragile"),
		cloudprovider.InstanceDevice{Count: 1, Device: several}, cloudprovider.InstanceDevice{Count: 1, Device: mapped})
	c, needs := counted(t, newIndex(t, o), []*cloudprovider.InstanceType{it}, "gpu", "nic", "broken", "gpus")
	require.Equal(t, []string{
		"devices of driver gpu.example.com match, but are not counted, as several nodes can reach them",
		"devices of driver gpu.example.com match, but are not counted, as they can be allocated several times",
		"devices of driver gpu.example.com match, but are not counted, as they draw on shared counters",
		"devices of driver gpu.example.com match, but are not counted, as they provide resources of the node",
	}, c.Notes(&needs[0]))
	require.Empty(t, c.Notes(&needs[1]))
	require.Equal(t, []string{"class broken: device of driver gpu.example.com: cannot evaluate"}, c.Notes(&needs[2]))
	require.Equal(t, c.Notes(&needs[0]), c.Notes(&needs[3]))
	require.Empty(t, c.Notes(&device.Need{}))
	require.Zero(t, c.OfType(it).Get("devices of class gpu"))
	require.Zero(t, c.OfType(it).Get("devices of class broken"))
	require.EqualValues(t, 1, c.OfType(it).Get("devices of class nic"), "a selector that fails has no say in others")
}

// A selector that cannot be evaluated for one device matches none on that type:
// kube-scheduler would give up there.
func TestBrokenSelector(t *testing.T) {
	good, bad := shape("good", some(2, "broken")), shape("bad", some(2, "broken"), some(1, "fragile"))
	c, _ := counted(t, newIndex(t, world()), []*cloudprovider.InstanceType{good, bad}, "broken", "any")
	require.EqualValues(t, 2, c.OfType(good).Get("devices of class broken"))
	require.EqualValues(t, 0, c.OfType(bad).Get("devices of class broken"))
	require.EqualValues(t, 3, c.OfType(bad).Get("devices of class any"))
	require.EqualValues(t, 3, c.OfType(bad).Get("devices of class any or of class broken"))
}

func TestTaints(t *testing.T) {
	tainted := func(e resourcev1.DeviceTaintEffect) cloudprovider.InstanceDevice {
		d := some(1, "gpu")
		d.Device.Taints = []resourcev1.DeviceTaint{{Key: "broken", Value: "fan", Effect: e}}
		return d
	}
	tolerating := func(list ...resourcev1.DeviceToleration) resourcev1.DeviceRequest {
		r := exactly("r", "gpu", 1)
		r.Exactly.Tolerations = list
		return r
	}
	it := shape("t", some(1, "gpu"), tainted("NoSchedule"), tainted("NoExecute"), tainted("None"), tainted("Future"))
	for _, tt := range []struct {
		name       string
		toleration []resourcev1.DeviceToleration
		want       string
	}{
		{"none", nil, "3 devices of class gpu"},
		{"everything", []resourcev1.DeviceToleration{{Operator: "Exists"}}, "5 devices of class gpu tolerating `*`"},
		{"one effect", []resourcev1.DeviceToleration{{Key: "broken", Operator: "Exists", Effect: "NoSchedule"}}, "4 devices of class gpu tolerating `broken:NoSchedule`"},
		{"value", []resourcev1.DeviceToleration{{Key: "broken", Value: "fan"}}, "5 devices of class gpu tolerating `broken=fan`"},
		{"value, operator named", []resourcev1.DeviceToleration{{Key: "broken", Operator: "Equal", Value: "fan"}}, "5 devices of class gpu tolerating `broken=fan`"},
		{"other value", []resourcev1.DeviceToleration{{Key: "broken", Value: "Belt"}}, "3 devices of class gpu tolerating \"broken=`Belt`\""},
		{"other key", []resourcev1.DeviceToleration{{Key: "slow", Operator: "Exists"}}, "3 devices of class gpu tolerating `slow`"},
		{"other operator", []resourcev1.DeviceToleration{{Key: "broken", Operator: "Like", Value: "fan"}}, "3 devices of class gpu tolerating \"broken `Like` `fan`\""},
		{"no effect", []resourcev1.DeviceToleration{{Operator: "Exists", Effect: "None"}}, "3 devices of class gpu"},
		{"two", []resourcev1.DeviceToleration{{Key: "broken", Operator: "Exists", Effect: "NoSchedule"}, {Key: "broken", Operator: "Exists", Effect: "NoExecute"}},
			"5 devices of class gpu tolerating `broken:NoSchedule` tolerating `broken:NoExecute`"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			o := world()
			o.Templates = []*resourcev1.ResourceClaimTemplate{template("t", tolerating(tt.toleration...))}
			c, _ := counted(t, newIndex(t, o), []*cloudprovider.InstanceType{it}, "t")
			require.Equal(t, tt.want, render(c.OfType(it)))
		})
	}
}

// Many sets that overlap in all ways are too many to count exactly; those that
// contain each other are not, and other sets are not touched.
func TestCrowded(t *testing.T) {
	letters := []string{"a", "b", "c", "d", "e", "f"}
	o := device.Objects{Classes: []*resourcev1.DeviceClass{class("any"), class("nic", "nic")}, Templates: []*resourcev1.ResourceClaimTemplate{template("nic", exactly("r", "nic", 1))}}
	for _, l := range letters {
		o.Templates = append(o.Templates, template(l, exactly("r", "any", 1, l)))
	}
	tangled, nested := shape("tangled", some(1, "nic")), shape("nested", some(1, "nic"))
	for i := range letters {
		nested.Devices = append(nested.Devices, shape("", some(1, letters[:i+1]...)).Devices...)
		for j := range i {
			tangled.Devices = append(tangled.Devices, shape("", some(1, letters[i], letters[j])).Devices...)
		}
	}
	refusals := func(it *cloudprovider.InstanceType, templates ...string) (n int) {
		c, needs := counted(t, newIndex(t, o), []*cloudprovider.InstanceType{it}, templates...)
		for i := range needs {
			if _, refusal := c.Requests(&needs[i]); refusal != nil {
				require.True(t, refusal.Unsupported)
				require.Contains(t, refusal.Text, "as too many different requests of the pods overlap in the devices they match")
				n++
			}
		}
		return n
	}
	require.Equal(t, 6, refusals(tangled, append(slices.Clone(letters), "nic")...))
	require.Equal(t, 0, refusals(tangled, append(slices.Clone(letters[:5]), "nic")...))
	require.Equal(t, 0, refusals(nested, append(slices.Clone(letters), "nic")...))
}

func TestAmountOfOthers(t *testing.T) {
	for _, name := range []corev1.ResourceName{"cpu", "nvidia.com/gpu", "devices", ""} {
		require.False(t, device.IsName(name))
		_, ok := device.Amount(name, 1)
		require.False(t, ok)
	}
	require.True(t, device.IsName("devices of class gpu"))
}
