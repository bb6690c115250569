package disruption

import (
	"fmt"

	"github.com/dovetail-sdk/dovetail/provisioning"
)

// ScaleDown wants to delete the nodes that static pools have above their
// replicas, pool by pool in the order of their names, and within a pool in that
// of provisioning.StaticPool.Remove. Nodes that are being deleted or dealt with
// count for nothing. Budgets do not apply, as in Karpenter, and what protects a
// node only puts it last. Nothing is ever Blocked, and time alone changes
// nothing.
func (f *Fleet) ScaleDown() Result {
	var r Result
	for _, name := range f.poolNames {
		p := f.pools[name]
		if !p.static() || p.unreadable || *p.Spec.Replicas < 0 {
			continue
		}
		h := p.count
		if int64(h.active) <= *p.Spec.Replicas {
			continue
		}
		for _, node := range f.removal(p) {
			a := f.byName[node].action(ScaledDown, Delete)
			a.Detail = fmt.Sprintf("%s has %s, and spec.replicas is %d", poolObject(name), plural(h.active, "node"), *p.Spec.Replicas)
			r.Actions = append(r.Actions, a)
		}
	}
	return r
}

// removal names the nodes that a static pool has too many.
func (f *Fleet) removal(p *poolView) []string {
	in := provisioning.Input{NodePools: f.in.NodePools[:0:0], Vocabulary: f.vocabulary}
	in.NodePools = append(in.NodePools, p.NodePool)
	for _, m := range p.members {
		if m.underway {
			continue
		}
		entry := m.Node
		entry.Pods = nil
		for _, pod := range m.pods {
			entry.Pods = append(entry.Pods, pod.Pod)
		}
		in.Nodes = append(in.Nodes, entry)
	}
	pools, err := provisioning.StaticPools(in)
	if err != nil || len(pools) != 1 {
		// Observe has reported what is wrong with the pool.
		return nil
	}
	return pools[0].Remove
}
