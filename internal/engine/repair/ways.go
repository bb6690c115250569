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

// leaders lists sets of pods of the plan that pods of class c can follow to a node: all pods of c
// if the class follows itself, and one pod of each other such class on each node. Each set has pods
// of one class.
func (r *search) leaders(c int) [][]int32 {
	if len(r.p.Rules.ByClass[c].With) == 0 {
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

// inTheWay lists sets of pods of the plan that may exclude class c: no pod, because only the
// domains of new nodes may be in question; all pods of each class with a constraint in common,
// without and with the pods of c; all pods of a node; and all pods of the plan.
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

// few lists small sets of pods of the plan that can exclude many pods of class c: all pods with an
// anti-affinity to c or of c to them; and, where limits of a pool leave no room for a node, the
// pods of the new nodes of the pool with fewest pods.
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

// ofLimits lists the pods of the fewest new nodes of a pool, those with fewest pods first, without
// which the limits of the pool allow a node for a pod of class c. It returns none if the limits
// allow one anyway, or not even then.
func (r *search) ofLimits(c, pool int) []int32 {
	low := &r.p.LowPools[pool]
	if low.Limits == nil {
		return nil
	}
	left, fresh := slices.Clone(low.Limits), []*ledger.Bin(nil)
	for _, s := range r.st.New {
		if s.BinType.Pool == pool {
			fresh = append(fresh, s)
		}
	}
	attempt.Subtract(left, planned(r.p, pool, fresh))
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

// avoids says whether pods of class c have an anti-affinity to pods of class m.
func (r *search) avoids(c, m int) bool {
	return slices.ContainsFunc(r.p.Rules.ByClass[c].Owns, func(i int) bool {
		return r.p.Rules.Domain[i].Kind == topology.Apart && slices.Contains(r.p.Rules.ByClass[m].Joins, i)
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

// shareDomainRule says whether one constraint over domains belongs to, or counts, pods of both
// classes.
func (r *search) shareDomainRule(c, m int) bool {
	x, y := &r.p.Rules.ByClass[c], &r.p.Rules.ByClass[m]
	return slices.ContainsFunc(slices.Concat(x.Owns, x.Joins), func(i int) bool {
		return slices.Contains(y.Owns, i) || slices.Contains(y.Joins, i)
	})
}

// connected says whether two classes have a constraint between pods in common.
func (r *search) connected(c, m int) bool {
	x, y := &r.p.Rules.ByClass[c], &r.p.Rules.ByClass[m]
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

// follows says whether pods of class c may only be on nodes with a pod of class m.
func (r *search) follows(c, m int) bool {
	return slices.ContainsFunc(r.p.Rules.ByClass[c].With, func(t workload.Term) bool { return r.p.IsMember(m, t.Pods) })
}

// roomPods is the largest number of pods that one trial takes off to make room.
const roomPods = 128

// waiting lists the classes of unplaced pods by descending priority, and within a priority by
// ascending number of places.
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

// classes lists the classes, except headroom, that have pods in the plan.
func (r *search) classes() (out []int) {
	for c, n := range r.ledger.There {
		if n > 0 && !r.p.Classes[c].Headroom {
			out = append(out, c)
		}
	}
	return out
}

// places counts the options and the existing nodes on which pods of a class may be.
func (r *search) places(c int) float64 {
	n := r.p.Admission.Lowered(c).Len()
	for i := range r.p.Nodes {
		if r.p.Admits(c, &r.p.Nodes[i]) {
			n++
		}
	}
	return float64(n)
}
