package disruption_test

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

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
		"Provisioning.NodeFee is -1; use an amount of USD per hour, or 0",
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
	require.ErrorContains(t, faults[0], "Options: Consolidation.MinimumScore is NaN")
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
