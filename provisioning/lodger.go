package provisioning

import (
	"github.com/dovetail-sdk/dovetail/provisioning/internal/bitset"
	"github.com/dovetail-sdk/dovetail/provisioning/internal/pack"
	"github.com/dovetail-sdk/dovetail/provisioning/internal/topology"
)

// lodger is what the rules have to do with a kind of pod that runs.
type lodger struct {
	selected bitset.Set // the selections that it is in, once asked for
	known    bool       // the rest is known
	counted  []int      // domain rules that count it
	owns     []int      // domain rules that it has
	parts    []pack.Part
}

// selected are the selections that a kind of pod is in.
func (x *census) selected(kind int32) bitset.Set {
	l := &x.kinds[kind]
	if l.selected == nil {
		l.selected = x.identities.members[x.identities.of(x.crowds.pod(kind))]
	}
	return l.selected
}

// lodger works out what the rules have to do with a kind of pod, once they are all
// known.
func (x *census) lodger(kind int32) *lodger {
	l := &x.kinds[kind]
	if l.known {
		return l
	}
	l.known = true
	pod := x.crowds.pod(kind)
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
