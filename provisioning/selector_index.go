package provisioning

import (
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/dovetail-sdk/dovetail/provisioning/internal/bitset"
	"github.com/dovetail-sdk/dovetail/provisioning/internal/volume"
)

// selectorIndex says which selections select a pod. Pods with the same namespace,
// the same values of the labels that selections ask about and the same claims
// of those that selections are about are of one identity, so each is looked at
// once.
type selectorIndex struct {
	selections []selection
	keys       []string         // labels that some selection asks about
	local      map[string][]int // by namespace: selections of that namespace
	global     []int            // the other selections
	claims     map[string]int   // selections by the claim that they are about
	index      map[string]int32
	members    []bitset.Set     // the sets of selections that select some identity, each once
	numbers    map[string]int32 // of them, by their keys
	key        podKey
}

func newSelectorIndex(selections []selection) *selectorIndex {
	x := &selectorIndex{selections: selections, local: map[string][]int{}, index: map[string]int32{}, numbers: map[string]int32{}}
	keys := map[string]bool{}
	for i := range selections {
		if claim := selections[i].claim; claim != "" {
			if x.claims == nil {
				x.claims = map[string]int{}
			}
			x.claims[claim] = i
			continue
		}
		single := ""
		for _, c := range selections[i].conjuncts {
			if len(c.Namespaces) == 1 {
				single = c.Namespaces[0]
			}
			asked, _ := c.Selector.Requirements()
			for _, r := range asked {
				keys[r.Key()] = true
			}
		}
		if single != "" {
			x.local[single] = append(x.local[single], i)
		} else {
			x.global = append(x.global, i)
		}
	}
	x.keys = slices.Sorted(maps.Keys(keys))
	return x
}

// of returns the number of the set of selections that select a pod.
func (x *selectorIndex) of(pod *corev1.Pod) int32 {
	k := &x.key
	k.Buf = k.Buf[:0]
	if len(x.selections) > 0 {
		k.Text(pod.Namespace)
	}
	for _, key := range x.keys {
		if value, ok := pod.Labels[key]; ok {
			k.Text(value)
		} else {
			k.Number(-1)
		}
	}
	for _, i := range x.claimed(pod) {
		k.Number(int64(i))
	}
	number, ok := x.index[string(k.Buf)]
	if !ok {
		selected := x.selecting(pod)
		var fresh bool
		if number, fresh = intern(x.numbers, []byte(selected.Key()), int32(len(x.members))); fresh {
			x.members = append(x.members, selected)
		}
		x.index[string(k.Buf)] = number
	}
	return number
}

// selecting returns the selections that select a pod.
func (x *selectorIndex) selecting(pod *corev1.Pod) bitset.Set {
	out := bitset.New(len(x.selections))
	for _, i := range x.claimed(pod) {
		out.Add(i)
	}
	set := labels.Set(pod.Labels)
	for _, list := range [][]int{x.global, x.local[pod.Namespace]} {
		for _, i := range list {
			if x.selections[i].selects(pod.Namespace, set) {
				out.Add(i)
			}
		}
	}
	return out
}

// claimed lists the selections that are about a claim of a pod.
func (x *selectorIndex) claimed(pod *corev1.Pod) []int {
	if x.claims == nil || !hasClaims(pod) {
		return nil
	}
	var out []int
	for _, claim := range volume.Claims(pod) {
		if i, ok := x.claims[claim]; ok {
			out = append(out, i)
		}
	}
	return out
}
