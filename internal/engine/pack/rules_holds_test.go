package pack

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// individual is one pod as a rule sees it.
type individual struct{ owner, member bool }

// individuals takes the pods apart that a membership stands for.
func individuals(p Membership) []individual {
	var out []individual
	for range p.Both {
		out = append(out, individual{true, true})
	}
	for range p.Owners - p.Both {
		out = append(out, individual{true, false})
	}
	for range p.Members - p.Both {
		out = append(out, individual{false, true})
	}
	return out
}

// allowed asks every owner whether it may be there with the others.
func allowed(r Rule, pods []individual) bool {
	for i, p := range pods {
		if !p.owner {
			continue
		}
		members, others := 0, 0
		for j, q := range pods {
			if q.member {
				members++
				if i != j {
					others++
				}
			}
		}
		if r.Kind == AtMost && members > r.Limit || r.Kind == Apart && others > 0 {
			return false
		}
	}
	return true
}

func someRules() []Rule {
	return []Rule{{Kind: Apart}, {Kind: AtMost, Limit: 1}, {Kind: AtMost, Limit: 2}, {Kind: AtMost, Limit: 5}}
}

// everyMembership lists the memberships of up to the given number of pods.
func everyMembership(most int) []Membership {
	var out []Membership
	for owners := 0; owners <= most; owners++ {
		for members := 0; members <= most; members++ {
			for both := 0; both <= min(owners, members); both++ {
				if owners+members-both <= most {
					out = append(out, Membership{Owners: owners, Members: members, Both: both})
				}
			}
		}
	}
	return out
}

func TestRuleHolds(t *testing.T) {
	for _, tt := range []struct {
		name string
		rule Rule
		s    Membership
		want bool
	}{
		{"nobody", Rule{Kind: Apart}, Membership{}, true},
		{"members without an owner", Rule{Kind: Apart}, Membership{Members: 9}, true},
		{"owners that are no members", Rule{Kind: Apart}, Membership{Owners: 9}, true},
		{"an owner that is a member", Rule{Kind: Apart}, Membership{Owners: 1, Members: 1, Both: 1}, true},
		{"two of these", Rule{Kind: Apart}, Membership{Owners: 2, Members: 2, Both: 2}, false},
		{"an owner and another that is a member", Rule{Kind: Apart}, Membership{Owners: 1, Members: 1}, false},
		{"an owner that is a member, and a mere owner", Rule{Kind: Apart}, Membership{Owners: 2, Members: 1, Both: 1}, false},
		{"an owner that is a member, and a mere member", Rule{Kind: Apart}, Membership{Owners: 1, Members: 2, Both: 1}, false},
		{"any number of members, and no owner to mind", Rule{Kind: AtMost, Limit: 1}, Membership{Members: 9}, true},
		{"as many as the limit", Rule{Kind: AtMost, Limit: 2}, Membership{Owners: 2, Members: 2, Both: 2}, true},
		{"one more", Rule{Kind: AtMost, Limit: 2}, Membership{Owners: 3, Members: 3, Both: 3}, false},
		{"one owner among too many members", Rule{Kind: AtMost, Limit: 2}, Membership{Owners: 1, Members: 3}, false},
		{"owners do not count unless they are members", Rule{Kind: AtMost, Limit: 2}, Membership{Owners: 9, Members: 2}, true},
	} {
		t.Run(tt.name, func(t *testing.T) { require.Equal(t, tt.want, tt.rule.Holds(tt.s)) })
	}
}

// TestRuleAgainstOwners compares Holds with what each owner says, for all small
// groups of pods.
func TestRuleAgainstOwners(t *testing.T) {
	for _, r := range someRules() {
		for _, p := range everyMembership(6) {
			require.Equal(t, allowed(r, individuals(p)), r.Holds(Membership{}.plus(&p, 1)), "%+v %+v", r, p)
		}
	}
}

// TestRuleAllowsFewer: what a rule allows it allows with any pod less.
func TestRuleAllowsFewer(t *testing.T) {
	for _, r := range someRules() {
		for _, p := range everyMembership(6) {
			if !r.Holds(Membership{}.plus(&p, 1)) {
				continue
			}
			for _, less := range []Membership{
				{Owners: p.Owners - 1, Members: p.Members, Both: p.Both},
				{Owners: p.Owners, Members: p.Members - 1, Both: p.Both},
				{Owners: p.Owners - 1, Members: p.Members - 1, Both: p.Both - 1},
			} {
				if less.Both >= 0 && less.Both <= min(less.Owners, less.Members) {
					require.True(t, r.Holds(Membership{}.plus(&less, 1)), "%+v: %+v is allowed, %+v not", r, p, less)
				}
			}
		}
	}
}

// TestRuleMost compares the number that may join with trying one after the
// other.
func TestRuleMost(t *testing.T) {
	for _, r := range someRules() {
		for _, there := range everyMembership(4) {
			now := Membership{}.plus(&there, 1)
			if !r.Holds(now) {
				continue
			}
			for _, membership := range everyMembership(2) {
				for n := range 8 {
					want := 0
					for want < n && r.Holds(now.plus(&membership, want+1)) {
						want++
					}
					require.Equal(t, want, r.most(now, &membership, n), "%+v on %+v, %d of %+v", r, there, n, membership)
				}
			}
		}
	}
}

// TestRuleMostOfACrowdedNode: a node that breaks a rule already, as pods may
// that were bound by hand, takes no owner and no member more.
func TestRuleMostOfACrowdedNode(t *testing.T) {
	now := Membership{Owners: 3, Members: 3, Both: 3}
	for _, r := range []Rule{{Kind: Apart}, {Kind: AtMost, Limit: 2}} {
		require.Zero(t, r.most(now, &Membership{Owners: 1, Members: 1, Both: 1}, 5))
		require.Zero(t, r.most(now, &Membership{Members: 1}, 5))
	}
}

// TestTally plays random arrivals and departures on one node against a list of
// the pods there.
func TestTally(t *testing.T) {
	memberships := everyMembership(1)
	for seed := range uint64(300) {
		rng := rand.New(rand.NewPCG(seed, 3))
		p := &Problem{Rules: someRules()}
		for range 4 {
			class := Class{}
			for r := range p.Rules {
				if rng.IntN(2) == 0 {
					membership := memberships[rng.IntN(len(memberships))]
					membership.Rule = r
					class.Memberships = append(class.Memberships, membership)
				}
			}
			p.Classes = append(p.Classes, class)
		}
		tally := newTally(p)
		for range 3 { // nodes
			tally.begin(nil)
			var there []int
			for range 12 {
				c := rng.IntN(len(p.Classes))
				want := 0
				for want < 3 && standTogether(p, append(there, repeated(c, want+1)...)) {
					want++
				}
				got := tally.most(c, 3)
				require.Equal(t, want, got, "seed %d: class %d beside %v", seed, c, there)
				if got > 0 {
					tally.add(p.Classes[c].Memberships, got)
					there = append(there, repeated(c, got)...)
				}
				if len(there) > 0 && rng.IntN(3) == 0 {
					gone := rng.IntN(len(there))
					tally.add(p.Classes[there[gone]].Memberships, -1)
					there = append(there[:gone:gone], there[gone+1:]...)
				}
			}
			requireTogether(t, p, tally, there)
		}
	}
}

func repeated(c, n int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = c
	}
	return out
}

// standTogether asks each rule, of all pods of some classes.
func standTogether(p *Problem, classes []int) bool {
	for r := range p.Rules {
		var pods []individual
		for _, c := range classes {
			for _, membership := range p.Classes[c].Memberships {
				if membership.Rule == r {
					pods = append(pods, individuals(membership)...)
				}
			}
		}
		if !allowed(p.Rules[r], pods) {
			return false
		}
	}
	return true
}

// requireTogether: pods that came one by one may stand together, as shares and
// as Rule.Admits sees them.
func requireTogether(t *testing.T, p *Problem, tally *tally, classes []int) {
	t.Helper()
	counts := make([]int, len(p.Classes))
	var there []Membership
	for _, c := range classes {
		counts[c]++
		require.True(t, admits(p, c, there))
		there = AddPods(there, 1, p.Classes[c].Memberships...)
	}
	var shares []Share
	for c, n := range counts {
		if n > 0 {
			shares = append(shares, Share{Class: c, Count: n})
			require.LessOrEqual(t, n, p.alone(c))
		}
	}
	require.True(t, tally.together(shares))
	for c := range p.Classes {
		require.Equal(t, standTogether(p, append(classes[:len(classes):len(classes)], c)), admits(p, c, membershipsOf(p, classes)))
	}
}

// admits asks each rule of a class.
func admits(p *Problem, class int, there []Membership) bool {
	return !slices.ContainsFunc(p.Classes[class].Memberships, func(m Membership) bool { return !p.Rules[m.Rule].Admits(m, there) })
}

// membershipsOf sums up what pods of some classes count for, by rule.
func membershipsOf(p *Problem, classes []int) []Membership {
	var out []Membership
	for r := range p.Rules {
		sum := Membership{Rule: r}
		for _, c := range classes {
			for _, membership := range p.Classes[c].Memberships {
				if membership.Rule == r {
					sum.Owners, sum.Members, sum.Both = sum.Owners+membership.Owners, sum.Members+membership.Members, sum.Both+membership.Both
				}
			}
		}
		if sum != (Membership{Rule: r}) {
			out = append(out, sum)
		}
	}
	return out
}
