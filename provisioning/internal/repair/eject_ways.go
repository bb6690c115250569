package repair

import (
	"cmp"
	"slices"

	"github.com/dovetail-sdk/dovetail/provisioning/internal/attempt"
	"github.com/dovetail-sdk/dovetail/provisioning/internal/compile"
	"github.com/dovetail-sdk/dovetail/provisioning/internal/ledger"
	"github.com/dovetail-sdk/dovetail/provisioning/internal/pack"
	"github.com/dovetail-sdk/dovetail/provisioning/internal/topology"
	"github.com/dovetail-sdk/dovetail/provisioning/internal/workload"
)

// leaders lists pods of the plan, each set of one class, that pods of a class can follow to a
// node: all of its own, where it follows itself, and one of each other class from each node.
func (e *ejector) leaders(c int) [][]int32 {
	if len(e.p.Rules.Duties[c].With) == 0 {
		return nil
	}
	var out [][]int32
	if own := e.placedOf(c); len(own) > 0 && e.follows(c, c) {
		out = append(out, own)
	}
	of := func(podIDs []int32) {
		var seen []int
		for _, podID := range podIDs {
			if m := e.p.ClassOf[podID]; m != c && !slices.Contains(seen, m) && e.follows(c, m) {
				seen, out = append(seen, m), append(out, []int32{podID})
			}
		}
	}
	for _, podIDs := range e.st.Bound {
		of(podIDs)
	}
	for _, s := range e.st.New {
		of(s.PodIDs)
	}
	return out
}

// inTheWay lists sets of pods of the plan that may be in the way of a class: none, but
// that it is open where new nodes will be; all of each class with a constraint in
// common, without and with those of the class itself; all pods of a node; and all of
// the plan.
func (e *ejector) inTheWay(c int) [][]int32 {
	own := e.placedOf(c)
	together, all := own, own
	var out [][]int32
	for _, m := range e.classes {
		if m == c {
			continue
		}
		of := e.placedOf(m)
		all = slices.Concat(all, of)
		if len(of) > 0 && e.related(c, m) {
			out, together = append(out, of, slices.Concat(own, of)), slices.Concat(together, of)
		}
	}
	out = append(out, own)
	slices.SortStableFunc(out, func(x, y []int32) int { return cmp.Compare(len(x), len(y)) })
	out = append(out, together)
	for i, podIDs := range e.st.Bound {
		if e.p.Admits(c, &e.p.Nodes[i]) {
			out = append(out, podIDs)
		}
	}
	for _, s := range e.st.New {
		out = append(out, s.PodIDs)
	}
	out = append(out, all)
	out = slices.DeleteFunc(out, func(podIDs []int32) bool { return len(podIDs) == 0 || len(podIDs) > ejectPods })
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
func (e *ejector) few(c int) [][]int32 {
	var blockers []int32
	for _, m := range e.classes {
		if m != c && (e.avoids(m, c) || e.avoids(c, m)) {
			blockers = append(blockers, e.placedOf(m)...)
		}
	}
	out := [][]int32{blockers}
	for i := range e.p.LowPools {
		out = append(out, e.ofLimits(c, i))
	}
	return slices.DeleteFunc(out, func(podIDs []int32) bool { return len(podIDs) == 0 || len(podIDs) > ejectPods })
}

// ofLimits lists the pods of those new nodes of a pool, the ones with fewest first, without
// which its limits leave room for a node for a pod of a class; none if they do so anyway, or
// not even then.
func (e *ejector) ofLimits(c, pool int) []int32 {
	low := &e.p.LowPools[pool]
	if low.Limits == nil {
		return nil
	}
	left, fresh := slices.Clone(low.Limits), []*ledger.Bin(nil)
	for _, s := range e.st.New {
		if s.BinType.Pool == pool {
			attempt.Subtract(left, mostUses(low, s.BinType.Options))
			fresh = append(fresh, s)
		}
	}
	slices.SortStableFunc(fresh, func(x, y *ledger.Bin) int { return cmp.Compare(len(x.PodIDs), len(y.PodIDs)) })
	options := e.p.Admission.Lowered(c)
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
		for r, n := range mostUses(low, fresh[0].BinType.Options) {
			left[r] += n
		}
		out, fresh = append(out, fresh[0].PodIDs...), fresh[1:]
	}
	return out
}

// avoids says whether pods of one class have an anti-affinity to those of another.
func (e *ejector) avoids(c, m int) bool {
	return slices.ContainsFunc(e.p.Rules.Duties[c].Owns, func(r int) bool {
		return e.p.Rules.Domain[r].Kind == topology.Apart && slices.Contains(e.p.Rules.Duties[m].Joins, r)
	})
}

// placedOf lists the pods of a class that have a place.
func (e *ejector) placedOf(c int) []int32 {
	var out []int32
	for _, podID := range e.p.Classes[c].Pods {
		if e.st.Placed[podID] {
			out = append(out, podID)
		}
	}
	return out
}

// related says whether two classes have a constraint between pods in common.
func (e *ejector) related(c, m int) bool {
	x, y := &e.p.Rules.Duties[c], &e.p.Rules.Duties[m]
	for _, r := range slices.Concat(x.Owns, x.Joins) {
		if slices.Contains(y.Owns, r) || slices.Contains(y.Joins, r) {
			return true
		}
	}
	for _, part := range x.All {
		if slices.ContainsFunc(y.All, func(o pack.Membership) bool { return o.Rule == part.Rule }) {
			return true
		}
	}
	return e.follows(c, m) || e.follows(m, c)
}

// follows says whether pods of one class go only to nodes where one of another is.
func (e *ejector) follows(c, m int) bool {
	return slices.ContainsFunc(e.p.Rules.Duties[c].With, func(t workload.Term) bool { return e.p.IsMember(m, t.Pods) })
}
