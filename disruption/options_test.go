package disruption_test

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/budgets"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/disruption"
	"github.com/dovetail-sdk/dovetail/provisioning"
)

func TestOptionsOutOfBoundsAreFaults(t *testing.T) {
	opts := &disruption.Options{Repair: disruption.RepairOptions{Share: math.NaN()}, Consolidation: disruption.ConsolidationOptions{MinimumSaving: -1, MinimumScore: math.NaN(), HalveScoreAfter: -time.Minute, MaxNodes: 201}, Provisioning: &provisioning.Options{NodeFee: -1, MaxSteps: -1}}
	want := []string{
		"Repair.Share is NaN; use a share of the nodes of a pool, from 0 to 1",
		"Consolidation.MinimumSaving is -1; use an amount of USD per hour, or 0",
		"Consolidation.MinimumScore is NaN; use a score such as 0.5, 0 for the default, or a negative number for none",
		"Consolidation.HalveScoreAfter is -1m0s; use a time such as 10m, or 0 for never",
		"Consolidation.MaxNodes is 201; use 1 to 200, or 0 for the default",
		"Provisioning.NodeFee is -1; use an amount of USD per hour, at most 1e+09, or 0",
		"Provisioning.MaxSteps is -1; use 0 for the default, or a positive number",
	}
	var got []string
	for _, e := range opts.Validate().(interface{ Unwrap() []error }).Unwrap() {
		got = append(got, e.Error())
	}
	require.Equal(t, want, got)

	_, err := disruption.Observe(noon, newInput(), opts)
	var observed []string
	for _, fault := range provisioning.Faults(err) {
		require.Equal(t, "Options", fault.Object)
		observed = append(observed, fault.Err.Error())
	}
	require.ElementsMatch(t, want, observed)
}

func TestOptionsWithinBoundsAreNoFaults(t *testing.T) {
	var none *disruption.Options
	require.NoError(t, none.Validate())
	for _, o := range []disruption.Options{
		{}, {Repair: disruption.RepairOptions{Share: -1}}, {Repair: disruption.RepairOptions{Share: 7}}, {Consolidation: disruption.ConsolidationOptions{MinimumScore: -1}}, {Consolidation: disruption.ConsolidationOptions{MaxNodes: 200}},
		{Consolidation: disruption.ConsolidationOptions{SpotFloor: -1, MaxSteps: -1}, Lifecycle: disruption.LifecycleOptions{LaunchTimeout: -1}}, {Provisioning: &provisioning.Options{}},
		{Consolidation: disruption.ConsolidationOptions{MinimumSaving: math.Inf(1)}},
	} {
		require.NoError(t, o.Validate(), "%+v", o)
	}
}

// A threshold that is not a number must not let everything through.
func TestThresholdThatIsNoNumberCountsAsLeftOut(t *testing.T) {
	dear, cheap := sizedType("dear", 4, 0.2), sizedType("cheap", 4, 0.17)
	in := fleetOf([]*cloudprovider.InstanceType{dear, cheap}, machine("n1", "default", dear, load("web", 3500)))
	require.Empty(t, propose(t, in, nil).Actions, "by default the saving is too small")
	require.NotEmpty(t, propose(t, in, &disruption.Options{Consolidation: disruption.ConsolidationOptions{MinimumScore: -1}}).Actions)
	p, faults, err := disruption.Propose(t.Context(), noon, in, &disruption.Options{Consolidation: disruption.ConsolidationOptions{MinimumScore: math.NaN()}})
	require.NoError(t, err)
	require.Len(t, faults, 1)
	require.ErrorContains(t, faults[0], "Options: Consolidation.MinimumScore: is NaN")
	require.Empty(t, p.Actions)
}

func TestConsolidationPolicyThatIsNotKnown(t *testing.T) {
	in := newInput(newNode("idle", "web"), newNode("busy", "web", withPods(newPod("a"))), newNode("roomy", "fine", withPods(newPod("b"))))
	in.NodePools[0].Spec.Disruption.ConsolidationPolicy = "WhenUnderutilized" // of v1beta1
	f, err := disruption.Observe(noon, in, nil)
	require.EqualError(t, err,
		`NodePool "web": spec.disruption.consolidationPolicy: is "WhenUnderutilized"; use WhenEmpty, WhenEmptyOrUnderutilized or Balanced`)
	require.Equal(t, []string{"Delete idle"}, brief(f.Emptiness().Actions))
	_, blocked := f.Candidates(disruption.MethodConsolidation)
	var details []string
	for _, b := range blocked {
		if disruption.RuleOf(b) == "PolicyWhenEmpty" {
			details = append(details, b.Node+": "+b.Detail)
		}
	}
	require.Contains(t, details, `busy: consolidationPolicy of its NodePool "web" is "WhenUnderutilized", which is not known, so only empty nodes go`)
}

// A time below zero would be over for every node at once.
func TestTimesBelowZeroCountAsNever(t *testing.T) {
	in := newInput(newNode("n", "web", func(n *provisioning.Node) {
		n.NodeClaim.Spec.ExpireAfter = v1.NewDuration(-time.Hour)
		n.NodeClaim.Spec.TerminationGracePeriod = &metav1.Duration{Duration: -time.Minute}
	}))
	in.NodePools[0].Spec.Disruption.ConsolidateAfter = v1.NewDuration(-time.Second)
	f, err := disruption.Observe(noon, in, nil)
	require.EqualError(t, err, `Node "n": NodeClaim.spec.expireAfter: is -1h0m0s; use a duration such as 720h, or Never`+"\n"+
		`Node "n": NodeClaim.spec.terminationGracePeriod: is -1m0s; use a duration such as 1h, or leave it out for no limit`+"\n"+
		`NodePool "web": spec.disruption.consolidateAfter: is -1s; use a duration such as 30s, or Never`)
	require.Empty(t, f.Actions().Actions)
}

func TestNamesThatNothingHasAreWarnings(t *testing.T) {
	in := newInput(newNode("n", "web"))
	in.Drift = map[string]cloudprovider.Drift{"n": {Reason: "Image"}}
	f := observe(t, in, &disruption.Options{
		Policies: map[string]*budgets.Policy{"wed": {}, "web": {}},
		Groups:   []budgets.Group{{Name: "g", Pools: []string{"web", "wed"}, Budgets: []v1.Budget{{Nodes: "0"}}}},
	})
	var got []string
	for _, w := range f.Warnings() {
		got = append(got, w.Error())
	}
	require.Equal(t, []string{
		`Input: Drift["n"]: is the name of a Node, so it has no effect; write the name of its NodeClaim, "n-claim"`,
		`Options: Groups[0].Pools[1]: there is no NodePool "wed", so it has no effect; write the name of a NodePool of the input`,
		`Options: Policies["wed"]: there is no NodePool "wed", so it has no effect; write the name of a NodePool of the input`,
	}, got)
}

func TestFaultsNameTheWholeField(t *testing.T) {
	in := newInput(newNode("n", "web"))
	in.NodePools[0].Spec.Disruption.Budgets = []v1.Budget{{Nodes: "-1"}, {Nodes: "1.5"}}
	in.NodePools[0].Spec.Template.Spec.Requirements = []v1.NodeSelectorRequirementWithMinValues{{Key: "a", Operator: "In"}, {Key: "b", Operator: "Near"}}
	_, err := disruption.Observe(noon, in, &disruption.Options{
		Policies: map[string]*budgets.Policy{"web": {Only: []budgets.Only{{}}}},
		Groups:   []budgets.Group{{Budgets: []v1.Budget{{Nodes: "?"}}}},
	})
	var fields []string
	for _, fault := range provisioning.Faults(err) {
		fields = append(fields, fault.Object+" "+fault.Field)
	}
	require.Equal(t, []string{
		`NodePool "web" spec.disruption.budgets[0].nodes`,
		`NodePool "web" spec.disruption.budgets[1].nodes`,
		`NodePool "web" spec.template.spec.requirements[0].values`,
		`NodePool "web" spec.template.spec.requirements[1].operator`,
		`Options Groups[0].budgets[0].nodes`,
		`Options Groups[0].name`,
		`Options Policies["web"].only[0].openings`,
	}, fields)
}

func TestNodeAnnotationsThatProtectNothing(t *testing.T) {
	annotated := func(key, text string) func(*provisioning.Node) {
		return func(n *provisioning.Node) { n.Node.Annotations = map[string]string{key: text} }
	}
	f := observe(t, newInput(
		newNode("a", "web", annotated(v1.DoNotDisruptAnnotationKey, "True")),
		newNode("b", "web", annotated(v1.DoNotDisruptAnnotationKey, "30m")),
		newNode("c", "web", annotated(v1.DoNotRepairAnnotationKey, "")),
		newNode("d", "web", annotated(v1.DoNotDisruptAnnotationKey, "false")),
		newNode("e", "web", annotated(v1.DoNotDisruptAnnotationKey, "true")),
		newNode("f", "web", annotated("karpenter.sh/do-not-consolidate", "true"), withPods(newPod("old", func(p *corev1.Pod) {
			p.Annotations = map[string]string{"karpenter.sh/do-not-evict": "true"}
		}), newPod("both", func(p *corev1.Pod) {
			p.Annotations = map[string]string{"karpenter.sh/do-not-evict": "true", v1.DoNotDisruptAnnotationKey: "true"}
		})))), nil)
	var got []string
	for _, w := range f.Warnings() {
		got = append(got, w.Error())
	}
	require.Equal(t, []string{
		`Node "a": metadata.annotations[karpenter.sh/do-not-disrupt]: "True" counts for nothing; write true, or take the annotation off`,
		`Node "b": metadata.annotations[karpenter.sh/do-not-disrupt]: "30m" counts for nothing; write true, or take the annotation off`,
		`Node "c": metadata.annotations[karpenter.sh/do-not-repair]: "" counts for nothing; write true, or take the annotation off`,
		`Node "f": metadata.annotations[karpenter.sh/do-not-consolidate]: counts for nothing since v1; write karpenter.sh/do-not-disrupt`,
		`Pod "shop/old": metadata.annotations[karpenter.sh/do-not-evict]: counts for nothing since v1; write karpenter.sh/do-not-disrupt`,
	}, got)
	require.Equal(t, []string{"Delete a", "Delete b", "Delete c", "Delete d"}, brief(f.Emptiness().Actions))
}

func TestFaultsAreListedAllAtOnce(t *testing.T) {
	in := newInput(newNode("twice", "web"), newNode("twice", "web"), provisioning.Node{},
		provisioning.Node{Node: &corev1.Node{}}, newNode("nil-pod", "web", withPods(nil)), newNode("other", "web"), newNode("shared", "web"))
	in.Nodes[6].NodeClaim = in.Nodes[5].NodeClaim
	astray := newPod("astray")
	astray.Spec.NodeName = "nil-pod"
	promised := newPod("promised")
	in.Nodes = append(in.Nodes, newNode("host", "web", withPods(astray, promised)), newNode("guest", "web", withPods(promised)))
	in.Pods = []*corev1.Pod{newPod("waits"), newPod("waits")}
	in.NodePools = append(in.NodePools, nil, newPool("minus", replicas(-1, 0)), newPool("lots", budgetOf("lots")),
		newPool("pair"), newPool("pair"))
	in.PodDisruptionBudgets = pdbs(nil, newPDB("bad", 0, func(b *policyv1.PodDisruptionBudget) {
		b.Spec.Selector.MatchExpressions = []metav1.LabelSelectorRequirement{{Key: "a", Operator: "Near"}}
	}), newPDB("web", 1), newPDB("web", 0))
	in.Instances = instances(nil, &cloudprovider.Instance{}, &cloudprovider.Instance{ID: "i"}, &cloudprovider.Instance{ID: "i"})
	f, err := disruption.Observe(noon, in, &disruption.Options{Groups: []budgets.Group{{Name: "zones", Budgets: []v1.Budget{{Nodes: "?"}}}}})
	require.Error(t, err)
	want := []string{
		`Instance "i": is listed twice; list each machine once`,
		`Instances[0]: is nil; leave it out`,
		`Instances[1]: ID: is empty; a machine cannot be named without it`,
		`Node "nil-pod": Pods[0]: is nil; leave it out`,
		`Node "twice": is listed twice; list each node once, with its NodeClaim beside it`,
		`NodeClaim "other-claim": is listed with Node "other" and with Node "shared"; list it with its own Node only`,
		`NodeClaim "other-claim": status.providerID: is "cloud://other", but that of Node "shared", with which it is listed, is "cloud://shared"; list the NodeClaim with its own Node`,
		`NodePool "lots": spec.disruption.budgets[0].nodes: `,
		`NodePool "minus": spec.replicas: is -1; use zero or more`,
		`NodePool "pair": is listed twice; list each pool once`,
		`NodePools[1]: is nil; leave it out`,
		`Nodes[2]: has neither a Node nor a NodeClaim; set at least one`,
		`Nodes[3]: metadata.name: is empty; nodes are told apart by name`,
		`Options: Groups[0].budgets[0].nodes: `,
		`Pod "shop/astray": spec.nodeName: is "nil-pod", but the pod is listed under Node "host"; list it under the node that it is bound to`,
		`Pod "shop/promised": is listed in Node.Pods of Node "guest" and in Node.Pods of Node "host"; list it once, under the node that it is bound to`,
		`Pod "shop/waits": is listed twice in Pods; list each pod once`,
		`PodDisruptionBudget "shop/bad": spec.selector: `,
		`PodDisruptionBudget "shop/web": is listed twice; list each budget once`,
		`PodDisruptionBudgets[0]: is nil; leave it out`,
	}
	got := provisioning.Faults(err)
	require.Len(t, got, len(want), "%v", err)
	for i, fault := range got {
		require.True(t, strings.HasPrefix(fault.Error(), want[i]), "%s\nshould begin with\n%s", fault, want[i])
	}
	// The rest is judged as if nothing had happened.
	require.Equal(t, []string{"Delete nil-pod"}, brief(f.Emptiness().Actions))
}

// To delete the NodeClaim of another machine would end that machine, so nodes paired with such a
// NodeClaim stay.
func TestNodeClaimsOfOtherMachines(t *testing.T) {
	for _, tt := range []struct {
		name string
		edit func(idle, busy *provisioning.Node)
		says []string
	}{
		{"by its status", func(idle, _ *provisioning.Node) {
			idle.NodeClaim.Status.NodeName, idle.NodeClaim.Status.ProviderID = "gone", "cloud://gone"
		}, []string{
			`NodeClaim "idle-claim": status.nodeName: is "gone", but the NodeClaim is listed with Node "idle"; list it with its own Node`,
			`NodeClaim "idle-claim": status.providerID: is "cloud://gone", but that of Node "idle", with which it is listed, is "cloud://idle"; list the NodeClaim with its own Node`,
		}},
		{"by a provider ID that another node has too", func(idle, busy *provisioning.Node) {
			idle.Node.Spec.ProviderID = ""
			idle.NodeClaim.Status.ProviderID = busy.Node.Spec.ProviderID
		}, []string{
			`Node "busy": spec.providerID: is "cloud://busy", as for Node "idle"; a machine is one node, so leave one of the two out`,
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			in := newInput(newNode("idle", "web"), newNode("busy", "web", withPods(newPod("p"))))
			require.Len(t, observe(t, in, nil).Emptiness().Actions, 1)
			tt.edit(&in.Nodes[0], &in.Nodes[1])
			f, err := disruption.Observe(noon, in, nil)
			var got []string
			for _, fault := range provisioning.Faults(err) {
				got = append(got, fault.Error())
			}
			require.Equal(t, tt.says, got)
			require.Empty(t, f.Emptiness().Actions)
		})
	}
}

func TestMalformedBudgetBlocksItsReasonOnly(t *testing.T) {
	in := idle(2, budgetOf("lots", v1.DisruptionReasonDrifted))
	in.Drift = driftOf("e0", "AMIDrift")
	f, err := disruption.Observe(noon, in, nil)
	require.ErrorContains(t, err, "lots")
	require.Len(t, f.Pace(f.Emptiness().Actions).Go, 2)
	require.Equal(t, []string{`e0: NodePool "web"`}, waits(f.Pace(f.Drift().Actions).Wait))
	require.True(t, f.Pace(f.Drift().Actions).Wait[0].Allowance.Decider.Malformed)
}

func TestNilOptionsAreTheDefaults(t *testing.T) {
	in := crowd(9, broken("a", -time.Hour), broken("b", -time.Hour), broken("c", -time.Hour))
	require.Len(t, observe(t, in, nil).Repair().Actions, 3, "3 of 12")
	require.Len(t, observe(t, in, &disruption.Options{Repair: disruption.RepairOptions{Share: disruption.DefaultRepairShare}}).Repair().Actions, 3)
	require.Empty(t, observe(t, in, &disruption.Options{Repair: disruption.RepairOptions{Share: 0.1}}).Repair().Actions)
	require.Empty(t, observe(t, in, &disruption.Options{Repair: disruption.RepairOptions{Share: -1}}).Repair().Actions)
	require.Len(t, observe(t, in, &disruption.Options{Repair: disruption.RepairOptions{Share: 7}}).Repair().Actions, 3)
}

func TestFaultyCatalogsAndRequirements(t *testing.T) {
	in := newInput(newNode("n", "web"))
	in.InstanceTypes["web"] = catalog(nil, newType("m.large", 1), newType("m.large", 2), newType("m.small", 1))
	in.NodePools[0].Spec.Template.Spec.Requirements = []v1.NodeSelectorRequirementWithMinValues{{Key: "zone", Operator: "Near"}}
	in.Overlays = []*v1.NodeOverlay{nil}
	f, err := disruption.Observe(noon, in, nil)
	var texts []string
	for _, fault := range provisioning.Faults(err) {
		texts = append(texts, strings.SplitAfter(fault.Error(), ": ")[1])
	}
	require.Equal(t, []string{"InstanceTypes: ", "InstanceTypes[0]: ", "spec.template.spec.requirements[0].operator: ", "Overlays[0]: "},
		append(texts[:3:3], "Overlays[0]: "), "%v", err)
	require.Len(t, texts, 4)
	require.Equal(t, "InstanceTypeNotFound", f.Drifts()[0].Reason, "a type that is listed twice is none")
}

func TestOverlaysChangePrices(t *testing.T) {
	in := newInput(newNode("n", "web"))
	overlay := &v1.NodeOverlay{ObjectMeta: metav1.ObjectMeta{Name: "discount"}}
	overlay.Spec.Requirements = []v1.NodeSelectorRequirement{{Key: v1.CapacityTypeLabelKey, Operator: corev1.NodeSelectorOpIn, Values: []string{"on-demand"}}}
	overlay.Spec.Price = new("0.07")
	in.Overlays = []*v1.NodeOverlay{overlay}
	candidates, _ := observe(t, in, nil).Candidates(disruption.MethodEmptiness)
	require.Equal(t, 0.07, candidates[0].Price)
}
