package device_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"

	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/internal/engine/device"
	"github.com/dovetail-sdk/dovetail/provisioning/resources"
)

// wish is one request of a pod in the laws: some devices of a set, or all.
type wish struct {
	set   string
	count int
	all   bool
}

// granted says by brute force whether a node can give all wishes their devices,
// those who want all first: it tries every device for each wish in turn.
func granted(devices []map[string]bool, wishes []wish) bool {
	used := make([]bool, len(devices))
	for _, w := range wishes {
		if !w.all {
			continue
		}
		n := 0
		for i, d := range devices {
			if d[w.set] && used[i] {
				return false
			} else if d[w.set] {
				used[i] = true
				n++
			}
		}
		if n == 0 {
			return false
		}
	}
	var place func(w, left, from int) bool
	place = func(w, left, from int) bool {
		for w < len(wishes) && (left == 0 || wishes[w].all) {
			if w++; w < len(wishes) {
				left, from = wishes[w].count, 0
			}
		}
		if w == len(wishes) {
			return true
		}
		for i := from; i < len(devices); i++ {
			if !used[i] && devices[i][wishes[w].set] {
				used[i] = true
				if place(w, left-1, i+1) {
					return true
				}
				used[i] = false
			}
		}
		return false
	}
	if len(wishes) == 0 {
		return true
	}
	return place(0, wishes[0].count, 0)
}

// law is a random world: sets, devices and pods.
type law struct {
	sets    []string
	types   []*cloudprovider.InstanceType
	devices [][]map[string]bool // by type
	wishes  []wish              // one a pod
	objects device.Objects
	pods    []*corev1.Pod
}

func newLaw(r *rand.Rand, sets int, whole bool) *law {
	l := &law{objects: device.Objects{Matcher: words{}, Classes: []*resourcev1.DeviceClass{class("any")}}}
	for i := range sets {
		l.sets = append(l.sets, string(rune('a'+i)))
	}
	for i := range 1 + r.IntN(3) {
		it := shape(fmt.Sprintf("t%d", i))
		var devices []map[string]bool
		for range r.IntN(5) {
			has := map[string]bool{}
			var names []string
			for _, s := range l.sets {
				if r.IntN(2) == 0 {
					has[s] = true
					names = append(names, s)
				}
			}
			devices = append(devices, has)
			it.Devices = append(it.Devices, shape("", some(1, names...)).Devices...)
		}
		l.types = append(l.types, it)
		l.devices = append(l.devices, devices)
	}
	for i := range 1 + r.IntN(4) {
		w := wish{set: l.sets[r.IntN(len(l.sets))], count: 1 + r.IntN(2), all: whole && r.IntN(3) == 0}
		name := fmt.Sprintf("p%d", i)
		request := exactly("r", "any", int64(w.count), w.set)
		if w.all {
			request = all("r", "any", w.set)
		}
		l.wishes = append(l.wishes, w)
		l.objects.Templates = append(l.objects.Templates, template(name, request))
		l.pods = append(l.pods, pod(name, name))
	}
	return l
}

// fits says by counting what granted says by trying, for each type.
func (l *law) fits(t *testing.T) []bool {
	x, err := device.New(l.objects, nil)
	require.NoError(t, err)
	needs := x.Needs(l.pods)
	c := x.Count(needs, l.types)
	var sum resources.List
	for i := range needs {
		sum, err = sum.Add(requests(t, c, &needs[i]))
		require.NoError(t, err)
	}
	var out []bool
	for _, it := range l.types {
		out = append(out, sum.Fits(c.OfType(it)))
	}
	return out
}

// Counting is exact: pods fit by count where there are devices for all of their
// requests, and nowhere else. Five sets are never too many.
func TestCountingIsExact(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	seen := map[bool]int{}
	for round := range 3000 {
		l := newLaw(r, 1+round%5, false)
		for i, fits := range l.fits(t) {
			require.Equal(t, granted(l.devices[i], l.wishes), fits, "round %d type %d: %v %v", round, i, l.devices[i], l.wishes)
			seen[fits]++
		}
	}
	require.Greater(t, min(seen[true], seen[false]), 500, "both answers are common")
}

// Where pods want all devices, counting is safe: what fits by count can be
// given. It is exact for one pod by itself.
func TestCountingAllIsSafe(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	seen := map[bool]int{}
	for round := range 3000 {
		l := newLaw(r, 1+round%5, true)
		for i, fits := range l.fits(t) {
			if fits || len(l.wishes) == 1 {
				require.Equal(t, granted(l.devices[i], l.wishes), fits, "round %d type %d: %v %v", round, i, l.devices[i], l.wishes)
			}
			seen[fits]++
		}
	}
	require.Greater(t, min(seen[true], seen[false]), 300, "both answers are common")
}

// The order of the objects makes no difference, nor does what else there is to
// the names of dimensions, and nothing that is handed in is changed.
func TestOrderMakesNoDifference(t *testing.T) {
	base := world()
	base.Matcher = words{}
	for i, name := range []string{"n1", "n2", "n3"} {
		base.Slices = append(base.Slices, slice(name, dev("d0", "gpu"), dev("d1", "gpu", "big"), dev("d2", "nic")))
		base.Claims = append(base.Claims, allocate(claim("c"+name), name, fmt.Sprintf("d%d", i)))
	}
	types := []*cloudprovider.InstanceType{shape("a", some(2, "gpu"), some(1, "gpu", "big")), shape("b", some(1, "nic")), shape("c", some(3, "big"))}
	templates := []string{"gpu", "big", "nic", "any", "gpus", "best", "red"}
	describe := func(o device.Objects, types []*cloudprovider.InstanceType, templates []string) (out []string) {
		c, needs := counted(t, newIndex(t, o), types, templates...)
		for i := range needs {
			lists, refusal := c.Requests(&needs[i])
			require.Nil(t, refusal)
			for _, l := range lists {
				out = append(out, fmt.Sprintln(templates[i], render(l), needs[i].Key(), c.Notes(&needs[i])))
			}
		}
		for _, it := range types {
			out = append(out, it.Name+render(c.OfType(it)))
		}
		for _, n := range base.Slices {
			for _, starting := range []bool{false, true} {
				out = append(out, fmt.Sprintln(*n.Spec.NodeName, starting, render(c.OfNode(*n.Spec.NodeName, starting, types[slices.IndexFunc(types, func(t *cloudprovider.InstanceType) bool { return t.Name == "a" })]))))
			}
		}
		slices.Sort(out)
		return out
	}
	want := describe(base, types, templates)
	untouched := make([]*resourcev1.ResourceSlice, len(base.Slices))
	for i, s := range base.Slices {
		untouched[i] = s.DeepCopy()
	}
	r := rand.New(rand.NewPCG(5, 6))
	for range 20 {
		o := base
		o.Claims, o.Templates, o.Classes, o.Slices = shuffled(r, o.Claims), shuffled(r, o.Templates), shuffled(r, o.Classes), shuffled(r, o.Slices)
		require.Equal(t, want, describe(o, shuffled(r, types), shuffled(r, templates)))
	}
	require.Equal(t, untouched, base.Slices)
}

func shuffled[T any](r *rand.Rand, list []T) []T {
	out := slices.Clone(list)
	r.Shuffle(len(out), func(i, j int) { out[i], out[j] = out[j], out[i] })
	return out
}
