package disruption_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/budgets"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/disruption"
	"github.com/dovetail-sdk/dovetail/provisioning"
)

// idle returns a pool of the given number of empty nodes, e0, e1 and so on.
func idle(n int, edits ...func(*v1.NodePool)) disruption.Input {
	var nodes []provisioning.Node
	for i := range n {
		nodes = append(nodes, newNode(fmt.Sprintf("e%d", i), "web"))
	}
	in := newInput(nodes...)
	in.NodePools = []*v1.NodePool{newPool("web", edits...)}
	return in
}

func paceEmpty(t *testing.T, in disruption.Input, opts *disruption.Options) disruption.Pacing {
	t.Helper()
	f := observe(t, in, opts)
	return f.Pace(f.Emptiness().Actions)
}

func TestPaceKeepsToBudgets(t *testing.T) {
	notReady := nodeCondition(corev1.NodeReady, corev1.ConditionFalse, "", 0)
	tests := []struct {
		name string
		in   disruption.Input
		go_  int
	}{
		{"no budget", idle(9), 9},
		{"10% of 10", idle(10, budgetOf("10%")), 1},
		{"10% of 11", idle(11, budgetOf("10%")), 2},
		{"count", idle(9, budgetOf("4")), 4},
		{"zero", idle(9, budgetOf("0")), 0},
		{"for another reason", idle(9, budgetOf("0", v1.DisruptionReasonDrifted)), 9},
		{"the least of those that apply", idle(9, budgetOf("5"), budgetOf("3", v1.DisruptionReasonEmpty)), 3},
		{"default of an absent list", func() disruption.Input {
			in := idle(9)
			in.NodePools[0].Spec.Disruption.Budgets = nil
			return in
		}(), 1},
		{"those on their way out count", func() disruption.Input {
			in := idle(9, budgetOf("4"))
			in.Nodes = append(in.Nodes, newNode("gone", "web", func(n *provisioning.Node) { n.NodeClaim.DeletionTimestamp = new(at(0)) }))
			in.MarkedForDeletion = map[string]disruption.Reason{"e0": disruption.Drifted}
			return in
		}(), 2},
		{"rebooting and not ready count", func() disruption.Input {
			in := idle(9, budgetOf("4"))
			in.Nodes = append(in.Nodes, newNode("r", "web", withCondition(v1.ConditionTypeRebooting, metav1.ConditionTrue, 0)),
				newNode("x", "web", notReady, withPods(newPod("p"))))
			return in
		}(), 2},
		{"accepted by the cloud does not count", func() disruption.Input {
			in := idle(9, budgetOf("4"))
			in.Nodes = append(in.Nodes, newNode("gone", "web", withCondition(v1.ConditionTypeInstanceTerminating, metav1.ConditionTrue, 0)))
			return in
		}(), 4},
		{"a node that is not ready takes no second place", func() disruption.Input {
			in := idle(3, budgetOf("2"))
			notReady(&in.Nodes[0])
			return in
		}(), 2},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := paceEmpty(t, tt.in, nil)
			require.Len(t, p.Go, tt.go_)
			for _, w := range p.Wait {
				require.Equal(t, `NodePool "web"`, w.For)
				require.Zero(t, w.Allowance.Nodes)
			}
		})
	}
}

func TestPaceSaysUntilWhen(t *testing.T) {
	in := idle(3)
	in.NodePools[0].Spec.Disruption.Budgets = []v1.Budget{{Nodes: "1", Schedule: new("0 9 * * *"), Duration: &metav1.Duration{Duration: 8 * time.Hour}}}
	p := paceEmpty(t, in, nil)
	require.Equal(t, []string{"Delete e0"}, brief(p.Go))
	require.Equal(t, []string{`e1: NodePool "web"`, `e2: NodePool "web"`}, waits(p.Wait))
	require.Equal(t, noon.Add(5*time.Hour), p.Wait[0].Until)
	require.Equal(t, noon.Add(5*time.Hour), p.Next)
	require.Equal(t, `budgets[0] of NodePool "web" lets 1 node go, and 1 counts already`, p.Wait[0].Why)
}

func TestForcefulActionsCountForBudgets(t *testing.T) {
	in := idle(4, budgetOf("2"))
	expiresAfter(v1.NewDuration(time.Hour))(&in.Nodes[3])
	f := observe(t, in, nil)
	p := f.Pace(f.Actions().Actions)
	require.Equal(t, []string{"Delete e3", "Delete e0"}, brief(p.Go), "e3 expires")
	require.Equal(t, []string{`e1: NodePool "web"`, `e2: NodePool "web"`}, waits(p.Wait))
}

func TestRepairAndBudgets(t *testing.T) {
	in := crowd(9, broken("n", -time.Hour))
	for _, n := range in.Nodes[1:3] {
		nodeCondition(corev1.NodeReady, corev1.ConditionUnknown, "", 0)(&n)
	}
	pace := func(budget string) disruption.Pacing {
		in.NodePools = []*v1.NodePool{newPool("web", budgetOf(budget))}
		f := observe(t, in, nil)
		return f.Pace(f.Repair().Actions)
	}
	require.Len(t, pace("1").Go, 1, "nodes that are not ready do not stand in the way of repair")
	require.Len(t, pace("0").Wait, 1)
	delete(in.Nodes[0].Node.Labels, v1.NodeInitializedLabelKey)
	require.Len(t, pace("0").Go, 1, "a node that is not initialized is repaired outside of budgets")
}

func TestGroups(t *testing.T) {
	zone := corev1.LabelTopologyZone
	in := newInput(newNode("a1", "web"), newNode("a2", "web"), newNode("b1", "web", withLabel(zone, "b")))
	in.InstanceTypes["web"] = catalog(newType("m.large", 0, cloudprovider.Offering{Zone: "a", CapacityType: v1.CapacityTypeOnDemand, Price: 1},
		cloudprovider.Offering{Zone: "b", CapacityType: v1.CapacityTypeOnDemand, Price: 1}))
	p := paceEmpty(t, in, &disruption.Options{Groups: []budgets.Group{{Name: "zones", Each: zone, Budgets: []v1.Budget{{Nodes: "1"}}}}})
	require.Equal(t, []string{"Delete a1", "Delete b1"}, brief(p.Go))
	require.Equal(t, []string{`a2: group "zones", topology.kubernetes.io/zone=a`}, waits(p.Wait))
	p = paceEmpty(t, in, &disruption.Options{Groups: []budgets.Group{{Name: "zone b", Labels: map[string]string{zone: "b"}, Budgets: []v1.Budget{{Nodes: "0"}}}}})
	require.Equal(t, []string{`b1: group "zone b"`}, waits(p.Wait))
	p = paceEmpty(t, in, &disruption.Options{Groups: []budgets.Group{{Name: "others", Pools: []string{"other"}, Budgets: []v1.Budget{{Nodes: "0"}}}}})
	require.Len(t, p.Go, 3)
}

// shelters returns a pool whose nodes hold the given number of pods of one application each, all
// drifted so that they are to be replaced.
func shelters(allowed int32, pods ...int) disruption.Input {
	in := newInput()
	in.Drift = map[string]cloudprovider.Drift{}
	for i, n := range pods {
		name := fmt.Sprintf("n%d", i)
		node := newNode(name, "web")
		for j := range n {
			node.Pods = append(node.Pods, newPod(fmt.Sprintf("%s-%d", name, j)))
		}
		in.Nodes = append(in.Nodes, node)
		in.Drift[name+"-claim"] = cloudprovider.Drift{Reason: "AMIDrift"}
	}
	in.PodDisruptionBudgets = pdbs(newPDB("web", allowed))
	return in
}

func TestPodDisruptionBudgetsCountOverAllActions(t *testing.T) {
	bounded := func(in disruption.Input, node int) disruption.Input {
		withGrace(time.Hour)(&in.Nodes[node])
		return in
	}
	atOnce := &disruption.Options{EvictAtOnce: true}
	tests := []struct {
		name string
		in   disruption.Input
		opts *disruption.Options
		go_  []string
		wait []string
	}{
		{"one each", shelters(2, 1, 1, 1), nil, []string{"n0", "n1"}, []string{`n2: PodDisruptionBudget "shop/web"`}},
		{"one after the other", shelters(1, 3, 1), nil, []string{"n0"}, []string{`n1: PodDisruptionBudget "shop/web"`}},
		{"what is left is enough to begin", shelters(3, 2, 2, 1), nil, []string{"n0", "n1"}, []string{`n2: PodDisruptionBudget "shop/web"`}},
		{"at once", shelters(3, 2, 2, 1), atOnce, []string{"n0", "n2"}, []string{`n1: PodDisruptionBudget "shop/web"`}},
		{"at once, too many on one node", shelters(1, 2), atOnce, []string{}, []string{}},
		{"nodes without pods do not care", shelters(1, 1, 0), nil, []string{"n1", "n0"}, []string{}},
		{"a bound on the drain overrides", bounded(shelters(1, 1, 1), 1), nil, []string{"n0", "n1"}, []string{}},
		{"and counts for those after it", bounded(shelters(1, 1, 1), 0), nil, []string{"n0"}, []string{`n1: PodDisruptionBudget "shop/web"`}},
		{"those on their way out count", func() disruption.Input {
			in := shelters(1, 1, 1)
			in.MarkedForDeletion = map[string]disruption.Reason{"n0": disruption.Drifted}
			return in
		}(), nil, []string{}, []string{`n1: PodDisruptionBudget "shop/web"`}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f := observe(t, tt.in, tt.opts)
			p := f.Pace(f.Drift().Actions)
			names := []string{}
			for _, a := range p.Go {
				names = append(names, a.Targets[0].Node)
			}
			require.Equal(t, tt.go_, names)
			require.Equal(t, tt.wait, waits(p.Wait))
		})
	}
}

func TestPaceOfActionsFromOutside(t *testing.T) {
	f := observe(t, idle(3, budgetOf("2")), nil)
	target := func(names ...string) (out []disruption.Target) {
		for _, n := range names {
			out = append(out, disruption.Target{Node: n})
		}
		return out
	}
	p := f.Pace([]disruption.Action{
		{Reason: disruption.Underutilized, Operation: disruption.Replace, Targets: target("e0", "e1", "e2")},
		{Reason: disruption.Underutilized, Operation: disruption.Replace, Targets: target("e0", "e1")},
		{Reason: disruption.Empty, Operation: disruption.Delete, Targets: target("e1")},
		{Reason: disruption.Empty, Operation: disruption.Delete, Targets: target("unknown")},
		{Reason: disruption.Empty, Operation: disruption.Delete},
		{Reason: disruption.GarbageCollected, Operation: disruption.Terminate, Targets: []disruption.Target{{ProviderID: "i-1"}}},
	})
	require.Equal(t, []string{"Replace e0 e1", "Delete", "Terminate i-1"}, brief(p.Go), "all nodes of an action or none")
	require.Len(t, p.Wait, 3)
	require.Equal(t, `NodePool "web"`, p.Wait[0].For)
	require.Equal(t, `Node "e1"`, p.Wait[1].For)
	require.Equal(t, `Node "unknown"`, p.Wait[2].For)
}

func TestStaticSlotsAreSharedByAllActions(t *testing.T) {
	in := crowd(0, broken("sick", -time.Hour, withPods(newPod("p"))), newNode("old", "web", withPods(newPod("q"))),
		newNode("x", "web"), newNode("y", "web"), newNode("z", "web"))
	in.NodePools = []*v1.NodePool{newPool("web", replicas(5, 6))}
	in.Drift = driftOf("old", "AMIDrift")
	f := observe(t, in, nil)
	r := f.Actions()
	require.Equal(t, []string{"Replace sick Ready", "Replace old AMIDrift"}, brief(r.Actions))
	p := f.Pace(r.Actions)
	require.Equal(t, []string{"Replace sick Ready"}, brief(p.Go))
	require.Equal(t, "the pool is at its limit of nodes", p.Wait[0].Why)
}

// Nodes could become one that is cheaper than they are together, but the budget lets fewer
// go. It is what keeps them, and no price: fewer have no cheaper place. The reason says so
// whichever search comes upon them.
func TestTheBudgetThatKeepsNodesFromGoingTogether(t *testing.T) {
	pair := []*cloudprovider.InstanceType{sized("c.2", 2, 0.2), sized("c.4", 4, 0.3), sized("c.3", 3, 0.25)}
	five := []*cloudprovider.InstanceType{sized("c.2", 2, 0.12), sized("c.10", 10, 0.5), sized("c.1", 1, 0.06)}
	const one = "n0, n1 would save 0.1 USD/h together, and budgets[0] of NodePool \"web\" lets 1 node go"
	for _, tt := range []struct {
		name         string
		types        []*cloudprovider.InstanceType // the first is that of the small nodes, the last that of the others
		small, other int
		ample, tight string // budgets
		want         string
	}{
		{"all sets", pair, 2, 1, "2", "20%", one},
		{"neighbours", pair, 2, 8, "2", "1", one},
		{"many at once", five, 5, 8, "5", "4", "n0, n1, n2, n3 and 1 more would save 0.1 USD/h together, and budgets[0] of NodePool \"web\" lets 4 nodes go"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			scene := func(budget string) *disruption.Proposal {
				in := roomyInput()
				in.InstanceTypes["web"], in.Nodes = tt.types, nil
				for i := range tt.small {
					cheap := func(p *corev1.Pod) {
						asking("950m")(p)
						p.Annotations = map[string]string{corev1.PodDeletionCost: "-134217728"}
					}
					in.Nodes = append(in.Nodes, roomy(fmt.Sprint("n", i), "c.2", 2, newPod(fmt.Sprint("a", i), cheap), newPod(fmt.Sprint("b", i), cheap)))
				}
				last := tt.types[len(tt.types)-1]
				room := last.Capacity.ResourceList()
				for i := range tt.other { // full, of a type that their pods select
					cpu := room.Cpu().Value()
					pod := newPod(fmt.Sprint("c", i), asking(fmt.Sprintf("%d900m", cpu-1)))
					pod.Spec.NodeSelector = map[string]string{corev1.LabelInstanceTypeStable: last.Name}
					pod.Annotations = map[string]string{corev1.PodDeletionCost: "2147483647"}
					in.Nodes = append(in.Nodes, roomy(fmt.Sprint("other", i), last.Name, cpu, pod))
				}
				in.NodePools[0].Spec.Disruption.Budgets = newPool("web", budgetOf(budget)).Spec.Disruption.Budgets
				return propose(t, in, &disruption.Options{Consolidation: disruption.ConsolidationOptions{MinimumScore: -1}})
			}
			require.Len(t, scene(tt.ample).Actions, 1, "with all of them")
			p := scene(tt.tight)
			require.Empty(t, p.Actions)
			var said []string
			for _, b := range p.Blocked {
				if b.Method == disruption.MethodConsolidation && b.Code == disruption.CodeBudget {
					require.Equal(t, tt.want, b.Detail, b.Node)
					said = append(said, b.Node)
				}
			}
			require.Equal(t, []string{"n0", "n1", "n2", "n3", "n4"}[:tt.small], said)
		})
	}
}
