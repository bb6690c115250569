package disruption_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/disruption"
)

// Drifted nodes have one pod each of a spread over zones that is balanced. Were the pods
// to change places, each action would hold only after another.
func TestDriftedPodsOfATightSpreadDoNotChangePlaces(t *testing.T) {
	in := zonal(1, 0)
	put := func(i int, p *corev1.Pod) {
		p.Spec.NodeName = in.Nodes[i].Name()
		in.Nodes[i].Pods = append(in.Nodes[i].Pods, p)
	}
	in.Drift = map[string]cloudprovider.Drift{}
	for i := range 3 {
		put(i, newPod(fmt.Sprintf("web-%d", (i+1)%3), asking("1"), spreading("web", corev1.LabelTopologyZone)))
		in.Drift[in.Nodes[i].NodeClaim.Name] = cloudprovider.Drift{Reason: "AMIDrift"}
	}
	p := propose(t, in, nil)
	require.Len(t, p.Actions, 3, "%v", p.Blocked)
	for i, a := range p.Actions {
		require.Empty(t, standsAlone(in, a, nil), "%s", a)
		require.Equal(t, []string{zoneOf(in, in.Nodes[i].Name())}, zonesAt(a, 0))
	}
}

// zonesAt returns the zones of the options of a replacement, each once.
func zonesAt(a disruption.Action, replacement int) []string {
	var out []string
	seen := map[string]bool{}
	for _, o := range a.Replacements[replacement].Options {
		if !seen[o.Offering.Zone] {
			seen[o.Offering.Zone] = true
			out = append(out, o.Offering.Zone)
		}
	}
	return out
}

// crowded has three drifted nodes in zone a, each with a pod of a spread of which zones b
// and c have none: all three could go at once, but of any two the second holds only where
// the first has left a zone free.
func crowded() disruption.Input {
	in := zonal(4, 0)
	in.Drift = map[string]cloudprovider.Drift{}
	for i := range in.Nodes {
		other := newPod(fmt.Sprintf("other-%d", i), asking("4"), ofApp("other"))
		if i%3 == 0 {
			other = newPod(fmt.Sprintf("web-%d", i/3), asking("1"), spreading("web", corev1.LabelTopologyZone))
			in.Drift[in.Nodes[i].NodeClaim.Name] = cloudprovider.Drift{Reason: "AMIDrift"}
		}
		other.Spec.NodeName = in.Nodes[i].Name()
		in.Nodes[i].Pods = append(in.Nodes[i].Pods, other)
	}
	in.NodePools[0].Spec.Disruption.ConsolidationPolicy = v1.ConsolidationPolicyWhenEmpty
	return in
}

// Where they cannot all begin at once, they go one after the other, and those that find no
// place so are told to wait. Nothing comes to their nodes meanwhile.
func TestDriftedNodesWaitForOthersThatTheyLeanOn(t *testing.T) {
	in, now := crowded(), noon
	rounds, named := 0, 0
	for ; len(in.Drift) > 0; rounds++ {
		require.Less(t, rounds, 5, "all go in the end")
		p := proposeAt(t, now, in, nil)
		require.NotEmpty(t, p.Actions)
		late := map[string]bool{}
		for _, b := range p.Blocked {
			if b.Method != disruption.MethodDrift {
				continue
			}
			require.Equal(t, "NotSearched", disruption.RuleOf(b))
			require.Equal(t, "a topology spread over topology.kubernetes.io/zone ties its pods to those of others in this proposal, which go first; ask again after them", b.Detail)
			late[b.Node] = true
		}
		require.Len(t, in.Drift, len(p.Actions)+len(late), "each goes or waits")
		for _, order := range orders(p.Actions) {
			holdInTurn(t, rounds, now, in, order, func(in disruption.Input, a disruption.Action) []string { return standsAlone(in, a, nil) })
		}
		for _, a := range p.Actions {
			require.Equal(t, disruption.Drifted, a.Reason)
			for _, m := range a.Moves {
				require.False(t, late[m.Node], "%s comes to a node that is about to go", m.Pod.Name)
			}
			named += len(a.After)
			delete(in.Drift, a.Targets[0].NodeClaim)
		}
		in = carriedOut(t, now, in, p.Actions, nil)
		now = now.Add(time.Hour)
	}
	require.Positive(t, named)
}

// Pods may leave their zones where they must: the pool does not launch there any more.
func TestDriftedPodsLeaveAZoneThatIsNotAllowedAnyMore(t *testing.T) {
	in := zonal(1, 0)
	for i := range in.Nodes {
		p := newPod(fmt.Sprintf("web-%d", i), asking("1"), spreading("web", corev1.LabelTopologyZone))
		p.Spec.TopologySpreadConstraints[0].MaxSkew = 2
		p.Spec.NodeName = in.Nodes[i].Name()
		in.Nodes[i].Pods = []*corev1.Pod{p}
	}
	in.NodePools[0].Spec.Disruption.ConsolidationPolicy = v1.ConsolidationPolicyWhenEmpty
	in.NodePools[0].Spec.Template.Spec.Requirements = append(in.NodePools[0].Spec.Template.Spec.Requirements,
		v1.NodeSelectorRequirementWithMinValues{Key: corev1.LabelTopologyZone, Operator: corev1.NodeSelectorOpIn, Values: []string{"a", "b"}})
	p := propose(t, in, nil)
	require.Equal(t, []string{"Delete n02 RequirementsDrifted"}, brief(p.Actions), "%v", p.Blocked)
	require.Empty(t, standsAlone(in, p.Actions[0], nil))
	require.Contains(t, []string{"a", "b"}, zoneOf(in, p.Actions[0].Moves[0].Node))
}

// An affinity over nodes, where things are not as it asks for: both pods may go to one
// node, but one of them only after the other.
func TestFollowersOverNodesComeAfterTheirLeaders(t *testing.T) {
	_, medium, large, all := sizes()
	web := load("web", 500, ofApp("web"), bondedTo("db", false))
	web.Spec.Affinity.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution[0].TopologyKey = corev1.LabelHostname
	in := fleetOf(all, machine("n1", "default", medium, load("db", 500, ofApp("db"))), machine("n2", "default", medium, web),
		machine("n3", "default", large, load("other", 1000, ofApp("other"))))
	in.Drift = map[string]cloudprovider.Drift{"n1-claim": {Reason: "ImageDrift"}, "n2-claim": {Reason: "ImageDrift"}}
	in.NodePools[0].Spec.Disruption.ConsolidationPolicy = v1.ConsolidationPolicyWhenEmpty
	p := propose(t, in, nil)
	require.Equal(t, []string{"Delete n1 ImageDrift", "Delete n2 ImageDrift"}, brief(p.Actions))
	require.Empty(t, p.Actions[0].After)
	require.Equal(t, []string{"n1"}, p.Actions[1].After)
	require.Equal(t, p.Actions[0].Moves[0].Node, p.Actions[1].Moves[0].Node)
	second := p.Actions[1]
	objections := objectionsTo(t, noon, in, second, nil)
	require.Len(t, objections, 1)
	require.Equal(t, disruption.ObjectionBefore, objections[0].Kind)

	after := carriedOut(t, noon, in, p.Actions[:1], nil)
	objections = objectionsTo(t, noon, after, second, nil)
	require.Empty(t, objections)
}

// TestPodsMoveTwiceWhereNothingElseHasRoom: the pods of a drifted node go to another drifted node if no
// other place is left. The budget of the other node allows no disruption, or its turn comes later.
func TestPodsMoveTwiceWhereNothingElseHasRoom(t *testing.T) {
	_, medium, large, all := sizes()
	for _, kind := range all {
		for i := range kind.Offerings {
			kind.Offerings[i].Available = false // nothing can be launched
		}
	}
	for _, budget := range []string{"0", "1"} {
		in := fleetOf(all, machine("n1", "default", medium, load("web", 500)), machine("n2", "other", large, load("db", 500)))
		in.NodePools = append(in.NodePools, newPool("other", budgetOf(budget)))
		in.InstanceTypes["other"] = all
		in.Drift = map[string]cloudprovider.Drift{"n1-claim": {Reason: "ImageDrift"}, "n2-claim": {Reason: "ImageDrift"}}
		for _, pool := range in.NodePools {
			pool.Spec.Disruption.ConsolidationPolicy = v1.ConsolidationPolicyWhenEmpty
		}
		p := propose(t, in, nil)
		require.Equal(t, []string{"Delete n1 ImageDrift"}, brief(p.Actions), "%v", p.Blocked)
		require.Equal(t, "n2", p.Actions[0].Moves[0].Node)
	}
}

// A drifted node stays, as one of its pods has no place elsewhere. Its room is for the pending pods, for
// which new nodes were to be launched while it was about to go.
func TestANodeThatStaysHasRoomForPendingPods(t *testing.T) {
	small, large := sizedType("small", 4, 0.2), sizedType("large", 8, 0.4)
	stuck := func(p *corev1.Pod) { p.Spec.NodeSelector = map[string]string{"only": "there"} }
	in := fleetOf([]*cloudprovider.InstanceType{small, large},
		machine("goes", "default", small, load("moves", 2000)),
		machine("stays", "default", large, load("a", 3000), load("b", 2000, stuck)),
		machine("other", "default", large, load("c", 3000)))
	in.NodePools[0].Spec.Disruption.Budgets = []v1.Budget{{Nodes: "100%"}}
	in.Drift = map[string]cloudprovider.Drift{"goes-claim": {Reason: "AMIDrift"}, "stays-claim": {Reason: "AMIDrift"}}
	in.Pods = []*corev1.Pod{load("p", 2000), load("q", 2000), load("r", 2000), load("s", 3000)}
	p := propose(t, in, nil)
	require.Equal(t, []string{"Drifted goes -> small saves 0.000"}, deeds(p.Actions))
	objections, err := disruption.Confirm(t.Context(), noon, in, p.Actions[0], nil)
	require.NoError(t, err)
	require.Empty(t, objections)
}
