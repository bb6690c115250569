package device_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/dynamic-resource-allocation/cel"
	"k8s.io/dynamic-resource-allocation/structured"

	"github.com/dovetail-sdk/dovetail/cloudprovider/devicecel"
	"github.com/dovetail-sdk/dovetail/internal/engine/device"
	"github.com/dovetail-sdk/dovetail/internal/testlong"
)

// lister finds classes for kube-scheduler's allocator.
type lister []*resourcev1.DeviceClass

func (l lister) List() ([]*resourcev1.DeviceClass, error) { return l, nil }

func (l lister) Get(name string) (*resourcev1.DeviceClass, error) {
	for _, c := range l {
		if c.Name == name {
			return c, nil
		}
	}
	return nil, errors.New("no such class")
}

// cluster is a random node with devices, and the classes to choose them by.
type cluster struct {
	classes []*resourcev1.DeviceClass
	slices  []*resourcev1.ResourceSlice
	claims  []*resourcev1.ResourceClaim // allocated
	cache   *cel.Cache
}

var expressions = []string{
	`device.driver == "gpu.example.com"`,
	`device.driver == "gpu.example.com" && device.attributes["gpu.example.com"].big`,
	`has(device.attributes["gpu.example.com"].red)`,
	`device.attributes["gpu.example.com"].size > 1`,
}

func newCluster(r *rand.Rand, cache *cel.Cache) *cluster {
	c := &cluster{classes: []*resourcev1.DeviceClass{class("any")}, cache: cache}
	for i, e := range expressions {
		c.classes = append(c.classes, class(fmt.Sprintf("c%d", i), e))
	}
	for i := range 1 + r.IntN(2) {
		s := slice("n")
		s.Name = fmt.Sprintf("s%d", i)
		s.Spec.Pool.Name = fmt.Sprintf("pool%d", i)
		if r.IntN(4) == 0 {
			s.Spec.Driver = "nic.example.com"
		}
		if r.IntN(8) == 0 {
			s.Spec.Pool.ResourceSliceCount = 2
		}
		for j := range r.IntN(5) {
			s.Spec.Devices = append(s.Spec.Devices, randomDevice(r, fmt.Sprintf("d%d", j)))
		}
		c.slices = append(c.slices, s)
	}
	return c
}

func randomDevice(r *rand.Rand, name string) resourcev1.Device {
	big, size := r.IntN(2) == 0, int64(r.IntN(3))
	d := resourcev1.Device{Name: name, Attributes: map[resourcev1.QualifiedName]resourcev1.DeviceAttribute{"big": {BoolValue: &big}}}
	if r.IntN(2) == 0 {
		d.Attributes["red"] = resourcev1.DeviceAttribute{BoolValue: &big}
	}
	if r.IntN(10) > 0 { // without a size, the last expression cannot be evaluated
		d.Attributes["size"] = resourcev1.DeviceAttribute{IntValue: &size}
	}
	if r.IntN(6) == 0 {
		d.Taints = []resourcev1.DeviceTaint{{Key: "hot", Effect: []resourcev1.DeviceTaintEffect{"NoSchedule", "NoExecute", "None"}[r.IntN(3)]}}
	}
	return d
}

// allocate asks kube-scheduler's own allocator for the devices of a claim.
func (c *cluster) allocate(t *testing.T, spec resourcev1.ResourceClaimSpec) (*resourcev1.AllocationResult, error) {
	taken := sets.New[structured.DeviceID]()
	for _, held := range c.claims {
		for _, r := range held.Status.Allocation.Devices.Results {
			taken.Insert(structured.MakeDeviceID(r.Driver, r.Pool, r.Device))
		}
	}
	a, err := structured.NewAllocator(context.Background(), structured.Features{DeviceTaints: true, PrioritizedList: true, AdminAccess: true},
		structured.AllocatedState{AllocatedDevices: taken}, lister(c.classes), c.slices, c.cache)
	require.NoError(t, err)
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n", Labels: map[string]string{corev1.LabelHostname: "n"}}}
	results, err := a.Allocate(context.Background(), node, []*resourcev1.ResourceClaim{{Spec: spec}})
	if err != nil || len(results) == 0 {
		return nil, err
	}
	return &results[0], nil
}

// randomClaim asks for up to three things.
func randomClaim(r *rand.Rand) resourcev1.ResourceClaimSpec {
	var out []resourcev1.DeviceRequest
	pick := func() string { return []string{"any", "c0", "c1", "c2", "c3"}[r.IntN(5)] }
	for i := range 1 + r.IntN(3) {
		name := fmt.Sprintf("r%d", i)
		var own []string
		if r.IntN(3) == 0 {
			own = append(own, expressions[r.IntN(3)])
		}
		request := exactly(name, pick(), 1+int64(r.IntN(2)), own...)
		switch r.IntN(6) {
		case 0:
			request = all(name, pick(), own...)
		case 1:
			request = first(name, option("a", pick(), 1+int64(r.IntN(3)), own...), option("b", pick(), 1))
			request.FirstAvailable[0].AllocationMode = resourcev1.DeviceAllocationModeExactCount
			request.FirstAvailable[1].AllocationMode = resourcev1.DeviceAllocationModeExactCount
		case 2:
			request.Exactly.Tolerations = []resourcev1.DeviceToleration{{Key: "hot", Operator: resourcev1.DeviceTolerationOpExists}}
		}
		out = append(out, request)
	}
	return spec(out...)
}

// A node has what a pod needs by count if and only if kube-scheduler's own
// allocator finds devices for it. Pods come one after the other; what they got
// is allocated when the next one asks.
func TestKubeSchedulerAgrees(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	cache, matcher := cel.NewCache(100, cel.Features{}), devicecel.New()
	seen := map[string]int{}
	for round := range testlong.Seeds(400, 1500) {
		c := newCluster(r, cache)
		for step := range 4 {
			wanted := randomClaim(r)
			x := newIndex(t, device.Objects{
				Classes: c.classes, Slices: c.slices, Claims: c.claims, Matcher: matcher,
				Templates: []*resourcev1.ResourceClaimTemplate{{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "t"}, Spec: resourcev1.ResourceClaimTemplateSpec{Spec: wanted}}},
			})
			counts, needs := counted(t, x, nil, "t")
			lists, refusal := counts.Requests(&needs[0])
			fits := false
			for _, l := range lists {
				fits = fits || l.Fits(counts.OfNode("n", false, nil))
			}
			got, err := c.allocate(t, wanted)
			at := fmt.Sprintf("round %d step %d: %v", round, step, wanted)
			switch {
			case refusal != nil:
				require.True(t, refusal.Unsupported, at)
				seen["refused"]++
			case err != nil:
				// Whether the allocator comes to the device it cannot judge is
				// chance; where it does, nothing may be planned.
				require.False(t, fits && !hasNotes(counts, &needs[0]), at)
				seen["error"]++
			case fits:
				require.NotNil(t, got, at)
				seen["fits"]++
			default:
				require.True(t, got == nil || hasNotes(counts, &needs[0]), at)
				seen["does not fit"]++
			}
			if got != nil {
				held := claim(fmt.Sprintf("held%d", step))
				held.Status.Allocation = got
				c.claims = append(c.claims, held)
			}
		}
	}
	for _, outcome := range []string{"fits", "does not fit", "error", "refused"} {
		require.Greater(t, seen[outcome], 30, "%v", seen)
	}
}

func hasNotes(c *device.Counts, n *device.Need) bool { return len(c.Notes(n)) > 0 }
