package pack

import "math"

// Rule is a constraint between the pods of one node. Pods take part in it as
// owners, which have the constraint, as members, which it counts, or as both.
// If no owner is on a node, anything goes there.
type Rule struct {
	Kind RuleKind
	// Limit is the most members that a node with an owner may have, for
	// AtMost. A node with more of them takes no owner.
	Limit int
}

// RuleKind tells rules apart.
type RuleKind int

const (
	// AtMost limits the members of a node.
	AtMost RuleKind = iota
	// Apart keeps members away from owners. An owner that is a member too is
	// not kept away from itself.
	Apart
)

// Membership is what a pod counts for in a rule. A class that stands for several
// pods at once counts for their sum.
type Membership struct {
	Rule    int
	Owners  int // how many have the constraint
	Members int // how many it counts
	Both    int // how many of the owners are members
}

// standing is how a node stands with a rule.
type standing struct{ owners, members, both int }

// Holds says whether a rule allows so many owners, members and owners that are members. What
// it allows it also allows with fewer pods.
func (r *Rule) Holds(owners, members, both int) bool {
	if r.Kind == AtMost {
		return owners == 0 || members <= r.Limit
	}
	return owners == 0 || members == 0 || owners == 1 && members == 1 && both == 1
}

func (r *Rule) holds(s standing) bool { return r.Holds(s.owners, s.members, s.both) }

func (s standing) plus(p *Membership, n int) standing {
	return standing{s.owners + p.Owners*n, s.members + p.Members*n, s.both + p.Both*n}
}

// Most returns how many pods with a membership, at most n, the rule allows on an empty node.
func (r *Rule) Most(p Membership, n int) int { return r.most(standing{}, &p, n) }

// most says how many pods with a membership can join, at most n.
func (r *Rule) most(s standing, p *Membership, n int) int {
	if r.holds(s.plus(p, n)) {
		return n
	}
	low, high := 0, n-1 // low is known to hold
	for low < high {
		middle := (low + high + 1) / 2
		if r.holds(s.plus(p, middle)) {
			low = middle
		} else {
			high = middle - 1
		}
	}
	return low
}

// tally keeps how one node stands with all rules. It is scratch space.
type tally struct {
	p       *Problem
	now     []standing // by rule
	touched []int
}

func newTally(p *Problem) *tally { return &tally{p: p, now: make([]standing, len(p.Rules))} }

// begin starts a new node, with what runs there already.
func (t *tally) begin(memberships []Membership) {
	for _, r := range t.touched {
		t.now[r] = standing{}
	}
	t.touched = t.touched[:0]
	t.add(memberships, 1)
}

// add puts in n pods with the given memberships; a negative n takes them out.
func (t *tally) add(memberships []Membership, n int) {
	for i := range memberships {
		p := &memberships[i]
		if t.now[p.Rule] == (standing{}) {
			t.touched = append(t.touched, p.Rule)
		}
		t.now[p.Rule] = t.now[p.Rule].plus(p, n)
	}
}

// most says how many pods of a class the rules let in, at most n.
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

// together says whether the rules let shares stand on one new node.
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

// alone says how many pods of a class the rules let stand on one new node.
func (p *Problem) alone(class int) int {
	n := math.MaxInt32
	for i := range p.Classes[class].Memberships {
		membership := &p.Classes[class].Memberships[i]
		n = p.Rules[membership.Rule].Most(*membership, n)
	}
	return n
}

// Tally tries how many pods can stand together on one node.
type Tally struct {
	t tally
}

// NewTally returns the tally of a node where pods with the given memberships are.
func NewTally(rules []Rule, memberships []Membership) *Tally {
	t := &Tally{tally{p: &Problem{Rules: rules}, now: make([]standing, len(rules))}}
	t.t.add(memberships, 1)
	return t
}

// Add puts in one pod with the given memberships if the rules allow it, and says
// whether they do.
func (t *Tally) Add(memberships []Membership) bool {
	for i := range memberships {
		p := &memberships[i]
		if t.t.p.Rules[p.Rule].most(t.t.now[p.Rule], p, 1) == 0 {
			return false
		}
	}
	t.t.add(memberships, 1)
	return true
}
