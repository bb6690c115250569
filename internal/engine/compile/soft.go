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

// softScores are the soft constraints by which nodes of one plan differ, for the classes whose pods
// can be moved between nodes.
type softScores struct {
	Some  bool
	By    []softScore   // by class
	Bound map[int][]int // by selection of a soft constraint over the hostname: by node, the number of running pods
}

// softScore has the soft constraints of a class on its node.
type softScore struct {
	Free    bool            // its pods can be moved: no required constraint depends on their node
	Alike   bool            // they can be moved only to a new node of the same bin type
	Hosts   []workload.Term // soft constraints over the hostname
	Domains []int           // soft rules over other labels
	Terms   *nodeaffinity.PreferredSchedulingTerms
}

// findSoftScores finds the classes that prefer some nodes to others, and the classes whose pods can
// be moved for such preferences.
func (p *Problem) findSoftScores() {
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
				p.SoftScores.Bound[own.Pods] = make([]int, len(p.Nodes))
			}
		}
		t.Domains = p.Rules.ByClass[c].Soft
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
}

// preferredTerms reads the preferred node affinity of a pod, nil if it has none or it cannot be
// read.
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

// NodeSatisfies says whether an existing node satisfies a preferred node affinity of a class, by
// its index among the preferences of the class.
func (p *Problem) NodeSatisfies(c, preference int, n *model.LabelsAndTaints) bool {
	terms := p.Pod(c).Spec.Affinity.NodeAffinity.PreferredDuringSchedulingIgnoredDuringExecution
	terms = slices.DeleteFunc(slices.Clone(terms), func(t corev1.PreferredSchedulingTerm) bool {
		return t.Weight == 0 || len(t.Preference.MatchExpressions)+len(t.Preference.MatchFields) == 0 // no node satisfies these
	})
	one, err := nodeaffinity.NewPreferredSchedulingTerms(terms[preference : preference+1])
	return err == nil && one.Score(&corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: n.Name, Labels: n.Labels}}) > 0
}

// movable says whether no required constraint depends on which node the pods of a class are on.
// alike says the same for moves between new nodes of one bin type. with lists the selections of
// affinities over the hostname.
func (p *Problem) movable(c int, with []int) (free, alike bool) {
	class, d := &p.Classes[c], &p.Rules.ByClass[c]
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

// Pull returns the score of a pod of a class for a pod of another class on its node; negative if
// the pod prefers to be apart from it.
func (p *Problem) Pull(c, other int) int {
	sum := 0
	for _, t := range p.SoftScores.By[c].Hosts {
		if p.IsMember(other, t.Pods) {
			sum += Draw(&t)
		}
	}
	return sum
}

// Draw returns the score of one pod that a soft constraint selects in its domain.
func Draw(t *workload.Term) int {
	if t.Kind == topology.Together {
		return t.Weight
	}
	return -t.Weight
}

// NodeScore returns how well an existing node suits the pods of a class by its labels and taints.
func (p *Problem) NodeScore(c, node int) int {
	n := &p.Nodes[node]
	score := 0
	if terms := p.SoftScores.By[c].Terms; terms != nil {
		score = int(terms.Score(&corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: n.Standing.Name, Labels: n.Standing.Labels}}))
	}
	return score - PreferNoSchedule*len(model.Untolerated(n.SoftTaints, p.Classes[c].Tolerations))
}
