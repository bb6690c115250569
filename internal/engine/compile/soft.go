package compile

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/component-helpers/scheduling/corev1/nodeaffinity"

	"github.com/dovetail-sdk/dovetail/internal/engine/model"
	"github.com/dovetail-sdk/dovetail/internal/engine/pack"
	"github.com/dovetail-sdk/dovetail/internal/engine/topology"
	"github.com/dovetail-sdk/dovetail/internal/engine/workload"
)

// softScores are the soft constraints that tell nodes of one plan apart, of the
// classes whose pods can be moved from one to another.
type softScores struct {
	Some  bool
	By    []softScore   // by class
	Bound map[int][]int // by selection of a soft constraint over the name of the node: pods that run, by node
}

// softScore is what the pods of a class would rather have of their node.
type softScore struct {
	Free    bool            // its pods can be moved: no other pod minds on which node they are
	Alike   bool            // but only to a new node of the same bin type
	Hosts   []workload.Term // soft constraints over the name of the node
	Domains []int           // soft rules over other labels
	Terms   *nodeaffinity.PreferredSchedulingTerms
}

// findSoftScores works out which classes prefer some nodes to others, and which can be
// moved for their sake or that of others. The labels of nodes that exist must be
// known.
func (p *Problem) findSoftScores(x *baseline) {
	p.SoftScores = softScores{By: make([]softScore, len(p.Classes)), Bound: map[int][]int{}}
	if p.Opts.Preferences == model.Ignore {
		return
	}
	shunned := false
	for i := range p.Nodes {
		shunned = shunned || p.Nodes[i].Marks&model.Shunned != 0
	}
	for c := range p.Classes {
		class, t := &p.Classes[c], &p.SoftScores.By[c]
		if class.Refusal != nil {
			continue
		}
		for _, own := range class.Terms {
			if own.Weight > 0 && own.Key == corev1.LabelHostname {
				t.Hosts = append(t.Hosts, own)
				p.SoftScores.Bound[own.Pods] = nil
			}
		}
		t.Domains = p.Rules.Duties[c].Soft
		if len(p.Nodes) > 1 {
			t.Terms = preferredTerms(p.Pod(c))
		}
		if len(t.Hosts) > 0 || len(p.Nodes) > 1 && (len(t.Domains) > 0 || t.Terms != nil || shunned) {
			p.SoftScores.Some = true
		}
	}
	if !p.SoftScores.Some {
		return
	}
	with := p.TogetherOverNodes()
	for c := range p.Classes {
		p.SoftScores.By[c].Free, p.SoftScores.By[c].Alike = p.movable(c, with)
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

// NodeSatisfies says whether a node that exists satisfies a preferred node affinity of a class,
// by its number among the preferences of the class.
func (p *Problem) NodeSatisfies(c, preference int, n *model.LabelsAndTaints) bool {
	terms := p.Pod(c).Spec.Affinity.NodeAffinity.PreferredDuringSchedulingIgnoredDuringExecution
	terms = slices.DeleteFunc(slices.Clone(terms), func(t corev1.PreferredSchedulingTerm) bool {
		return t.Weight == 0 || len(t.Preference.MatchExpressions)+len(t.Preference.MatchFields) == 0 // which no node satisfies
	})
	one, err := nodeaffinity.NewPreferredSchedulingTerms(terms[preference : preference+1])
	return err == nil && one.Score(&corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: n.Name, Labels: n.Labels}}) > 0
}

// movable says whether it is of no concern to any hard constraint on which node the
// pods of a class are, given the selections of affinities over the name of the node;
// with alike set, as long as the nodes are new and of one bin type.
func (p *Problem) movable(c int, with []int) (free, alike bool) {
	class, d := &p.Classes[c], &p.Rules.Duties[c]
	if class.Refusal != nil || class.Headroom || class.Devices != nil || len(class.Shares) > 0 || len(d.All)+len(d.With) > 0 {
		return false, false
	}
	for i := range p.Rules.Node {
		if n := &p.Rules.Node[i]; n.pods >= 0 && (n.Kind == pack.AtMost || n.Kind == pack.Apart) && class.Selected.Has(n.pods) {
			return false, false
		}
	}
	if slices.ContainsFunc(with, class.Selected.Has) {
		return false, false
	}
	hard := func(r int) bool { return p.Rules.Domain[r].Term.Weight == 0 }
	return true, slices.ContainsFunc(d.Owns, hard) || slices.ContainsFunc(d.Joins, hard)
}

// countSoftScores counts the pods that run, by node, as far as soft constraints over
// the name of the node are about them.
func (x *baseline) countSoftScores() {
	p := x.p
	if len(p.SoftScores.Bound) == 0 {
		return
	}
	for s := range p.SoftScores.Bound {
		p.SoftScores.Bound[s] = make([]int, len(p.Nodes))
	}
	for i := range p.Nodes {
		for _, kind := range p.Nodes[i].BoundMemberships {
			if kind == workload.Ended {
				continue
			}
			for s := range x.selected(kind).All() {
				if counts, ok := p.SoftScores.Bound[s]; ok {
					counts[i]++
				}
			}
		}
	}
}

// Pull is how much a pod of a class is drawn to a pod of another on its node, or
// away from it if negative.
func (p *Problem) Pull(c, other int) int {
	sum := 0
	for _, t := range p.SoftScores.By[c].Hosts {
		if p.IsMember(other, t.Pods) {
			sum += Draw(&t)
		}
	}
	return sum
}

// Draw is what one pod that a soft constraint is about is worth in its domain.
func Draw(t *workload.Term) int {
	if t.Kind == topology.Together {
		return t.Weight
	}
	return -t.Weight
}

// NodeScore is how well a node that exists suits the pods of a class by its labels
// and taints.
func (p *Problem) NodeScore(c, node int) int {
	n := &p.Nodes[node]
	score := 0
	if terms := p.SoftScores.By[c].Terms; terms != nil {
		score = int(terms.Score(&corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: n.Standing.Name, Labels: n.Standing.Labels}}))
	}
	return score - PreferNoSchedule*len(model.Untolerated(n.SoftTaints, p.Classes[c].Tolerations))
}
