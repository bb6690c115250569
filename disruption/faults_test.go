package disruption_test

import (
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

func TestFaultsAreListedAllAtOnce(t *testing.T) {
	in := newInput(newNode("twice", "web"), newNode("twice", "web"), provisioning.Node{},
		provisioning.Node{Node: &corev1.Node{}}, newNode("nil-pod", "web", withPods(nil)), newNode("other", "web"), newNode("shared", "web"))
	in.Nodes[6].NodeClaim = in.Nodes[5].NodeClaim
	astray := newPod("astray")
	astray.Spec.NodeName = "nil-pod"
	in.Nodes = append(in.Nodes, newNode("host", "web", withPods(astray)))
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
		`Node "other": NodeClaim: "other-claim" is listed with another node too; list it once`,
		`Node "shared": NodeClaim: "other-claim" is listed with another node too; list it once`,
		`Node "twice": is listed twice; list each node once, with its NodeClaim beside it`,
		`NodePool "lots": spec.disruption.budgets[0].nodes: `,
		`NodePool "minus": spec.replicas: is -1; use zero or more`,
		`NodePool "pair": is listed twice; list each pool once`,
		`NodePools[1]: is nil; leave it out`,
		`Nodes[2]: has neither a Node nor a NodeClaim; set at least one`,
		`Nodes[3]: metadata.name: is empty; nodes are told apart by name`,
		`Options: Groups[0].budgets[0].nodes: `,
		`Pod "shop/astray": spec.nodeName: is "nil-pod", but the pod is listed under Node "host"; list it under the node that it is bound to`,
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
