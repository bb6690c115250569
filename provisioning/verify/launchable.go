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
// none for kubernetes.io/hostname, for a label whose values the catalog leaves open, and for a pod
// with a claim without a volume, because the domains may depend on where that volume is made.
//
// An engine may ignore the volumes of a pod that it leaves pending, so they count for placed pods
// only.
func (r *referee) launchableDomains(p *podInfo, t *topology) map[string]string {
	if t.key == corev1.LabelHostname {
		return nil
	}
	asked, err := requirements.FromPod(p.Pod, r.vocabulary)
	if err != nil {
		return nil
	}
	alternatives := asked.Alternatives
	if !r.pending {
		alternatives = r.withVolumes(p.Pod, alternatives)
	}
	alternatives = slices.DeleteFunc(slices.Clone(alternatives), func(a requirements.Alternative) bool {
		name, named := a.Set.Get(corev1.LabelHostname)
		return a.NodeNames != nil && !a.NodeNames.Has(nodefit.NewNodeName) || named && !name.Has(nodefit.NewNodeName)
	})
	id := fmt.Sprintf("%q %q %t", t.key, t.keys, t.taints)
	for _, a := range alternatives {
		id += "\n" + a.Set.String()
	}
	if t.taints {
		id += fmt.Sprintf("\n%q", t.tolerations.Text())
	}
	if known, ok := r.launchable[id]; ok {
		return known
	}
	found := map[string]string{}
	r.launchable[id] = found
	for _, name := range slices.Sorted(maps.Keys(r.pools)) {
		pool := r.pools[name]
		if _, refused := t.tolerations.Refused(pool.Spec.Template.Spec.Taints); pool.closed() != "" || t.taints && refused {
			continue
		}
		for _, a := range alternatives {
			r.addLaunchable(found, pool, t, a.Set)
		}
	}
	return found
}

// addLaunchable adds the domains in which a pool has an offering, available or not, that satisfies
// the requirements asked.
func (r *referee) addLaunchable(found map[string]string, pool *poolInfo, t *topology, asked requirements.Set) {
	for _, key := range t.keys {
		asked = asked.With(requirements.Exists(r.vocabulary.NormalizeKey(key)))
	}
	r.stockOf(pool)
	q := r.askForPods(pool, asked, nil)
	key := r.vocabulary.NormalizeKey(t.key)
	column := r.column(pool, key)
	states := r.narrow(q, column, key)
	seen := make([]bool, len(states))
	for i, at := range column.state {
		if seen[at] || q.impossible[i] {
			continue
		}
		seen[at] = true
		values, _ := states[at].Values() // none if there are infinitely many
		for _, value := range values {
			if found[value] == "" && column.states[at].named {
				found[value] = pool.Name
			}
		}
	}
}

// withVolumes narrows alternatives to nodes that can reach the volumes of a pod.
func (r *referee) withVolumes(pod *corev1.Pod, alternatives []requirements.Alternative) []requirements.Alternative {
	for _, claim := range r.storage.ClaimsOf(pod) {
		if claim.Fault != "" || r.storage.Volumes[claim.Claim.Spec.VolumeName] == nil {
			return nil
		}
		volume := r.storage.Volumes[claim.Claim.Spec.VolumeName]
		reach := []requirements.Alternative{{}}
		if a := volume.Spec.NodeAffinity; a != nil && a.Required != nil {
			var err error
			if reach, err = requirements.FromNodeSelector(a.Required, r.vocabulary); err != nil {
				return nil
			}
		}
		zones := requirements.Set{}
		for key, values := range storage.Zones(volume) {
			zones = zones.With(requirements.In(r.vocabulary.NormalizeKey(key), values...))
		}
		var both []requirements.Alternative
		for _, a := range alternatives {
			for _, b := range reach {
				both = append(both, requirements.Alternative{Set: a.Set.Intersect(b.Set).Intersect(zones), NodeNames: a.NodeNames})
			}
		}
		alternatives = slices.DeleteFunc(both, func(a requirements.Alternative) bool { return a.Set.Impossible() })
	}
	return alternatives
}
