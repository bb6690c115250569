package provisioning

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/component-helpers/scheduling/corev1/nodeaffinity"

	"github.com/dovetail-sdk/dovetail/provisioning/internal/pack"
	"github.com/dovetail-sdk/dovetail/provisioning/internal/topology"
)

// softScores are the soft constraints that tell nodes of one plan apart, of the
// classes whose pods can be moved from one to another.
type softScores struct {
	some  bool
	by    []softScore   // by class
	bound map[int][]int // by selection of a soft constraint over the name of the node: pods that run, by node
}

// softScore is what the pods of a class would rather have of their node.
type softScore struct {
	free    bool   // its pods can be moved: no other pod minds on which node they are
	alike   bool   // but only to a new node of the same bin type
	hosts   []term // soft constraints over the name of the node
	domains []int  // soft rules over other labels
	terms   *nodeaffinity.PreferredSchedulingTerms
}

// findSoftScores works out which classes prefer some nodes to others, and which can be
// moved for their sake or that of others. The labels of nodes that exist must be
// known.
func (p *Problem) findSoftScores(x *baseline) {
	p.softScores = softScores{by: make([]softScore, len(p.classes)), bound: map[int][]int{}}
	if p.opts.Preferences == Ignore {
		return
	}
	shunned := slices.ContainsFunc(p.nodes, func(n existing) bool { return len(n.softTaints()) > 0 })
	for c := range p.classes {
		class, t := &p.classes[c], &p.softScores.by[c]
		if class.refusal != nil {
			continue
		}
		for _, own := range class.terms {
			if own.weight > 0 && own.key == corev1.LabelHostname {
				t.hosts = append(t.hosts, own)
				p.softScores.bound[own.pods] = nil
			}
		}
		t.domains = p.rules.duties[c].soft
		if len(p.nodes) > 1 {
			t.terms = preferredTerms(p.pod(c))
		}
		if len(t.hosts) > 0 || len(p.nodes) > 1 && (len(t.domains) > 0 || t.terms != nil || shunned) {
			p.softScores.some = true
		}
	}
	if !p.softScores.some {
		return
	}
	with := p.togetherOverNodes()
	for c := range p.classes {
		p.softScores.by[c].free, p.softScores.by[c].alike = p.movable(c, with)
	}
	x.countSoftScores()
}

// preferredTerms reads the preferred node affinity of a pod, nil if it has none
// that can be read.
func preferredTerms(pod *corev1.Pod) *nodeaffinity.PreferredSchedulingTerms {
	a := pod.Spec.Affinity
	if a == nil || a.NodeAffinity == nil || len(a.NodeAffinity.PreferredDuringSchedulingIgnoredDuringExecution) == 0 {
		return nil
	}
	out, err := nodeaffinity.NewPreferredSchedulingTerms(a.NodeAffinity.PreferredDuringSchedulingIgnoredDuringExecution)
	if err != nil {
		return nil
	}
	return out
}

// movable says whether it is of no concern to any hard constraint on which node the
// pods of a class are, given the selections of affinities over the name of the node;
// with alike set, as long as the nodes are new and of one bin type.
func (p *Problem) movable(c int, with []int) (free, alike bool) {
	class, d := &p.classes[c], &p.rules.duties[c]
	if class.refusal != nil || class.headroom || class.devices != nil || len(class.shares) > 0 || len(d.parts)+len(d.with) > 0 {
		return false, false
	}
	for i := range p.rules.node {
		if n := &p.rules.node[i]; n.pods >= 0 && (n.Kind == pack.AtMost || n.Kind == pack.Apart) && class.selected.Has(n.pods) {
			return false, false
		}
	}
	if slices.ContainsFunc(with, class.selected.Has) {
		return false, false
	}
	hard := func(r int) bool { return p.rules.domain[r].term.weight == 0 }
	return true, slices.ContainsFunc(d.owns, hard) || slices.ContainsFunc(d.joins, hard)
}

// countSoftScores counts the pods that run, by node, as far as soft constraints over
// the name of the node are about them.
func (x *baseline) countSoftScores() {
	p := x.p
	if len(p.softScores.bound) == 0 {
		return
	}
	for s := range p.softScores.bound {
		p.softScores.bound[s] = make([]int, len(p.nodes))
	}
	for i := range p.nodes {
		for _, kind := range p.nodes[i].boundMemberships {
			if kind == ended {
				continue
			}
			for s := range x.selected(kind).All() {
				if counts, ok := p.softScores.bound[s]; ok {
					counts[i]++
				}
			}
		}
	}
}

// pull is how much a pod of a class is drawn to a pod of another on its node, or
// away from it if negative.
func (p *Problem) pull(c, other int) int {
	sum := 0
	for _, t := range p.softScores.by[c].hosts {
		if p.isMember(other, t.pods) {
			sum += t.draw()
		}
	}
	return sum
}

// draw is what one pod that a soft constraint is about is worth in its domain.
func (t *term) draw() int {
	if t.kind == topology.Together {
		return t.weight
	}
	return -t.weight
}

// nodeScore is how well a node that exists suits the pods of a class by its labels
// and taints.
func (p *Problem) nodeScore(c, node int) int {
	n := &p.nodes[node]
	score := 0
	if terms := p.softScores.by[c].terms; terms != nil {
		score = int(terms.Score(&corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: n.standing.name, Labels: n.standing.labels}}))
	}
	if soft := n.softTaints(); len(soft) > 0 {
		score -= preferNoSchedule * len(untolerated(soft, p.classes[c].tolerations))
	}
	return score
}

// softTaints are those of a node that pods would rather not have.
func (e *existing) softTaints() []corev1.Taint {
	switch {
	case e.Node.Node != nil:
		return softTaints(e.Node.Node.Spec.Taints)
	case e.NodeClaim != nil:
		return softTaints(e.NodeClaim.Spec.Taints)
	}
	return nil
}
