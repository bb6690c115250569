package verify

import (
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
	"github.com/dovetail-sdk/dovetail/provisioning/verify/internal/nodefit"
	"github.com/dovetail-sdk/dovetail/provisioning/verify/internal/storage"
)

// launchableDomains returns, by domain in which a node could be launched for a pod when the plan
// starts, the first NodePool that could. A required topology spread counts these domains in
// addition to those with a node. Neither stock, limits nor the size of the pod matter. There are
// none for kubernetes.io/hostname, for a label whose values neither catalog nor pod names, and for a
// pod with a claim without a volume, because the domains may depend on where that volume is made.
//
// An engine may ignore the volumes of a pod that it leaves pending, so they count for placed pods
// only.
func (r *referee) launchableDomains(p *podInfo, t *topology) map[string]string {
	if t.key == corev1.LabelHostname {
		return nil
	}
	id := fmt.Sprintf("%q %q %d", t.key, t.keys, p.selection.Number)
	if t.taints {
		id += fmt.Sprintf("\n%q", t.tolerations.Text())
	}
	mentions := nodefit.Join(t.mentions, p.selection.Mentions)
	var reaches []storage.Reach
	if !p.unplaced {
		for _, claim := range r.storage.ClaimsOf(p.Pod) {
			if claim.Fault != "" || r.storage.Volumes[claim.Claim.Spec.VolumeName] == nil {
				return nil
			}
			reach := r.storage.Reach(r.storage.Volumes[claim.Claim.Spec.VolumeName])
			reaches, mentions = append(reaches, reach), nodefit.Join(mentions, reach.Mentions())
			id += fmt.Sprintf("\nvolume %q", claim.Claim.Spec.VolumeName)
		}
	}
	found, known := r.launchable[id]
	if known {
		return found
	}
	found = map[string]string{}
	r.launchable[id] = found
	key := r.vocabulary.NormalizeKey(t.key)
	for _, name := range slices.Sorted(maps.Keys(r.pools)) {
		pool := r.pools[name]
		if _, refused := t.tolerations.Refused(pool.Spec.Template.Spec.Taints); pool.closed() != "" || t.taints && refused {
			continue
		}
		q, column, seen := r.ask(pool, requirements.Set{}, nil, mentions), r.column(pool, key), map[*answer]bool{nil: true}
		for i := range pool.stock.options {
			a, state := r.answer(q, int32(i)), column.states[column.state[i]]
			if seen[a] || pool.stock.odd[i] || !state.named {
				continue
			}
			seen[a] = true
			_, finite := state.Values()
			for _, o := range a.nodes {
				value := o.Labels[t.key]
				if t.lacking(o.Node) || !p.selection.Accepts(o.Node) || !finite && !slices.Contains(p.selection.Mentions[t.key], value) ||
					slices.ContainsFunc(reaches, func(reach storage.Reach) bool { return !reach.Admits(o.Node) }) {
					continue
				}
				if value = r.vocabulary.NormalizeValue(key, value); found[value] == "" {
					found[value] = name
				}
			}
		}
	}
	return found
}
