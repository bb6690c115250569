package disruption_test

import (
	"flag"
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
	"github.com/dovetail-sdk/dovetail/provisioning"
)

// More clusters for a longer run: DOVETAIL_LONG=all go test -run Broken -broken 1000
var (
	manyBroken  = flag.Int("broken", 120, "number of clusters with broken constraints to test")
	firstBroken = flag.Int("first-broken", 0, "seed of the first cluster with broken constraints")
)

// broken returns a cluster of three zones with broken constraints. Its pods were placed with
// topology spreads, affinity and anti-affinity; then some were removed at random and labels
// of others changed, so that many constraints no longer hold.
func (m *maker) broken(t testing.TB) disruption.Input {
	t.Helper()
	in := zonal(1, 1)
	in.Nodes = nil
	sizes := []*cloudprovider.InstanceType{sized("c.2", 2, 0.2), sized("c.4", 4, 0.4), sized("c.8", 8, 0.8)}
	for _, t := range sizes {
		t.Offerings = slices.Clone(in.InstanceTypes["web"][0].Offerings)
		for i := range t.Offerings {
			t.Offerings[i].Price = t.Offerings[i].Price * float64(t.Capacity.Get(corev1.ResourceCPU)) / 2000
		}
	}
	in.InstanceTypes["web"] = sizes
	for app := range 3 + m.IntN(4) {
		in.Pods = append(in.Pods, m.workload(fmt.Sprintf("app-%d", app))...)
	}
	plan, err := provisioning.Solve(t.Context(), in.Input, nil)
	require.NoError(t, err)
	in = disruption.AfterPlan(noon.Add(-24*time.Hour), in, plan)
	in.Pods = nil
	left := 40 + m.IntN(40)
	for i := range in.Nodes {
		n := &in.Nodes[i]
		n.Pods = slices.DeleteFunc(n.Pods, func(*corev1.Pod) bool { return !m.chance(left) })
		for _, p := range n.Pods {
			if m.chance(8) {
				p.Labels["app"] = fmt.Sprintf("app-%d", m.IntN(5))
			}
		}
	}
	in.Nodes = slices.DeleteFunc(in.Nodes, func(n provisioning.Node) bool { return len(n.Pods) == 0 })
	return in
}

// workload returns the pending pods of a random workload.
func (m *maker) workload(name string) []*corev1.Pod {
	edit, milli := m.tie(name), 100*(2+m.IntN(18))
	var over []string
	switch m.IntN(5) {
	case 0, 1:
		over = []string{corev1.LabelTopologyZone}
	case 2:
		over = []string{corev1.LabelHostname}
	case 3:
		over = []string{corev1.LabelTopologyZone, corev1.LabelHostname}
	}
	skew := int32(1 + m.IntN(2))
	var out []*corev1.Pod
	for k := range 3 + m.IntN(10) {
		p := newPod(fmt.Sprintf("%s-%d", name, k), asking(fmt.Sprintf("%dm", milli)), ofApp(name))
		p.OwnerReferences[0].Name = name
		p.Spec.TopologySpreadConstraints = nil
		for _, key := range over {
			one := newPod("", spreading(name, key)).Spec.TopologySpreadConstraints[0]
			one.MaxSkew = skew
			p.Spec.TopologySpreadConstraints = append(p.Spec.TopologySpreadConstraints, one)
		}
		edit(p)
		out = append(out, p)
	}
	return out
}

// without asks the engine where the pods of a node go when the node is removed. It returns
// whether each has a place that kube-scheduler admits while the node drains, and the price
// of the nodes to launch. The engine leaves the node out, while for kube-scheduler it
// remains a domain without pods until it is gone.
func without(t testing.TB, in disruption.Input, node string) (placed bool, cost float64) {
	t.Helper()
	p, err := provisioning.Prepare(in.Input, nil)
	require.NoError(t, err)
	p, err = p.Without(node)
	require.NoError(t, err)
	plan, err := p.Solve(t.Context())
	require.NoError(t, err)
	goes := disruption.Action{Targets: []disruption.Target{{Node: node}}, Replacements: plan.Create}
	to := map[string]disruption.Move{}
	for _, b := range plan.Bind {
		for _, pod := range b.Pods {
			to[pod.Name] = disruption.Move{Pod: pod, Node: b.Node, Replacement: -1}
		}
	}
	for i := range plan.Create {
		cost += plan.Create[i].Price()
		for _, pod := range plan.Create[i].Pods {
			to[pod.Name] = disruption.Move{Pod: pod, Replacement: i}
		}
	}
	for _, pod := range plan.Order {
		goes.Moves = append(goes.Moves, to[pod.Name])
	}
	draining, known := whileItDrains(in, goes)
	return len(plan.Unplaced) == 0 && len(faultsOf(draining, known, nil)) == 0, cost
}

// keepsItsWord checks each action of a proposal in the cluster where only the actions that it
// depends on are carried out: all moved pods are admitted, and Confirm has no objection.
func keepsItsWord(t testing.TB, seed int, now time.Time, in disruption.Input, p *disruption.Proposal, opts *disruption.Options) {
	t.Helper()
	for _, a := range p.Actions {
		world := upTo(t, now, in, p.Actions, a)
		if a.Simulated {
			require.Empty(t, standsAlone(world, a, nil), "seed %d: %s %v", seed, a, a.Moves)
		}
		objections := objectionsTo(t, now, world, a, opts)
		require.Empty(t, objections, "seed %d: %s %v", seed, a, a.Moves)
	}
}

// A drifted node is replaced if the engine finds places for its pods, even where constraints
// of pods that stay are broken already. Consolidation is on for one node in three, or for
// every node if all seeds were asked for.
func TestBrokenConstraintsDoNotStopDrift(t *testing.T) {
	testlong.Alone(t)
	t.Parallel()
	asked, replaced := 0, 0
	for _, seed := range brokenSeeds(97, 1223) {
		in := newMaker(uint64(30_000 + seed)).broken(t)
		opts := anySaving()
		after := in.NodePools[0].Spec.Disruption.ConsolidateAfter
		for i, n := range in.Nodes {
			in.NodePools[0].Spec.Disruption.ConsolidateAfter = v1.NeverDuration()
			if testlong.All() || (i+seed)%3 == 0 {
				in.NodePools[0].Spec.Disruption.ConsolidateAfter = after
			}
			placed, _ := without(t, in, n.Name())
			in.Drift = map[string]cloudprovider.Drift{n.NodeClaim.Name: {Reason: "AMIDrift"}}
			p := propose(t, in, opts)
			keepsItsWord(t, seed, noon, in, p, opts)
			goes := slices.ContainsFunc(p.Actions, func(a disruption.Action) bool {
				return a.Reason == disruption.Drifted && a.Targets[0].Node == n.Name()
			})
			if asked++; goes {
				replaced++
			}
			require.True(t, goes || !placed, "seed %d: %s %v", seed, n.Name(), p.Blocked)
		}
	}
	t.Logf("%d of %d nodes are replaced", replaced, asked)
	require.GreaterOrEqual(t, replaced, asked/2)
}

// All drifted nodes whose pods have places are replaced, over one or several proposals.
func TestBrokenConstraintsLetAllDriftedGo(t *testing.T) {
	testlong.Alone(t)
	t.Parallel()
	for _, seed := range brokenSeeds(1, 97, 111, 1223) {
		in := newMaker(uint64(30_000 + seed)).broken(t)
		in.NodePools[0].Spec.Disruption.ConsolidateAfter = v1.NeverDuration()
		in.Drift = map[string]cloudprovider.Drift{}
		for _, n := range in.Nodes {
			in.Drift[n.NodeClaim.Name] = cloudprovider.Drift{Reason: "AMIDrift"}
		}
		opts := anySaving()
		in = quiet(t, in, opts, func(now time.Time, in disruption.Input, p *disruption.Proposal) {
			keepsItsWord(t, seed, now, in, p, opts)
		})
		for _, n := range in.Nodes {
			if _, drifted := in.Drift[n.NodeClaim.Name]; drifted {
				placed, _ := without(t, in, n.Name())
				require.False(t, placed, "seed %d: %s is left: %v", seed, n.Name(), propose(t, in, opts).Blocked)
			}
		}
	}
}

// Once nothing more is proposed, the engine finds no single node whose removal or replacement
// saves money.
func TestBrokenConstraintsDoNotStopConsolidation(t *testing.T) {
	testlong.Alone(t)
	t.Parallel()
	saved := 0.0
	for _, seed := range brokenSeeds(1, 97) {
		in := newMaker(uint64(30_000 + seed)).broken(t)
		opts := anySaving()
		var rest []disruption.Blocked
		in = quiet(t, in, opts, func(now time.Time, in disruption.Input, p *disruption.Proposal) {
			keepsItsWord(t, seed, now, in, p, opts)
			saved, rest = saved+p.Savings(), p.Blocked
		})
		for _, n := range in.Nodes {
			price := 0.1
			for _, size := range in.InstanceTypes["web"] {
				if size.Name == n.Node.Labels[corev1.LabelInstanceTypeStable] {
					price = size.Offerings[0].Price
				}
			}
			placed, cost := without(t, in, n.Name())
			require.False(t, placed && cost < price-1e-6, "seed %d: %s costs %v, without it %v: %v", seed, n.Name(), price, cost, rest)
		}
	}
	require.Positive(t, saved)
}

// brokenSeeds returns the seeds to test: the given ones, and many others in the long run.
// The given ones found faults before: spreads that honor taints, nodes that depend on each
// other, and pods that have to be bound in a certain order.
func brokenSeeds(few ...int) []int {
	if !testlong.On() {
		return few
	}
	out := slices.Clone(few)
	for i := range int(testlong.Problems(*manyBroken, len(few))) {
		if seed := *firstBroken + i; !slices.Contains(few, seed) {
			out = append(out, seed)
		}
	}
	return out
}

// Scaling down has left the spread of web broken, and pods of side have affinity to web. The
// pods of the node to remove can go only to the zone that the spread allows, and they do.
func TestPodsOfBrokenSpreadsMove(t *testing.T) {
	web := func(name string) *corev1.Pod {
		return newPod(name, asking("500m"), spreading("web", corev1.LabelTopologyZone))
	}
	in := zonal(2, 1)
	for i := range in.Nodes { // web stands at 2/3/0 over the zones
		n := &in.Nodes[i]
		n.Pods = []*corev1.Pod{newPod(fmt.Sprintf("big-%d", i), asking("4"), ofApp("big"))}
		if zone := n.Node.Labels[corev1.LabelTopologyZone]; zone != "c" {
			n.Pods = append(n.Pods, web("web-"+n.Name()), newPod("side-"+n.Name(), asking("100m"), ofApp("side"), bondedTo("web", false)))
		}
		n.Node.Annotations[v1.DoNotDisruptAnnotationKey] = "true"
	}
	in.Nodes[1].Pods = append(in.Nodes[1].Pods, web("web-more"))
	goer := &in.Nodes[0]
	goer.Pods = goer.Pods[1:]
	delete(goer.Node.Annotations, v1.DoNotDisruptAnnotationKey)
	for _, reason := range []disruption.Reason{disruption.Underutilized, disruption.Drifted} {
		if reason == disruption.Drifted {
			in.Drift = map[string]cloudprovider.Drift{goer.NodeClaim.Name: {Reason: "AMIDrift"}}
		}
		p := propose(t, in, anySaving())
		require.Len(t, p.Actions, 1, "%v", p.Blocked)
		a := p.Actions[0]
		require.Equal(t, reason, a.Reason)
		require.Empty(t, a.Replacements)
		for _, m := range a.Moves {
			if m.Pod.Labels["app"] == "web" {
				require.Equal(t, "c", zoneOf(in, m.Node), "%s", m)
			}
		}
		keepsItsWord(t, 0, noon, in, p, anySaving())
	}
}

// lopsided returns a cluster of three zones in which the spreads of workloads are broken:
// replicas were removed, or a zone failed for a while. Some pods are counted by a spread
// that they do not have.
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

// orders lists orders of the actions in which each comes after the actions that it depends
// on. Of up to four actions it lists all such orders. Of more it lists the given order, the
// reverse as far as dependencies allow, and one order for each independent action, in which
// that action is first.
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

// comesAfter reports whether an action depends on one of the others.
func comesAfter(a disruption.Action, others []disruption.Action) bool {
	return slices.ContainsFunc(others, func(o disruption.Action) bool {
		return len(o.Targets) > 0 && slices.Contains(a.After, o.Targets[0].String())
	})
}

// inTurn sorts actions so that each comes after the actions that it depends on, and otherwise
// keeps their order.
func inTurn(actions []disruption.Action) []disruption.Action {
	var out []disruption.Action
	for len(actions) > 0 {
		i := slices.IndexFunc(actions, func(a disruption.Action) bool { return !comesAfter(a, actions) })
		out = append(out, actions[i])
		actions = slices.Concat(actions[:i], actions[i+1:])
	}
	return out
}

// upTo returns the cluster after only those actions that action a depends on, directly or
// through others.
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

// holdInTurn carries out actions in order, and checks that each has no fault just before.
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

// The actions of a proposal hold in any order in which each comes after the actions that it
// depends on. This includes clusters whose spreads are broken already, and spreads that
// count pods without a spread of their own.
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

// An action that saves money holds after only those replacements of drifted nodes that its
// field After names.
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

// A zone has three pods too many, and one proposal moves all three. Only two actions may
// begin at once, one for each of the other zones. The last one has to wait (field After).
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
		require.False(t, comesAfter(a, p.Actions[i:]), "an action is listed after the actions that it depends on")
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
