package state

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/dovetail-sdk/dovetail/internal/engine/ledger"
	"github.com/dovetail-sdk/dovetail/internal/engine/topology"
	"github.com/dovetail-sdk/dovetail/internal/engine/workload"
)

// Count identifies a number of pods, by the domains of a label, that constraints count: the pods of a
// selection or, with Owners, the pods that have an anti-affinity to them.
type Count struct {
	Key    string
	Pods   int // index of the selection
	Owners bool
}

// Concern has the counts that concern the pods of a class.
type Concern struct {
	Counts  []Count // those that include the pods
	Spreads []Count // those of their topology spreads
	With    []Count // those of their affinities
	Apart   []Count // those that must be zero: of their anti-affinities, and of those to them
}

// Concern returns the counts that concern a pod; nil for a pod that was not passed to New. The result
// must not be changed.
func (s *State) Concern(pod *corev1.Pod) *Concern {
	c := s.Class(pod)
	if c < 0 {
		return nil
	}
	if s.concerns == nil {
		s.readCounts()
	}
	if s.concerns[c] == nil {
		s.concerns[c] = s.concern(c)
	}
	return s.concerns[c]
}

// Spreads lists the counts of the topology spreads of all pods over labels other than the hostname.
func (s *State) Spreads() []Count {
	if s.concerns == nil {
		s.readCounts()
	}
	return s.spreads
}

// required calls yield for each required constraint: those of classes, and the anti-affinity of pods
// that are never moved.
func (s *State) required(yield func(t *workload.Term)) {
	p := s.Problem
	for c := range p.Classes {
		for i := range p.Classes[c].Terms {
			if t := &p.Classes[c].Terms[i]; t.Weight == 0 {
				yield(t)
			}
		}
	}
	for i := range p.Rules.Domain {
		if rule := &p.Rules.Domain[i]; !rule.Owned && rule.Term.Weight == 0 {
			yield(&rule.Term)
		}
	}
}

// readCounts lists what the constraints count, by selection.
func (s *State) readCounts() {
	s.concerns, s.counts = make([]*Concern, len(s.Problem.Classes)), make([][]Count, s.Problem.Rules.Selections())
	s.required(func(t *workload.Term) {
		n := Count{Key: t.Key, Pods: t.Pods}
		if t.Kind == topology.Spread && t.Key != corev1.LabelHostname && !slices.Contains(s.spreads, n) {
			s.spreads = append(s.spreads, n)
		}
		add := func(n Count) {
			if !slices.Contains(s.counts[t.Pods], n) {
				s.counts[t.Pods] = append(s.counts[t.Pods], n)
			}
		}
		if add(n); t.Kind == topology.Apart {
			n.Owners = true
			add(n)
		}
	})
}

func (s *State) concern(c int) *Concern {
	out, class := &Concern{}, &s.Problem.Classes[c]
	for pods := range class.Selected.All() {
		for _, n := range s.counts[pods] {
			if n.Owners {
				out.Apart = append(out.Apart, n)
			} else {
				out.Counts = append(out.Counts, n)
			}
		}
	}
	for i := range class.Terms {
		t := &class.Terms[i]
		n := Count{Key: t.Key, Pods: t.Pods}
		switch {
		case t.Weight > 0:
		case t.Kind == topology.Spread:
			out.Spreads = append(out.Spreads, n)
		case t.Kind == topology.Together:
			out.With = append(out.With, n)
		default:
			out.Apart, out.Counts = append(out.Apart, n), append(out.Counts, Count{Key: t.Key, Pods: t.Pods, Owners: true})
		}
	}
	return out
}

// Domains lists the values of a label that a node has or may have.
func (s *State) Domains(node, key string) []string {
	b := s.nodes[node]
	if b == nil {
		return nil
	}
	if key == corev1.LabelHostname {
		return []string{node}
	}
	k := slices.Index(s.Problem.Table.Keys, key)
	if k < 0 {
		return nil
	}
	out := make([]string, len(b.At[k].Domains))
	for i, d := range b.At[k].Domains {
		out[i] = s.Problem.Table.Values[k][d]
	}
	return out
}

// Sites returns, by value of a label, the number of nodes that have it or may have it. Values without
// nodes are left out.
func (s *State) Sites(key string) map[string]int {
	out := map[string]int{}
	if k := slices.Index(s.Problem.Table.Keys, key); k >= 0 {
		for d, n := range s.sites[k] {
			if n > 0 {
				out[s.Problem.Table.Values[k][d]] = n
			}
		}
	}
	return out
}

// Held returns the labels of its node that a pod has to keep wherever it goes, such that the pod is
// allowed in its new place whichever other pods move in the same way: those of its topology spreads,
// and those of affinities and anti-affinities, its own and those of others. It returns nil if there
// are none, or if a spread of the pod is violated now, because the pod could not be moved at all then.
// A violated affinity of the pod holds nothing either.
func (s *State) Held(pod *corev1.Pod, node string) map[string]string {
	c, b := s.Class(pod), s.nodes[node]
	if c < 0 || b == nil {
		return nil
	}
	out := s.heldByAffinity(c, b)
	for _, r := range s.Problem.Rules.ByClass[c].Owns {
		rule := &s.Problem.Rules.Domain[r]
		d, there := b.At[rule.Key].Sure()
		if rule.Kind != topology.Spread || !there {
			continue
		}
		if members, least, _ := s.ledger.Spread(r); members[d]-least > rule.Skew {
			return nil
		}
		s.hold(&out, rule.Key, d)
	}
	return out
}

func (s *State) hold(labels *map[string]string, key, domain int) {
	if *labels == nil {
		*labels = map[string]string{}
	}
	(*labels)[s.Problem.Table.Keys[key]] = s.Problem.Table.Values[key][domain]
}

func (s *State) heldByAffinity(c int, b *ledger.Bin) map[string]string {
	var out map[string]string
	p := s.Problem
	own := &p.Rules.ByClass[c]
	for _, r := range slices.Concat(own.Owns, own.Joins) {
		rule := &p.Rules.Domain[r]
		if rule.Key < 0 || rule.Kind == topology.Spread || rule.Term.Weight > 0 {
			continue
		}
		d, there := b.At[rule.Key].Sure()
		counted := p.Classes[c].Selected.Has(rule.Term.Pods)
		if !there || !counted && (s.ledger.Counts[r].Members[d] > 0) == (rule.Kind == topology.Apart) {
			continue // its own constraint is violated
		}
		s.hold(&out, rule.Key, d)
	}
	return out
}

// Choice is the domains that a pod may choose from.
type Choice struct {
	Rule   int // number of its topology spread
	Key    string
	Values []string // the value on its present node first, then the others in ascending order
}

// Choose returns the domains in which the topology spread of a pod holds for all its pods after this
// pod has moved there and no other. The pod must have exactly one spread, which alone counts it, over
// the nodes that it may use, without a minimum number of domains, and must not be held by an affinity.
// ok says whether there are other domains than the present one.
func (s *State) Choose(pod *corev1.Pod, node string) (out Choice, ok bool) {
	c, b := s.Class(pod), s.nodes[node]
	if c < 0 || b == nil {
		return out, false
	}
	own, counting := s.spreadsOf(s.Problem.Rules.ByClass[c].Owns), s.spreadsOf(s.Problem.Rules.ByClass[c].Joins)
	if len(own) != 1 || !slices.Equal(own, counting) || s.heldByAffinity(c, b) != nil {
		return out, false
	}
	rule := &s.Problem.Rules.Domain[own[0]]
	if rule.MinDomains > 1 || !rule.Term.HonorAffinity || rule.Term.HonorTaint {
		return out, false
	}
	members, _, has := s.ledger.Spread(own[0])
	from, there := b.At[rule.Key].Sure()
	if !there || !has(from) {
		return out, false
	}
	values := s.Problem.Table.Values[rule.Key]
	out = Choice{Rule: own[0], Key: rule.Term.Key, Values: []string{values[from]}}
	for to := range members {
		if to != from && has(to) && holdsAfter(members, has, from, to, rule.Skew) {
			out.Values = append(out.Values, values[to])
		}
	}
	return out, len(out.Values) > 1
}

// spreadsOf returns the required topology spreads among some domain rules.
func (s *State) spreadsOf(rules []int) (out []int) {
	for _, r := range rules {
		if rule := &s.Problem.Rules.Domain[r]; rule.Kind == topology.Spread && rule.Term.Weight == 0 {
			out = append(out, r)
		}
	}
	return out
}

// SpreadsCounting lists the topology spreads that count a pod, by number.
func (s *State) SpreadsCounting(pod *corev1.Pod) []int {
	if c := s.Class(pod); c >= 0 {
		return s.spreadsOf(s.Problem.Rules.ByClass[c].Joins)
	}
	return nil
}

// holdsAfter says whether a spread is satisfied in all domains that have a node after a pod has moved
// from one to another.
func holdsAfter(members []int, has func(domain int) bool, from, to, skew int) bool {
	most, least, first := 0, 0, true
	for d, n := range members {
		switch d {
		case from:
			n--
		case to:
			n++
		}
		if !has(d) {
			continue
		}
		if first {
			most, least, first = n, n, false
		}
		most, least = max(most, n), min(least, n)
	}
	return most-least <= skew
}
