package verify

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
	"github.com/dovetail-sdk/dovetail/provisioning/verify/internal/nodefit"
)

// domain says which labels a node may come up with: for each key the pool, the
// instance type or the offering speaks of, the values that all of them and asked
// leave. A well-known label that none of them speaks of is open. Any other does
// not appear on the node, whatever is asked for.
//
// A set for each option of each node would be more than fits into memory, so
// this is for messages; labelOn and narrowed say the same of a single key.
func (r *referee) domain(pool *poolInfo, o *optionInfo, asked requirements.Set) requirements.Set {
	domain := o.labels().Intersect(pool.labels).
		Without(corev1.LabelHostname).
		With(requirements.In(corev1.LabelHostname, nodefit.NewNodeName))
	var invented []requirements.Requirement
	for want := range asked.All() {
		if _, named := domain.Get(want.Key()); !named && !r.vocabulary.WellKnown(want.Key()) {
			invented = append(invented, requirements.DoesNotExist(want.Key()))
		}
	}
	return domain.With(invented...).Intersect(asked.Without(corev1.LabelHostname))
}

// narrowed is what is left of a label where a node asks for it.
func (r *referee) narrowed(state labelState, asked requirements.Set, key string) labelState {
	want, listed := asked.Get(key)
	if !listed || key == corev1.LabelHostname {
		return state
	}
	if !state.named && !r.vocabulary.WellKnown(key) {
		state.Requirement = requirements.DoesNotExist(key)
	}
	state.Requirement, state.named = state.Intersect(want), true
	return state
}
