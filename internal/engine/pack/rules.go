package pack

import (
	"cmp"
	"math"
	"slices"
)

// Rule is a constraint between the pods of one node. Its owners are the pods that have the
// constraint, and its members the pods that it counts; a pod may be both. A node without owners may
// have any pods.
type Rule struct {
	Kind RuleKind
	// For AtMost: Limit is the largest number of members on a node with an owner. A node with more
	// members takes no owner.
	Limit int
}

// RuleKind is a kind of rule.
type RuleKind int

const (
	// AtMost limits the members on a node.
	AtMost RuleKind = iota
	// Apart excludes members from nodes with an owner, and owners from nodes with a member. A pod
	// that is both does not exclude itself.
	Apart
)

// Membership is how a pod counts in a rule. A class that stands for several pods counts for their
// sum.
type Membership struct {
	Rule    int
	Owners  int // number of pods that have the constraint
	Members int // number of pods that it counts
	Both    int // number of owners that are members too
}

// AddPods adds n pods, each with the given memberships, to the memberships sum of other pods; n may
// be negative. sum is sorted by rule and has each rule once, and so has the result.
func AddPods(sum []Membership, n int, pod ...Membership) []Membership {
	if len(sum) == 0 {
		sum = slices.Grow(sum, len(pod))
	}
	for _, m := range pod {
		i, ok := find(sum, m.Rule)
		if !ok {
			sum = slices.Insert(sum, i, Membership{Rule: m.Rule})
		}
		sum[i] = sum[i].plus(&m, n)
	}
	return sum
}

// find returns the index of a rule in memberships sorted by rule, and whether the rule is there.
func find(in []Membership, rule int) (int, bool) {
	return slices.BinarySearchFunc(in, rule, func(m Membership, rule int) int { return cmp.Compare(m.Rule, rule) })
}

// Admits says whether the rule allows one more pod with a membership in it on a node with pods of
// the memberships there, sorted by rule.
func (r *Rule) Admits(pod Membership, there []Membership) bool {
	return r.Holds(InRule(there, pod.Rule).plus(&pod, 1))
}

// InRule returns the membership in a rule of pods with the memberships sum, sorted by rule. It counts
// no pods if sum does not have the rule.
func InRule(sum []Membership, rule int) Membership {
	if i, ok := find(sum, rule); ok {
		return sum[i]
	}
	return Membership{Rule: rule}
}

// Holds says whether a rule allows pods with this sum of memberships. If it allows some numbers, it
// allows any smaller ones.
func (r *Rule) Holds(s Membership) bool {
	if r.Kind == AtMost {
		return s.Owners == 0 || s.Members <= r.Limit
	}
	return s.Owners == 0 || s.Members == 0 || s.Owners == 1 && s.Members == 1 && s.Both == 1
}

// plus returns a sum of memberships with n more pods of membership p.
func (s Membership) plus(p *Membership, n int) Membership {
	s.Owners, s.Members, s.Both = s.Owners+p.Owners*n, s.Members+p.Members*n, s.Both+p.Both*n
	return s
}

// Most returns how many pods with a membership, at most n, the rule allows on an empty node.
func (r *Rule) Most(p Membership, n int) int { return r.most(Membership{}, &p, n) }

// most returns how many pods with a membership can join others of the sum s, at most n.
func (r *Rule) most(s Membership, p *Membership, n int) int {
	if r.Holds(s.plus(p, n)) {
		return n
	}
	low, high := 0, n-1 // low is allowed
	for low < high {
		middle := (low + high + 1) / 2
		if r.Holds(s.plus(p, middle)) {
			low = middle
		} else {
			high = middle - 1
		}
	}
	return low
}

// tally counts the rules on one node. It is scratch space.
type tally struct {
	p       *Problem
	now     []Membership // by rule
	touched []int
}

func newTally(p *Problem) *tally { return &tally{p: p, now: make([]Membership, len(p.Rules))} }

// begin starts a new node with the memberships of pods that run there.
func (t *tally) begin(memberships []Membership) {
	for _, r := range t.touched {
		t.now[r] = Membership{}
	}
	t.touched = t.touched[:0]
	t.add(memberships, 1)
}

// add adds n pods with the given memberships; a negative n removes them.
func (t *tally) add(memberships []Membership, n int) {
	for i := range memberships {
		p := &memberships[i]
		if t.now[p.Rule] == (Membership{}) {
			t.touched = append(t.touched, p.Rule)
		}
		t.now[p.Rule] = t.now[p.Rule].plus(p, n)
	}
}

// most returns how many pods of a class the rules allow to join, at most n.
func (t *tally) most(class, n int) int {
	memberships := t.p.Classes[class].Memberships
	for i := range memberships {
		if n == 0 {
			return 0
		}
		p := &memberships[i]
		n = t.p.Rules[p.Rule].most(t.now[p.Rule], p, n)
	}
	return n
}

// together says whether the rules allow shares on one new node.
func (t *tally) together(shares []Share) bool {
	t.begin(nil)
	for _, s := range shares {
		if t.most(s.Class, s.Count) < s.Count {
			return false
		}
		t.add(t.p.Classes[s.Class].Memberships, s.Count)
	}
	return true
}

// alone returns how many pods of a class the rules allow on one new node.
func (p *Problem) alone(class int) int {
	n := math.MaxInt32
	for i := range p.Classes[class].Memberships {
		membership := &p.Classes[class].Memberships[i]
		n = p.Rules[membership.Rule].Most(*membership, n)
	}
	return n
}
