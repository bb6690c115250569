package provisioning

import (
	"github.com/dovetail-sdk/dovetail/provisioning/internal/bitset"
	"github.com/dovetail-sdk/dovetail/provisioning/internal/pack"
	"github.com/dovetail-sdk/dovetail/provisioning/internal/topology"
)

// boundMembership is what the rules have to do with a kind of pod that runs.
type boundMembership struct {
	selected bitset.Set // the selections that it is in, once asked for
	known    bool       // the rest is known
	counted  []int      // domain rules that count it
	owns     []int      // domain rules that it has
	parts    []pack.Membership
}

// selected are the selections that a kind of pod is in.
func (x *baseline) selected(kind int32) bitset.Set {
	l := &x.kinds[kind]
	if l.selected == nil {
		l.selected = x.selectorIndex.members[x.selectorIndex.of(x.boundKinds.pod(kind))]
	}
	return l.selected
}

// boundMembership works out what the rules have to do with a kind of pod, once they are all
// known.
func (x *baseline) boundMembership(kind int32) *boundMembership {
	l := &x.kinds[kind]
	if l.known {
		return l
	}
	l.known = true
	pod := x.boundKinds.pod(kind)
	for s := range x.selected(kind).All() {
		for _, i := range x.r.bySelection[s] {
			rule := &x.r.domain[i]
			if rule.Rule.Key >= 0 && (rule.Kind != topology.Spread || pod.DeletionTimestamp == nil) {
				l.counted = append(l.counted, i)
			}
		}
	}
	for _, t := range x.bound[kind] {
		if i, ok := x.byTerm[t]; ok && x.r.domain[i].Rule.Key >= 0 {
			l.owns = append(l.owns, i)
		}
	}
	l.parts = x.addPod(nil, pod, l.selected, x.bound[kind])
	return l
}
