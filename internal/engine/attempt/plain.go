package attempt

import (
	"slices"

	"github.com/dovetail-sdk/dovetail/internal/engine/compile"
	"github.com/dovetail-sdk/dovetail/internal/engine/pack"
	"github.com/dovetail-sdk/dovetail/internal/engine/workload"
)

// IsPlain says whether only a class's node requirements, and rules that separate pods on a node,
// decide where its pods go. with lists the selections of affinities over the hostname.
func IsPlain(p *compile.Problem, c int, with []int) bool {
	d, w := &p.Rules.ByClass[c], &p.Preferences[c]
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

// IsSoft says whether pods of a class prefer some nodes or some other pods.
func IsSoft(p *compile.Problem, c int) bool {
	class := &p.Classes[c]
	return len(class.Preferences) > 0 || slices.ContainsFunc(class.Terms, func(t workload.Term) bool { return t.Weight > 0 })
}
