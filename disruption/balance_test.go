package disruption_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/disruption"
	"github.com/dovetail-sdk/dovetail/internal/testlong"
)

// lopsided returns a cluster of three zones in which workloads are not spread as they ask
// to be: replicas have gone, or a zone was away for a while. Some pods are counted by
// a spread that they do not have.
func (m *maker) lopsided() disruption.Input {
	in := zonal(3+m.IntN(3), 0)
	for app := range 2 + m.IntN(6) {
		name := fmt.Sprintf("app-%d", app)
		favourite, skew := m.IntN(3), int32(1+m.IntN(2))
		for k := range 1 + m.IntN(7) {
			zone := favourite
			if m.chance(40) {
				zone = m.IntN(3)
			}
			n := &in.Nodes[zone+3*m.IntN(len(in.Nodes)/3)]
			p := newPod(fmt.Sprintf("%s-%d", name, k), asking(fmt.Sprintf("%dm", 300*(1+m.IntN(5)))), spreading(name, corev1.LabelTopologyZone))
			p.Spec.TopologySpreadConstraints[0].MaxSkew = skew
			if m.chance(10) {
				p.Spec.TopologySpreadConstraints = nil
			}
			p.Spec.NodeName = n.Name()
			n.Pods = append(n.Pods, p)
		}
	}
	return in
}

// orders lists all orders of some actions in which each comes after those that it names,
// or of many as they are, the last that may first, and each first that may.
func orders(actions []disruption.Action) [][]disruption.Action {
	if len(actions) > 4 {
		back := slices.Clone(actions)
		slices.Reverse(back)
		out := [][]disruption.Action{actions, inTurn(back)}
		for i, a := range actions {
			if len(a.After) == 0 {
				out = append(out, slices.Concat(actions[i:i+1], actions[:i], actions[i+1:]))
			}
		}
		return out
	}
	if len(actions) == 0 {
		return [][]disruption.Action{nil}
	}
	var out [][]disruption.Action
	for i, a := range actions {
		rest := slices.Concat(actions[:i], actions[i+1:])
		if comesAfter(a, rest) {
			continue
		}
		for _, order := range orders(rest) {
			out = append(out, append([]disruption.Action{a}, order...))
		}
	}
	return out
}

// comesAfter reports whether an action comes after one of others.
func comesAfter(a disruption.Action, others []disruption.Action) bool {
	return slices.ContainsFunc(others, func(o disruption.Action) bool {
		return len(o.Targets) > 0 && slices.Contains(a.After, o.Targets[0].String())
	})
}

// inTurn has each action come after those that it names, the first given first.
func inTurn(actions []disruption.Action) []disruption.Action {
	var out []disruption.Action
	for len(actions) > 0 {
		i := slices.IndexFunc(actions, func(a disruption.Action) bool { return !comesAfter(a, actions) })
		out = append(out, actions[i])
		actions = slices.Concat(actions[:i], actions[i+1:])
	}
	return out
}

// upTo returns a cluster once those actions are done that another comes after, and none else.
func upTo(t testing.TB, now time.Time, in disruption.Input, actions []disruption.Action, a disruption.Action) disruption.Input {
	t.Helper()
	needed, again := []disruption.Action{a}, true
	for again {
		again = false
		for _, o := range actions {
			if !slices.ContainsFunc(needed, func(n disruption.Action) bool { return n.Targets[0] == o.Targets[0] }) &&
				slices.ContainsFunc(needed, func(n disruption.Action) bool { return slices.Contains(n.After, o.Targets[0].String()) }) {
				needed, again = append(needed, o), true
			}
		}
	}
	in = carriedOut(t, now, in, inTurn(needed[1:]), nil)
	return in
}

// holdInTurn checks that each action of an order has no fault once those before it are done.
func holdInTurn(t testing.TB, seed int, now time.Time, in disruption.Input, order []disruption.Action, faults func(disruption.Input, disruption.Action) []string) {
	t.Helper()
	for i, a := range order {
		if a.Simulated {
			require.Empty(t, faults(in, a), "seed %d: %s, after %v", seed, a, brief(order[:i]))
		}
		in = carriedOut(t, now, in, []disruption.Action{a}, nil)
	}
}

// crossings counts the pods that actions move to nodes of other zones.
func crossings(in disruption.Input, actions []disruption.Action) (n int) {
	for _, a := range actions {
		for _, m := range a.Moves {
			if m.Node != "" && zoneOf(in, m.From) != zoneOf(in, m.Node) {
				n++
			}
		}
	}
	return n
}

// Each action of a proposal holds in any order in which it comes after those that it
// names, also where spreads are broken as things are, and where they count pods that do
// not have them.
func TestActionsHoldInTurnWhereSpreadsAreBroken(t *testing.T) {
	testlong.Alone(t)
	t.Parallel()
	n := int(testlong.Problems(48, 2))
	seen, several, crossed := 0, 0, 0
	for seed := range n {
		m := newMaker(uint64(7_000 + seed))
		in := m.lopsided()
		if seed%2 == 1 {
			in = m.cluster(12)
			in.Pods = nil
		}
		quiet(t, in, anySaving(), func(now time.Time, in disruption.Input, p *disruption.Proposal) {
			seen, crossed = seen+len(p.Actions), crossed+crossings(in, p.Actions)
			if len(p.Actions) > 1 {
				several++
			}
			for _, order := range orders(p.Actions) {
				holdInTurn(t, seed, now, in, order, spreadFaults)
			}
		})
	}
	t.Logf("%d actions, %d proposals of several, %d pods changed zones", seen, several, crossed)
	require.Greater(t, seen, n)
	require.Greater(t, several, n/10)
	require.Greater(t, crossed, n/10)
}

// What is proposed to save money leans on no replacement of a drifted node but on those
// that it names.
func TestActionsHoldBesideThoseOfDrift(t *testing.T) {
	n := 40
	if !testlong.On() || testlong.UnderRace {
		n = 10
	}
	saving, drifted := 0, 0
	for seed := range n {
		m := newMaker(uint64(9_000 + seed))
		in := m.lopsided()
		if seed%2 == 0 {
			in = uneven(seed)
		}
		in.Drift = map[string]cloudprovider.Drift{}
		for _, node := range in.Nodes {
			if m.chance(30) {
				in.Drift[node.NodeClaim.Name] = cloudprovider.Drift{Reason: "AMIDrift"}
			}
		}
		actions := propose(t, in, anySaving()).Actions
		for _, a := range actions {
			switch a.Reason {
			case disruption.Drifted:
				drifted++
			case disruption.Underutilized:
				saving++
				require.Empty(t, spreadFaults(upTo(t, noon, in, actions, a), a), "seed %d: %s", seed, a)
			}
		}
	}
	require.Greater(t, saving, n)
	require.Greater(t, drifted, n)
}

// Of three pods too many in a zone all go in one proposal, one after the other where that
// matters: only two may begin at once, one for each of the other zones.
func TestPodsOfABrokenSpreadTakeTurns(t *testing.T) {
	in := zonal(4, 0)
	for i := range in.Nodes {
		other := newPod(fmt.Sprintf("other-%d", i), asking("4"), ofApp("other"))
		other.Spec.NodeName = in.Nodes[i].Name()
		if i%3 == 0 {
			p := newPod(fmt.Sprintf("web-%d", i/3), asking("1"), spreading("web", corev1.LabelTopologyZone))
			p.Spec.NodeName = in.Nodes[i].Name()
			in.Nodes[i].Pods = append(in.Nodes[i].Pods, p)
		} else {
			in.Nodes[i].Pods = append(in.Nodes[i].Pods, other)
			in.Nodes[i].Node.Annotations[v1.DoNotDisruptAnnotationKey] = "true"
		}
	}
	p := propose(t, in, anySaving())
	zones := map[string]int{}
	for i, a := range p.Actions {
		require.Len(t, a.Targets, 1)
		require.Empty(t, spreadFaults(upTo(t, noon, in, p.Actions, a), a))
		require.False(t, comesAfter(a, p.Actions[i:]), "it is listed after those that it names")
		for _, m := range a.Moves {
			zones[zoneOf(in, m.Node)]++
		}
	}
	require.GreaterOrEqual(t, len(p.Actions), 3)
	require.Positive(t, zones["b"])
	require.Positive(t, zones["c"])
	last := p.Actions[len(p.Actions)-1]
	require.NotEmpty(t, last.After)
	objections := objectionsTo(t, noon, in, last, anySaving())
	require.NotEmpty(t, objections)
	require.Equal(t, disruption.ObjectionBefore, objections[0].Kind)
	require.Contains(t, objections[0].String(), "which has not begun or was given up")
}
