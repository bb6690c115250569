package repair

import (
	"cmp"
	"slices"

	"github.com/dovetail-sdk/dovetail/internal/engine/attempt"
	"github.com/dovetail-sdk/dovetail/internal/engine/compile"
	"github.com/dovetail-sdk/dovetail/internal/engine/ledger"
	"github.com/dovetail-sdk/dovetail/internal/engine/pack"
	"github.com/dovetail-sdk/dovetail/internal/engine/topology"
	"github.com/dovetail-sdk/dovetail/internal/engine/workload"
)

// leaders lists pods of the plan, each set of one class, that pods of a class can follow to a
// node: all of its own, where it follows itself, and one of each other class from each node.
func (r *search) leaders(c int) [][]int32 {
	if len(r.p.Rules.Duties[c].With) == 0 {
		return nil
	}
	var out [][]int32
	if own := r.placedOf(c); len(own) > 0 && r.follows(c, c) {
		out = append(out, own)
	}
	of := func(podIDs []int32) {
		var seen []int
		for _, podID := range podIDs {
			if m := r.p.ClassOf[podID]; m != c && !slices.Contains(seen, m) && r.follows(c, m) {
				seen, out = append(seen, m), append(out, []int32{podID})
			}
		}
	}
	for _, podIDs := range r.st.Bound {
		of(podIDs)
	}
	for _, s := range r.st.New {
		of(s.PodIDs)
	}
	return out
}

// inTheWay lists sets of pods of the plan that may be in the way of a class: none, but
// that it is open where new nodes will be; all of each class with a constraint in
// common, without and with those of the class itself; all pods of a node; and all of
// the plan.
func (r *search) inTheWay(c int) [][]int32 {
	own := r.placedOf(c)
	together, all := own, own
	var out [][]int32
	for _, m := range r.classes() {
		if m == c {
			continue
		}
		of := r.placedOf(m)
		all = slices.Concat(all, of)
		if len(of) > 0 && r.connected(c, m) {
			out, together = append(out, of, slices.Concat(own, of)), slices.Concat(together, of)
		}
	}
	out = append(out, own)
	slices.SortStableFunc(out, func(x, y []int32) int { return cmp.Compare(len(x), len(y)) })
	out = append(out, together)
	for i, podIDs := range r.st.Bound {
		if r.p.Admits(c, &r.p.Nodes[i]) {
			out = append(out, podIDs)
		}
	}
	for _, s := range r.st.New {
		out = append(out, s.PodIDs)
	}
	out = append(out, all)
	out = slices.DeleteFunc(out, func(podIDs []int32) bool { return len(podIDs) == 0 || len(podIDs) > roomPods })
	var ways [][]int32
	for _, podIDs := range slices.Insert(out, 0, nil) {
		if !slices.ContainsFunc(ways, func(known []int32) bool { return slices.Equal(known, podIDs) }) {
			ways = append(ways, podIDs)
		}
	}
	return ways
}

// few lists sets of pods of the plan that can keep out many of a class: all that keep it out
// of a domain, or it them, by anti-affinity; and, where limits of a pool leave a node for it
// no room, those of the new nodes of the pool that have fewest.
func (r *search) few(c int) [][]int32 {
	var blockers []int32
	for _, m := range r.classes() {
		if m != c && (r.avoids(m, c) || r.avoids(c, m)) {
			blockers = append(blockers, r.placedOf(m)...)
		}
	}
	out := [][]int32{blockers}
	for i := range r.p.LowPools {
		out = append(out, r.ofLimits(c, i))
	}
	return slices.DeleteFunc(out, func(podIDs []int32) bool { return len(podIDs) == 0 || len(podIDs) > roomPods })
}

// ofLimits lists the pods of those new nodes of a pool, the ones with fewest first, without
// which its limits leave room for a node for a pod of a class; none if they do so anyway, or
// not even then.
func (r *search) ofLimits(c, pool int) []int32 {
	low := &r.p.LowPools[pool]
	if low.Limits == nil {
		return nil
	}
	left, fresh := slices.Clone(low.Limits), []*ledger.Bin(nil)
	for _, s := range r.st.New {
		if s.BinType.Pool == pool {
			attempt.Subtract(left, mostUses(low, s.BinType.Options))
			fresh = append(fresh, s)
		}
	}
	slices.SortStableFunc(fresh, func(x, y *ledger.Bin) int { return cmp.Compare(len(x.PodIDs), len(y.PodIDs)) })
	options := r.p.Admission.Lowered(c)
	leavesRoom := func() bool {
		for o := low.First; o < low.Last; o++ {
			if options.Has(o) && compile.Within(low.Uses[o-low.First], left) {
				return true
			}
		}
		return false
	}
	var out []int32
	for !leavesRoom() {
		if len(fresh) == 0 {
			return nil
		}
		for i, n := range mostUses(low, fresh[0].BinType.Options) {
			left[i] += n
		}
		out, fresh = append(out, fresh[0].PodIDs...), fresh[1:]
	}
	return out
}

// avoids says whether pods of one class have an anti-affinity to those of another.
func (r *search) avoids(c, m int) bool {
	return slices.ContainsFunc(r.p.Rules.Duties[c].Owns, func(i int) bool {
		return r.p.Rules.Domain[i].Kind == topology.Apart && slices.Contains(r.p.Rules.Duties[m].Joins, i)
	})
}

// placedOf lists the pods of a class that have a place.
func (r *search) placedOf(c int) []int32 {
	var out []int32
	for _, podID := range r.p.Classes[c].Pods {
		if r.st.Placed[podID] {
			out = append(out, podID)
		}
	}
	return out
}

// shareDomainRule says whether a constraint over domains is of, or counts, pods of both classes.
func (r *search) shareDomainRule(c, m int) bool {
	x, y := &r.p.Rules.Duties[c], &r.p.Rules.Duties[m]
	return slices.ContainsFunc(slices.Concat(x.Owns, x.Joins), func(i int) bool {
		return slices.Contains(y.Owns, i) || slices.Contains(y.Joins, i)
	})
}

// connected says whether two classes have a constraint between pods in common.
func (r *search) connected(c, m int) bool {
	x, y := &r.p.Rules.Duties[c], &r.p.Rules.Duties[m]
	if r.shareDomainRule(c, m) {
		return true
	}
	for _, part := range x.All {
		if slices.ContainsFunc(y.All, func(o pack.Membership) bool { return o.Rule == part.Rule }) {
			return true
		}
	}
	return r.follows(c, m) || r.follows(m, c)
}

// follows says whether pods of one class go only to nodes where one of another is.
func (r *search) follows(c, m int) bool {
	return slices.ContainsFunc(r.p.Rules.Duties[c].With, func(t workload.Term) bool { return r.p.IsMember(m, t.Pods) })
}

// roomPods is how many pods are taken off their nodes at once, at most, to make room.
const roomPods = 128

// waiting lists the classes of pods that wait, by priority, those with few places before those
// with many.
func (r *search) waiting() (out []int) {
	places := map[int]float64{}
	for _, podID := range r.pending {
		c := r.p.ClassOf[podID]
		if _, known := places[c]; known {
			continue
		}
		if places[c] = r.places(c); places[c] > 0 {
			out = append(out, c)
		}
	}
	slices.SortStableFunc(out, func(x, y int) int {
		return cmp.Or(-cmp.Compare(r.p.Classes[x].Priority, r.p.Classes[y].Priority), cmp.Compare(places[x], places[y]))
	})
	return out
}

// classes lists the classes that have pods in the plan.
func (r *search) classes() (out []int) {
	for c, n := range r.ledger.There {
		if n > 0 && !r.p.Classes[c].Headroom {
			out = append(out, c)
		}
	}
	return out
}

// places counts the options and the nodes that exist where pods of a class may be.
func (r *search) places(c int) float64 {
	n := r.p.Admission.Lowered(c).Len()
	for i := range r.p.Nodes {
		if r.p.Admits(c, &r.p.Nodes[i]) {
			n++
		}
	}
	return float64(n)
}
