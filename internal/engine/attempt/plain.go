package attempt

import (
	"slices"

	"github.com/dovetail-sdk/dovetail/internal/engine/compile"
	"github.com/dovetail-sdk/dovetail/internal/engine/pack"
	"github.com/dovetail-sdk/dovetail/internal/engine/workload"
)

// IsPlain says whether nothing but what a class asks of its node, and what keeps
// pods apart there, decides where its pods go, given the selections of affinities
// over the name of the node.
func IsPlain(p *compile.Problem, c int, with []int) bool {
	d, w := &p.Rules.Duties[c], &p.Preferences[c]
	if len(d.Owns)+len(d.Spans)+len(d.With)+len(w.Spans) > 0 || w.Options != nil {
		return false
	}
	for _, part := range d.All {
		if p.Rules.Node[part.Rule].Kind == pack.AtMost {
			return false
		}
	}
	return !slices.ContainsFunc(with, p.Classes[c].Selected.Has)
}

// IsSoft says whether pods of a class would rather be on some nodes of a plan than
// on others.
func IsSoft(p *compile.Problem, c int) bool {
	class := &p.Classes[c]
	return len(class.Preferences) > 0 || slices.ContainsFunc(class.Terms, func(t workload.Term) bool { return t.Weight > 0 })
}
