package disruption_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/disruption"
	"github.com/dovetail-sdk/dovetail/internal/corpus"
	"github.com/dovetail-sdk/dovetail/provisioning"
	"github.com/dovetail-sdk/dovetail/provisioning/progress"
)

// Three sizes at proportional prices: what saves is room that nobody uses.
func sizes() (small, medium, large *cloudprovider.InstanceType, all []*cloudprovider.InstanceType) {
	small, medium, large = sizedType("small", 2, 0.1), sizedType("medium", 4, 0.2), sizedType("large", 8, 0.4)
	return small, medium, large, []*cloudprovider.InstanceType{small, medium, large}
}

func TestConsolidation(t *testing.T) {
	small, medium, large, all := sizes()
	tests := []struct {
		name  string
		nodes func() []provisioning.Node
		want  []string
	}{
		{"a pod that fits elsewhere lets its node go", func() []provisioning.Node {
			return []provisioning.Node{machine("n1", "default", medium, load("a", 3000)), machine("n2", "default", small, load("b", 500))}
		}, []string{"Underutilized n2 ->  saves 0.100"}},
		{"a node that is too large is replaced by a smaller one", func() []provisioning.Node {
			return []provisioning.Node{machine("n1", "default", large, load("a", 1500))}
		}, []string{"Underutilized n1 -> small saves 0.300"}},
		{"two nodes become one", func() []provisioning.Node {
			return []provisioning.Node{machine("n1", "default", large, load("a", 3500)), machine("n2", "default", large, load("b", 4600))}
		}, []string{"Underutilized n1 -> medium saves 0.200"}},
		{"one node becomes two, which Karpenter never tries", func() []provisioning.Node {
			odd := sizedType("large", 8, 0.4)
			return []provisioning.Node{machine("n1", "default", odd, load("a", 3000), load("b", 1500), load("c", 500))}
		}, []string{"Underutilized n1 -> medium+small saves 0.100"}},
		{"three nodes become two", func() []provisioning.Node {
			return []provisioning.Node{
				machine("n1", "default", medium, load("a", 1900), load("a2", 1200)),
				machine("n2", "default", medium, load("b", 1900), load("b2", 1200)),
				machine("n3", "default", medium, load("c", 1900)),
			}
		}, []string{"Underutilized n3 -> small saves 0.100"}},
		{"a full node stays", func() []provisioning.Node {
			return []provisioning.Node{machine("n1", "default", small, load("a", 1800))}
		}, []string{}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			in := fleetOf(all, tt.nodes()...)
			p := propose(t, in, anySaving())
			require.Equal(t, tt.want, deeds(p.Actions), "%v", p.Blocked)
			for _, a := range p.Actions {
				require.True(t, a.Simulated)
				require.NotEmpty(t, a.Moves)
				require.NotEmpty(t, a.Detail)
			}
			require.InDelta(t, p.CostBefore-p.Savings(), p.CostAfter, 1e-9)
		})
	}
}

func TestWhyNodesAreLeftAlone(t *testing.T) {
	small, medium, large, all := sizes()
	half := func(name string) provisioning.Node { return machine(name, "default", medium, load(name+"-pod", 1000)) }
	tests := []struct {
		name string
		edit func(in *disruption.Input, o *disruption.Options)
		want []string
	}{
		{"nothing is cheaper", func(in *disruption.Input, _ *disruption.Options) {
			in.Nodes = []provisioning.Node{machine("n1", "default", small, load("a", 1500))}
		}, []string{"n1 NotCheaper"}},
		{"a pod has no other place", func(in *disruption.Input, _ *disruption.Options) {
			in.Nodes[0].Pods[0].Spec.NodeSelector = map[string]string{corev1.LabelHostname: "n1"}
		}, []string{"n1 Unplaced"}},
		{"the price is not known", func(in *disruption.Input, _ *disruption.Options) {
			in.Nodes[0] = with(in.Nodes[0], withLabel(corev1.LabelTopologyZone, "z"), func(n *provisioning.Node) {
				n.NodeClaim.CreationTimestamp = at(-30 * time.Minute) // too young to have drifted by that
			})
		}, []string{"n1 PriceUnknown"}},
		{"the saving is below a sum", func(_ *disruption.Input, o *disruption.Options) { o.Consolidation.MinimumSaving = 0.11 }, []string{"n1 SavingTooSmall"}},
		{"the saving scores too low", func(_ *disruption.Input, o *disruption.Options) { o.Consolidation.MinimumScore = 0.51 }, []string{"n1 SavingTooSmall"}},
		{"the cheaper type ran dry lately", func(in *disruption.Input, _ *disruption.Options) {
			in.UnavailableOfferings = []disruption.UnavailableOffering{{At: noon.Add(-time.Minute), Offering: cloudprovider.OfferingKey{
				InstanceType: "small", Zone: "a", CapacityType: v1.CapacityTypeOnDemand}}}
		}, []string{"n1 NotCheaper"}},
		{"nothing is launched", func(_ *disruption.Input, o *disruption.Options) { o.Consolidation.NoReplacements = true }, []string{"n1 Unplaced"}},
		{"the policy asks for balance", func(in *disruption.Input, o *disruption.Options) {
			in.NodePools[0].Spec.Disruption.ConsolidationPolicy, o.Consolidation.MinimumScore = v1.ConsolidationPolicyBalanced, -1
			in.InstanceTypes["default"] = catalog(sizedType("small", 2, 0.11), medium, large)
		}, []string{"n1 Balanced"}},
		{"the budget is spent", func(in *disruption.Input, _ *disruption.Options) { budgetOf("0")(in.NodePools[0]) }, []string{"n1 Budget"}},
		{"there are no steps", func(_ *disruption.Input, o *disruption.Options) { o.Consolidation.MaxSteps = -1 }, []string{"n1 NotSearched"}},
		{"a pending pod is about to come", func(in *disruption.Input, _ *disruption.Options) { in.Pods = []*corev1.Pod{load("p", 3000)} },
			[]string{"n1 Promised"}},
		{"the policy is WhenEmpty", func(in *disruption.Input, _ *disruption.Options) {
			in.NodePools[0].Spec.Disruption.ConsolidationPolicy = v1.ConsolidationPolicyWhenEmpty
		}, []string{"n1 PolicyWhenEmpty"}},
		{"consolidateAfter is Never", func(in *disruption.Input, _ *disruption.Options) {
			in.NodePools[0].Spec.Disruption.ConsolidateAfter = v1.NillableDuration{Raw: []byte("Never")}
		}, []string{"n1 ConsolidationOff"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			in, o := fleetOf(all, half("n1")), anySaving()
			tt.edit(&in, o)
			p := propose(t, in, o)
			require.Empty(t, p.Actions)
			require.Equal(t, tt.want, why(p), "%v", p.Blocked)
		})
	}
	t.Run("without any of that it goes", func(t *testing.T) {
		require.Equal(t, []string{"Underutilized n1 -> small saves 0.100"}, deeds(propose(t, fleetOf(all, half("n1")), nil).Actions))
	})
	_ = large
}

func TestReasonsHaveNumbers(t *testing.T) {
	small, _, _, all := sizes()
	p := propose(t, fleetOf(all, machine("n1", "default", small, load("a", 1500))), anySaving())
	require.Len(t, p.Blocked, 1+0)
	require.Equal(t, "no cheaper place for its pods: the cheapest that holds what finds no room elsewhere is small/a/on-demand at 0.1 USD/h, and it costs 0.1 USD/h",
		p.Blocked[0].Detail)
}

func TestPodsGoOnlyWhereTheyMay(t *testing.T) {
	small, medium, _, all := sizes()
	tests := []struct {
		name string
		edit func(in *disruption.Input)
	}{
		{"not to a node that others have come to lately", func(in *disruption.Input) {
			in.NodePools[0].Spec.Disruption.ConsolidateAfter = v1.NewDuration(time.Hour)
			in.PodEvents = map[string]time.Time{"n1": noon.Add(-time.Minute), "n2": noon.Add(-2 * time.Hour)}
		}},
		{"not to a node that is not ready for pods", func(in *disruption.Input) {
			delete(in.Nodes[0].Node.Labels, v1.NodeInitializedLabelKey)
			setCondition(in.Nodes[0].NodeClaim, v1.ConditionTypeInitialized, metav1.ConditionFalse, noon)
		}},
		{"not to a node that is being deleted", func(in *disruption.Input) {
			in.Nodes[0].NodeClaim.DeletionTimestamp = new(at(0))
			in.Nodes[0].Pods = nil
		}},
		{"not to a node that is dealt with", func(in *disruption.Input) {
			in.MarkedForDeletion = map[string]disruption.Reason{"n1": disruption.Empty}
			in.Nodes[0].Pods = nil
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			in := fleetOf(all, machine("n1", "default", medium, load("a", 3000)), machine("n2", "default", small, load("b", 900)))
			require.Equal(t, []string{"Underutilized n2 ->  saves 0.100"}, deeds(propose(t, in, anySaving()).Actions))
			tt.edit(&in)
			p := propose(t, in, anySaving())
			require.Empty(t, p.Actions, "%v", deeds(p.Actions))
			require.Contains(t, why(p), "n2 NotCheaper")
		})
	}
}

func TestSpotToSpotNeedsTypesToChooseFrom(t *testing.T) {
	big := sizedType("big", 8, 0, spot("a", 1))
	for _, tt := range []struct {
		cheaper, floor int
		off            bool
		want           []string
	}{
		{cheaper: 14, want: []string{}},
		{cheaper: 15, want: []string{"Underutilized n1 -> t00 saves 0.900"}},
		{cheaper: 16, want: []string{"Underutilized n1 -> t00 saves 0.900"}},
		{cheaper: 3, floor: 3, want: []string{"Underutilized n1 -> t00 saves 0.900"}},
		{cheaper: 1, floor: -1, want: []string{"Underutilized n1 -> t00 saves 0.900"}},
		{cheaper: 20, off: true, want: []string{}},
	} {
		t.Run(fmt.Sprintf("%+v", tt), func(t *testing.T) {
			types := []*cloudprovider.InstanceType{big}
			for i := range tt.cheaper {
				types = append(types, sizedType(fmt.Sprintf("t%02d", i), 2, 0, spot("a", 0.1+float64(i)/1000)))
			}
			n := with(machine("n1", "default", big, load("a", 1000)), withLabel(v1.CapacityTypeLabelKey, v1.CapacityTypeSpot))
			p := propose(t, fleetOf(types, n), &disruption.Options{Consolidation: disruption.ConsolidationOptions{MinimumScore: -1, SpotFloor: tt.floor, NoSpotToSpot: tt.off}})
			require.Equal(t, tt.want, deeds(p.Actions), "%v", p.Blocked)
			if len(tt.want) == 0 {
				require.Equal(t, []string{"n1 SpotToSpot"}, why(p))
				return
			}
			if tt.floor == 0 {
				require.Len(t, p.Actions[0].Replacements[0].Options, 15)
			}
		})
	}
}

func TestOnlyCheaperOptionsAreKept(t *testing.T) {
	mixed := sizedType("mixed", 4, 0, onDemand("a", 0.3), onDemand("b", 0.5), spot("a", 0.1))
	tiny := sizedType("tiny", 2, 0, onDemand("a", 0.2), onDemand("b", 0.4), spot("b", 0.39))
	source := sizedType("source", 8, 0.4)
	in := fleetOf([]*cloudprovider.InstanceType{mixed, tiny, source}, machine("n1", "default", source, load("a", 1500)))
	p := propose(t, in, anySaving())
	require.Len(t, p.Actions, 1)
	var got []string
	for _, o := range p.Actions[0].Replacements[0].Options {
		got = append(got, fmt.Sprintf("%s %.2f", o.Key(), o.Offering.Price))
	}
	require.Equal(t, []string{"mixed/a/spot 0.10", "tiny/a/on-demand 0.20", "mixed/a/on-demand 0.30", "tiny/b/spot 0.39"}, got)
}

// The examples of Karpenter's filter: what goes is not launched again.
func TestWhatGoesIsNotLaunchedAgain(t *testing.T) {
	medium := sizedType("medium", 4, 0.2)
	in := fleetOf([]*cloudprovider.InstanceType{medium},
		machine("n1", "default", medium, load("a", 2500)), machine("n2", "default", medium, load("b", 2500)))
	p := propose(t, in, anySaving())
	require.Empty(t, deeds(p.Actions))
}

func TestBudgetsBoundWhatBegins(t *testing.T) {
	_, medium, _, all := sizes()
	var nodes []provisioning.Node
	for i := range 12 {
		nodes = append(nodes, machine(fmt.Sprintf("n%02d", i), "default", medium, load(fmt.Sprintf("p%02d", i), 300)))
	}
	in := fleetOf(all, nodes...)
	budgetOf("3")(in.NodePools[0])
	p := propose(t, in, anySaving())
	gone := 0
	for _, a := range p.Actions {
		gone += len(a.Targets)
	}
	require.Positive(t, gone)
	require.LessOrEqual(t, gone, 3)
	require.Contains(t, fmt.Sprint(why(p)), "Budget")
}

func TestBudgetsSayWhatUsesThemUp(t *testing.T) {
	_, medium, _, all := sizes()
	tests := []struct {
		name     string
		budget   string
		notReady []int
		want     string
	}{
		{"nodes that are not Ready, by name", "2", []int{1, 4}, "lets 2 nodes go, but 2 are not Ready: n01, n04"},
		{"many that are not Ready", "6", []int{0, 1, 2, 4, 5, 6}, "lets 6 nodes go, but 6 are not Ready: n00, n01, n02, n04 and 2 more"},
		{"both", "2", []int{4}, "lets 2 nodes go, but 1 is not Ready: n04; 1 goes that saves more"},
		{"what saves more", "1", nil, "lets 1 node go, but 1 goes that saves more"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var nodes []provisioning.Node
			for i := range 8 {
				n := machine(fmt.Sprintf("n%02d", i), "default", medium, load(fmt.Sprintf("p%02d", i), 300))
				if slices.Contains(tt.notReady, i) {
					n = with(n, nodeCondition(corev1.NodeReady, corev1.ConditionUnknown, "", -time.Minute))
				}
				nodes = append(nodes, n)
			}
			in := fleetOf(all, nodes...)
			budgetOf(tt.budget)(in.NodePools[0])
			var details []string
			for _, b := range propose(t, in, anySaving()).Blocked {
				if b.Code == disruption.CodeBudget {
					details = append(details, b.Detail)
				}
			}
			require.NotEmpty(t, details)
			require.Contains(t, details[0], tt.want)
		})
	}
}

func TestDriftedNodesAreReplacedByWhatTheirPodsNeed(t *testing.T) {
	small, _, large, all := sizes()
	drift := map[string]cloudprovider.Drift{"n1-claim": {Reason: "ImageDrift"}}
	in := fleetOf(all, machine("n1", "default", large, load("a", 1500), load("b", 1500)), machine("n2", "default", small, load("c", 1000)))
	in.Drift = drift
	in.NodePools[0].Spec.Disruption.ConsolidationPolicy = v1.ConsolidationPolicyWhenEmpty
	p := propose(t, in, nil)
	require.Equal(t, []string{"Drifted n1 -> medium saves 0.200"}, deeds(p.Actions), "%v", p.Blocked)
	require.Len(t, p.Actions[0].Moves, 2)

	in.InstanceTypes["default"] = all[:1]
	in.Nodes[0].Pods = append(in.Nodes[0].Pods, load("huge", 5000))
	p = propose(t, in, nil)
	require.Empty(t, p.Actions)
	require.Equal(t, disruption.CodeUnplaced, lastOf(p.Blocked, disruption.MethodDrift).Code)
}

func lastOf(list []disruption.Blocked, m disruption.Method) disruption.Blocked {
	var out disruption.Blocked
	for _, b := range list {
		if b.Method == m {
			out = b
		}
	}
	return out
}

// TestDriftedNodesThatShareANewOneGoTogether: each has replacements of its own only if one action may
// not remove them all.
func TestDriftedNodesThatShareANewOneGoTogether(t *testing.T) {
	_, medium, _, all := sizes()
	in := fleetOf(all)
	in.Drift = map[string]cloudprovider.Drift{}
	for i := range 4 {
		name := fmt.Sprintf("n%d", i)
		in.Nodes = append(in.Nodes, machine(name, "default", medium, load(name+"-a", 900), load(name+"-b", 900)))
		in.Drift[name+"-claim"] = cloudprovider.Drift{Reason: "ImageDrift"}
	}
	p := propose(t, in, nil)
	require.Equal(t, []string{"Drifted n0+n1+n2+n3 -> large saves 0.400"}, deeds(p.Actions), "%v", p.Blocked)
	p = propose(t, in, &disruption.Options{Consolidation: disruption.ConsolidationOptions{MaxNodes: 3}})
	require.Equal(t, []string{"Drifted n0 -> small saves 0.100", "Drifted n1 -> small saves 0.100",
		"Drifted n2 -> small saves 0.100", "Drifted n3 -> small saves 0.100"}, deeds(p.Actions), "%v", p.Blocked)
}

// TestDriftedNodesShareNewOnes: nodes whose pods share a new node go together, and no more of them than
// budgets allow.
func TestDriftedNodesShareNewOnes(t *testing.T) {
	_, medium, large, _ := sizes()
	in := fleetOf(nil)
	in.Drift = map[string]cloudprovider.Drift{}
	for i := range 4 {
		name := fmt.Sprintf("n%d", i)
		in.Nodes = append(in.Nodes, machine(name, "default", large, load(name, 1800)))
		in.Drift[name+"-claim"] = cloudprovider.Drift{Reason: "ImageDrift"}
	}
	in.InstanceTypes["default"] = []*cloudprovider.InstanceType{medium, soldOut(large)}
	p := propose(t, in, nil)
	require.Equal(t, []string{"Drifted n0+n1 -> medium saves 0.600", "Drifted n2+n3 -> medium saves 0.600"}, deeds(p.Actions), "%v", p.Blocked)
	require.Len(t, p.Actions[0].Moves, 2)
	require.Empty(t, p.Waiting)

	in.NodePools[0].Spec.Disruption.Budgets = []v1.Budget{{Nodes: "2"}}
	p = propose(t, in, nil)
	require.Equal(t, []string{"Drifted n0+n1 -> medium saves 0.600"}, deeds(p.Actions), "%v", p.Blocked)
	require.Len(t, p.Waiting, 2)

	objections, err := disruption.Confirm(context.Background(), noon, in, p.Actions[0], nil)
	require.NoError(t, err)
	require.Empty(t, objections)
}

// TestNodesThatMustGoTakeNoMovedPods: they would have to move again. Where there is no other room,
// they take them all the same.
func TestNodesThatMustGoTakeNoMovedPods(t *testing.T) {
	small, medium, _, all := sizes()
	in := fleetOf(all, machine("n0", "default", small, load("a", 900)), machine("n1", "default", medium, load("b", 900)))
	in.Drift = map[string]cloudprovider.Drift{"n0-claim": {Reason: "ImageDrift"}, "n1-claim": {Reason: "ImageDrift"}}
	in.NodePools[0].Spec.Disruption.Budgets = []v1.Budget{{Nodes: "1"}}
	p := propose(t, in, nil)
	require.Equal(t, []string{"Drifted n0 -> small saves 0.000"}, deeds(p.Actions), "%v", p.Blocked)

	in.InstanceTypes["default"] = []*cloudprovider.InstanceType{soldOut(small), soldOut(medium)}
	p = propose(t, in, nil)
	require.Equal(t, []string{"Drifted n0 ->  saves 0.100"}, deeds(p.Actions), "%v", p.Blocked)
	require.Equal(t, "n1", p.Actions[0].Moves[0].Node)
}

// soldOut returns a type of which nothing can be had.
func soldOut(t *cloudprovider.InstanceType) *cloudprovider.InstanceType {
	out := t.Clone()
	for i := range out.Offerings {
		out.Offerings[i].Available = false
	}
	return out
}

func TestContextEndsTheSearch(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	p, _, err := disruption.Propose(ctx, noon, disruption.Input{}, nil)
	require.ErrorIs(t, err, context.Canceled)
	require.Nil(t, p)
	_, err = disruption.Confirm(ctx, noon, disruption.Input{}, disruption.Action{}, nil)
	require.ErrorIs(t, err, context.Canceled)
}

func TestFaultsAreReturned(t *testing.T) {
	_, _, large, all := sizes()
	in := fleetOf(all, machine("n1", "default", large, load("a", 1500)), machine("n2", "default", large), machine("n2", "default", large))
	p, faults, err := disruption.Propose(t.Context(), noon, in, anySaving())
	require.NoError(t, err)
	require.Len(t, faults, 1)
	require.ErrorContains(t, faults[0], "listed twice")
	require.Equal(t, []string{"Underutilized n1 -> small saves 0.300"}, deeds(p.Actions), "what is at fault is left alone")
}

// If the engine refuses the input, nothing is simulated, rules that need no simulation still act, and the
// faults say why.
func TestRefusedInput(t *testing.T) {
	_, _, large, all := sizes()
	expired := machine("old", "default", large, load("b", 1500))
	expired.NodeClaim.Spec.ExpireAfter = v1.NewDuration(time.Hour)
	in := fleetOf(all, machine("n1", "default", large, load("a", 1500)), expired)
	in.Pods = []*corev1.Pod{load("twice", 5), load("twice", 5)}
	p, faults, err := disruption.Propose(t.Context(), noon, in, anySaving())
	require.NoError(t, err)
	require.Len(t, faults, 1)
	require.EqualError(t, faults[0], `Pod "shop/twice": is listed twice in Pods; list each pod once`)
	require.Equal(t, []string{"n1 NotSimulated"}, why(p))
	require.Len(t, p.Actions, 1)
	require.Contains(t, p.Actions[0].String(), "Delete old (Expired): expireAfter 1h0m0s has passed")
	require.Contains(t, p.Actions[0].Detail, "; its pod is for the next plan")
	_, err = p.Explain(t.Context(), "n1")
	require.ErrorContains(t, err, "the engine refuses the input")
}

// An empty node that a pending pod is about to come to stays: it would be bought
// again at once, or not at all where limits forbid it.
func TestEmptyNodesThatPodsNeedStay(t *testing.T) {
	small, _, _, all := sizes()
	in := fleetOf(all, machine("n1", "default", small, load("a", 1900)), machine("n2", "default", small), machine("n3", "default", small))
	require.Equal(t, []string{"Empty n2 ->  saves 0.100", "Empty n3 ->  saves 0.100"}, deeds(propose(t, in, nil).Actions))

	in.Pods = []*corev1.Pod{load("waits", 1500)}
	p := propose(t, in, nil)
	require.Equal(t, []string{"Empty n3 ->  saves 0.100"}, deeds(p.Actions))
	i := slices.IndexFunc(p.Blocked, func(b disruption.Blocked) bool { return b.Node == "n2" && disruption.RuleOf(b) == "Promised" })
	require.GreaterOrEqual(t, i, 0, "%v", p.Blocked)
	require.Contains(t, p.Blocked[i].String(), `waits" is about to come here`)
}

// The receiver gets the progress of the proposal, and not of the plans within it.
func TestProposeTellsHowFarItIs(t *testing.T) {
	var events []progress.Event
	ctx := progress.With(context.Background(), func(e progress.Event) { events = append(events, e) })
	p, _, err := disruption.Propose(ctx, noon, wasteful(), nil)
	require.NoError(t, err)

	asked, searched := 0, 0
	for _, e := range events {
		assert.Equal(t, "disruption.Propose", e.Work)
		switch e.Stage {
		case "what-ifs":
			asked = e.Done
		case "search":
			searched = e.Done
			assert.Equal(t, disruption.DefaultMaxSteps, e.Total)
		}
	}
	assert.Equal(t, p.Stats.Simulations, asked)
	assert.Equal(t, p.Stats.Steps, searched)
	assert.Equal(t, "disruption.Propose: rules", events[0].String())
}

// TestCorpusOfProposals: what is proposed for clusters of all kinds is as it was.
func TestCorpusOfProposals(t *testing.T) {
	t.Parallel()
	var cases []corpus.Case
	add := func(name string, seeds uint64, input func(seed uint64) (disruption.Input, *disruption.Options)) {
		for seed := range seeds {
			cases = append(cases, corpus.Case{Name: fmt.Sprintf("%s/%d", name, seed), Answer: func() (corpus.Answer, error) {
				in, opts := input(seed)
				p, _, err := disruption.Propose(context.Background(), noon, in, opts)
				if err != nil {
					return corpus.Answer{}, err
				}
				return corpus.Answer{Value: p, Cost: p.CostAfter, Left: len(p.Blocked), Steps: p.Stats.Steps}, nil
			}})
		}
	}
	add("mixed", 60, func(seed uint64) (disruption.Input, *disruption.Options) { return newMaker(seed).mixed(20) })
	add("worn", 20, func(seed uint64) (disruption.Input, *disruption.Options) { return newMaker(seed).worn() })
	add("odd", 100, func(seed uint64) (disruption.Input, *disruption.Options) { return newMaker(seed).input() })
	corpus.Check(t, "plans/proposals.txt", 3, cases, corpus.Bounds{Left: 0.001, Mean: 0, Worst: 0.01})
}
