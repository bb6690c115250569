package cover

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
	"github.com/dovetail-sdk/dovetail/provisioning/verify/internal/nodefit"
	"github.com/dovetail-sdk/dovetail/provisioning/verify/internal/storage"
)

// Pool is a NodePool that may launch nodes.
type Pool struct {
	Name   string
	Labels requirements.Set // of each of its nodes
	Taints []corev1.Taint
	Types  []*cloudprovider.InstanceType
}

// Catalog is what can be launched. It remembers what it was asked.
type Catalog struct {
	Vocabulary *requirements.Vocabulary
	Storage    *storage.Index
	Pools      []Pool // sorted by name

	known map[string]Domains
}

// Domains are the domains in which a node could be launched, by the name of the first NodePool
// that could.
type Domains map[string]string

// Question asks for the domains of one topology key.
type Question struct {
	Pod    *corev1.Pod
	Key    string   // in canonical form
	Keys   []string // labels that a node must have to be looked at
	Honors bool     // nodes with taints that the pod does not tolerate do not count
	// Anywhere leaves out what the volumes of the pod ask of its node.
	Anywhere bool
}

// Domains answers a question. The answer is shared, and must not be changed. It is empty for
// a pod with a claim that has no volume yet, unless that is left out: where the volume may be
// made is more than is asked.
func (c *Catalog) Domains(q Question) Domains {
	asked, err := requirements.FromPod(q.Pod, c.Vocabulary)
	if err != nil {
		return nil
	}
	alternatives := asked.Alternatives
	if !q.Anywhere {
		alternatives = c.withVolumes(q.Pod, alternatives)
	}
	id := fmt.Sprintf("%q %q", q.Key, q.Keys)
	for _, a := range alternatives {
		id += fmt.Sprintf("\n%s %t", a.Set, admitsNewNode(a))
	}
	tolerations := nodefit.Tolerations(q.Pod.Spec.Tolerations)
	if q.Honors {
		id += fmt.Sprintf("\n%q", tolerations.Text())
	}
	if known, ok := c.known[id]; ok {
		return known
	}
	out := Domains{}
	for i := range c.Pools {
		pool := &c.Pools[i]
		if _, refused := tolerations.Refused(pool.Taints); q.Honors && refused {
			continue
		}
		for _, a := range alternatives {
			if admitsNewNode(a) {
				c.add(out, pool, a.Set, &q)
			}
		}
	}
	if c.known == nil {
		c.known = map[string]Domains{}
	}
	c.known[id] = out
	return out
}

// admitsNewNode says whether an alternative leaves a name that no node has yet.
func admitsNewNode(a requirements.Alternative) bool {
	return a.NodeNames == nil || a.NodeNames.Has(nodefit.NewNodeName)
}

// add adds the domains in which a pool offers a node that satisfies what is asked.
func (c *Catalog) add(out Domains, pool *Pool, asked requirements.Set, q *Question) {
	for _, key := range q.Keys {
		asked = asked.With(requirements.Exists(c.Vocabulary.NormalizeKey(key)))
	}
	for _, t := range pool.Types {
		if t == nil {
			continue
		}
		ofType := pool.Labels.Intersect(t.Requirements).With(requirements.In(corev1.LabelInstanceTypeStable, t.Name)).
			With(requirements.In(corev1.LabelHostname, nodefit.NewNodeName))
		if ofType.Impossible() {
			continue
		}
		for i := range t.Offerings {
			o := &t.Offerings[i]
			if _, known := out[o.Zone]; known && q.Key == corev1.LabelTopologyZone {
				continue
			}
			labels := ofType.Intersect(o.Labels())
			if !labels.Compatible(asked, c.Vocabulary) {
				continue
			}
			have, named := labels.Get(q.Key)
			if want, ok := asked.Get(q.Key); ok && named {
				have = have.Intersect(want)
			}
			values, _ := have.Values() // none if there are infinitely many
			for _, value := range values {
				if _, known := out[value]; !known && named {
					out[value] = pool.Name
				}
			}
		}
	}
}

// withVolumes narrows alternatives to where the volumes of a pod can be reached.
func (c *Catalog) withVolumes(pod *corev1.Pod, alternatives []requirements.Alternative) []requirements.Alternative {
	for _, claim := range c.Storage.ClaimsOf(pod) {
		if claim.Fault != "" || c.Storage.Volumes[claim.Claim.Spec.VolumeName] == nil {
			return nil
		}
		volume := c.Storage.Volumes[claim.Claim.Spec.VolumeName]
		reach := []requirements.Alternative{{}}
		if a := volume.Spec.NodeAffinity; a != nil && a.Required != nil {
			var err error
			if reach, err = requirements.FromNodeSelector(a.Required, c.Vocabulary); err != nil {
				return nil
			}
		}
		zones := requirements.Set{}
		for key, values := range storage.Zones(volume) {
			zones = zones.With(requirements.In(c.Vocabulary.NormalizeKey(key), values...))
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
