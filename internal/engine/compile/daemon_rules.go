package compile

import (
	"cmp"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/dovetail-sdk/dovetail/internal/engine/bitset"
	"github.com/dovetail-sdk/dovetail/internal/engine/model"
	"github.com/dovetail-sdk/dovetail/internal/engine/topology"
	"github.com/dovetail-sdk/dovetail/internal/engine/workload"
)

// The DaemonSet pods of a new node are on it before all other pods. Constraints between pods count
// them there as they count running pods, and their own required anti-affinity excludes pods.

// DaemonRules has the rules that concern the pod of a DaemonSet.
type DaemonRules struct {
	PodRules
	On   bitset.Set // options on which it runs, or may run because a label is open
	Sure bitset.Set // options on which it certainly runs
}

// findDaemonRules computes ByDaemon: the rules of each DaemonSet whose pods take part in
// constraints of, or about, pods to be placed.
func (p *Problem) findDaemonRules(x *baseline) {
	asked := bitset.New(len(p.Rules.selections)) // selections of constraints over the hostname
	p.followed = map[int][]int{}
	for c := range p.Classes {
		for _, t := range p.Classes[c].Terms {
			if t.Weight == 0 && t.Key == corev1.LabelHostname && t.Kind != topology.Apart {
				asked.Add(t.Pods)
			}
			if p.FollowsDaemons(t) {
				p.followed[c] = append(p.followed[c], t.Pods)
			}
		}
	}
	p.ofDaemon = make([]int, len(p.Daemons))
	for i := range p.Daemons {
		d := &p.Daemons[i]
		p.ofDaemon[i] = -1
		rules := DaemonRules{PodRules: x.rulesOf(d.Selected, d.Apart), On: p.onDaemon[i]}
		rules.Joins = slices.DeleteFunc(rules.Joins, func(r int) bool { return p.Rules.Domain[r].Term.Weight > 0 })
		if len(rules.Joins)+len(rules.Owns) == 0 && !d.Selected.Overlaps(asked) {
			continue
		}
		slices.Sort(rules.Joins)
		rules.Sure = p.sureOn(i)
		p.ofDaemon[i] = len(p.ByDaemon)
		p.ByDaemon = append(p.ByDaemon, rules)
	}
}

// daemonsTo lists the rules of the DaemonSets whose pods are expected on an existing node.
func (p *Problem) daemonsTo(n *model.Existing) (out []*DaemonRules) {
	for _, i := range n.Daemons {
		if k := p.ofDaemon[i]; k >= 0 {
			out = append(out, &p.ByDaemon[k])
		}
	}
	return out
}

// FollowsDaemons says whether the pod of some DaemonSet that certainly runs on some option
// satisfies a required affinity over the hostname. Pods with such an affinity go to nodes where
// that pod, or another pod that they require, is before the plan starts.
func (p *Problem) FollowsDaemons(t workload.Term) bool {
	if t.Weight > 0 || t.Kind != topology.Together || t.Key != corev1.LabelHostname {
		return false
	}
	for i := range p.Daemons {
		if p.Daemons[i].Selected.Has(t.Pods) && !p.sureOn(i).Empty() {
			return true
		}
	}
	return false
}

// optionsOf returns the options on which a DaemonSet may run a pod or, with certain, runs one
// whichever values open labels get. Where a pod may come, its room is reserved.
func (p *Problem) optionsOf(d *workload.Daemon, certain bool) bitset.Set {
	out := bitset.New(p.Catalog.Domains.Total)
	for _, alt := range d.Alternatives {
		out.Or(p.suiting(&Ask{Alternative: alt, Tolerations: d.Tolerations, Certain: certain}, Labels))
	}
	return out
}

// sureOn returns the options on which a DaemonSet certainly runs. It is computed once.
func (p *Problem) sureOn(daemon int) bitset.Set {
	if p.onSure == nil {
		p.onSure = make([]bitset.Set, len(p.Daemons))
	}
	if p.onSure[daemon] == nil {
		p.onSure[daemon] = p.optionsOf(&p.Daemons[daemon], true)
	}
	return p.onSure[daemon]
}

// SplitByDaemons divides each part, for every DaemonSet in ByDaemon, into options that run it
// and options that do not, the part of the cheapest option first.
func (p *Problem) SplitByDaemons(parts []Part) []Part {
	if len(p.ByDaemon) == 0 {
		return parts
	}
	for i := range p.ByDaemon {
		on, out := p.ByDaemon[i].On, parts[:0:0]
		for _, part := range parts {
			with, without := part.Options.Both(on), part.Options.Without(on)
			if with.Empty() || without.Empty() {
				out = append(out, part)
				continue
			}
			out = append(out, Part{part.At, with}, Part{part.At, without})
		}
		parts = out
	}
	slices.SortStableFunc(parts, func(x, y Part) int { return cmp.Compare(x.Options.First(), y.Options.First()) })
	return parts
}
