package disruption_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/disruption"
	"github.com/dovetail-sdk/dovetail/disruption/drain"
	"github.com/dovetail-sdk/dovetail/provisioning"
)

// consolidatable returns a node that every method but repair and drift would take.
func consolidatable(edits ...func(*provisioning.Node)) provisioning.Node {
	return newNode("n", "web", append([]func(*provisioning.Node){withPods(newPod("web-1"))}, edits...)...)
}

func TestEachRuleBlocksByItself(t *testing.T) {
	tests := []struct {
		name  string
		node  provisioning.Node
		input func(*disruption.Input)
		want  []string
	}{
		{name: "nothing", node: consolidatable(), want: []string{}},
		{name: "underway", node: consolidatable(), want: []string{"n Underway"},
			input: func(in *disruption.Input) {
				in.MarkedForDeletion = map[string]disruption.Reason{"n": disruption.Drifted}
			}},
		{name: "unmanaged", node: consolidatable(func(n *provisioning.Node) { n.NodeClaim = nil }), want: []string{"n Unmanaged"}},
		{name: "no node", node: consolidatable(func(n *provisioning.Node) { n.Node = nil }), want: []string{"n-claim NoNode"}},
		{name: "rebooting", node: consolidatable(withCondition(v1.ConditionTypeRebooting, metav1.ConditionTrue, 0)), want: []string{"n Rebooting"}},
		{name: "claim deleting", node: consolidatable(func(n *provisioning.Node) { n.NodeClaim.DeletionTimestamp = new(at(0)) }), want: []string{"n Deleting"}},
		{name: "node deleting", node: consolidatable(func(n *provisioning.Node) { n.Node.DeletionTimestamp = new(at(0)) }), want: []string{"n Deleting"}},
		{name: "instance terminating", node: consolidatable(withCondition(v1.ConditionTypeInstanceTerminating, metav1.ConditionTrue, 0)), want: []string{"n Deleting"}},
		{name: "unregistered", node: consolidatable(func(n *provisioning.Node) {
			delete(n.Node.Labels, v1.NodeRegisteredLabelKey)
			delete(n.Node.Labels, v1.NodeInitializedLabelKey)
		}), want: []string{"n Unregistered"}},
		{name: "uninitialized", node: consolidatable(func(n *provisioning.Node) { n.Node.Labels[v1.NodeInitializedLabelKey] = "false" }), want: []string{"n Uninitialized"}},
		{name: "nominated", node: consolidatable(), want: []string{"n Nominated +1s"},
			input: func(in *disruption.Input) { in.Nominations = map[string]time.Time{"n": noon.Add(time.Second)} }},
		{name: "no longer nominated", node: consolidatable(), want: []string{},
			input: func(in *disruption.Input) { in.Nominations = map[string]time.Time{"n": noon} }},
		{name: "node annotation", node: consolidatable(func(n *provisioning.Node) { n.Node.Annotations[v1.DoNotDisruptAnnotationKey] = "true" }), want: []string{"n NodeDoNotDisrupt"}},
		{name: "node annotation false", node: consolidatable(func(n *provisioning.Node) { n.Node.Annotations[v1.DoNotDisruptAnnotationKey] = "false" }), want: []string{}},
		{name: "node annotation duration", node: consolidatable(func(n *provisioning.Node) { n.Node.Annotations[v1.DoNotDisruptAnnotationKey] = "1h" }), want: []string{}},
		{name: "claim annotation after registration", node: consolidatable(func(n *provisioning.Node) { n.NodeClaim.Annotations[v1.DoNotDisruptAnnotationKey] = "true" }), want: []string{}},
		{name: "no pool label", node: consolidatable(withLabel(v1.NodePoolLabelKey, "")), want: []string{"n NoNodePoolLabel"}},
		{name: "pool missing", node: consolidatable(withLabel(v1.NodePoolLabelKey, "gone")), want: []string{"n NodePoolMissing"}},
		{name: "no catalog", node: consolidatable(), want: []string{"n NoInstanceTypes", "n UnknownInstanceType"},
			input: func(in *disruption.Input) { in.InstanceTypes = nil }},
		{name: "unknown type", node: consolidatable(withLabel(corev1.LabelInstanceTypeStable, "x.huge")), want: []string{"n UnknownInstanceType"}},
		{name: "no capacity type", node: consolidatable(withLabel(v1.CapacityTypeLabelKey, "")), want: []string{"n NoCapacityType"}},
		{name: "no zone", node: consolidatable(withLabel(corev1.LabelTopologyZone, "")), want: []string{"n NoZone"}},
		{name: "empty", node: newNode("n", "web"), want: []string{"n Empty"}},
		{name: "static", node: consolidatable(), want: []string{"n Static"},
			input: func(in *disruption.Input) { in.NodePools = []*v1.NodePool{newPool("web", replicas(1, 0))} }},
		{name: "policy", node: consolidatable(), want: []string{"n PolicyWhenEmpty"},
			input: func(in *disruption.Input) {
				in.NodePools[0].Spec.Disruption.ConsolidationPolicy = v1.ConsolidationPolicyWhenEmpty
			}},
		{name: "never", node: consolidatable(), want: []string{"n ConsolidationOff"},
			input: func(in *disruption.Input) { in.NodePools[0].Spec.Disruption.ConsolidateAfter = v1.NeverDuration() }},
		{name: "several at once", node: consolidatable(withLabel(corev1.LabelTopologyZone, ""), func(n *provisioning.Node) {
			n.Node.Annotations[v1.DoNotDisruptAnnotationKey] = "true"
		}), want: []string{"n NodeDoNotDisrupt", "n NoZone"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			in := newInput(tt.node)
			if tt.input != nil {
				tt.input(&in)
			}
			candidates, blocked := observe(t, in, nil).Candidates(disruption.MethodConsolidation)
			require.Equal(t, tt.want, rules(blocked))
			require.Equal(t, len(tt.want) == 0, len(candidates) == 1)
		})
	}
}

// TestNodeOfARegisteredClaimIsGone has NodeClaims without a Node, one before and one after its Node
// registered.
func TestNodeOfARegisteredClaimIsGone(t *testing.T) {
	gone := func(n *provisioning.Node) { n.Node = nil }
	for status, want := range map[metav1.ConditionStatus]string{
		metav1.ConditionFalse: "its NodeClaim has no Node yet",
		metav1.ConditionTrue:  "its Node is gone although its NodeClaim is registered; delete the NodeClaim unless the Node comes back",
	} {
		in := newInput(consolidatable(withCondition(v1.ConditionTypeRegistered, status, 0), gone))
		_, blocked := observe(t, in, nil).Candidates(disruption.MethodConsolidation)
		require.Len(t, blocked, 1)
		require.Equal(t, want, blocked[0].Detail)
	}
}

func TestConsolidateAfter(t *testing.T) {
	after := func(d time.Duration) func(*disruption.Input) {
		return func(in *disruption.Input) { in.NodePools[0].Spec.Disruption.ConsolidateAfter = v1.NewDuration(d) }
	}
	event := func(d time.Duration) func(*provisioning.Node) {
		return func(n *provisioning.Node) { n.NodeClaim.Status.LastPodEventTime = at(d) }
	}
	tests := []struct {
		name   string
		node   provisioning.Node
		input  func(*disruption.Input)
		events map[string]time.Time
		want   []string
	}{
		{name: "0s does not wait", node: consolidatable(event(0)), input: after(0), want: []string{}},
		{name: "a nanosecond early", node: consolidatable(event(-time.Minute + 1)), input: after(time.Minute), want: []string{"n ConsolidateAfter +1ns"}},
		{name: "equal is elapsed", node: consolidatable(event(-time.Minute)), input: after(time.Minute), want: []string{}},
		{name: "counts from initialized", node: consolidatable(withCondition(v1.ConditionTypeInitialized, metav1.ConditionTrue, -time.Minute)),
			input: after(3 * time.Minute), want: []string{"n ConsolidateAfter +2m0s"}},
		{name: "event wins over initialized", node: consolidatable(withCondition(v1.ConditionTypeInitialized, metav1.ConditionTrue, -time.Minute), event(-time.Hour)),
			input: after(3 * time.Minute), want: []string{}},
		{name: "the later event", node: consolidatable(event(-time.Hour)), events: map[string]time.Time{"n": noon.Add(-time.Minute)},
			input: after(3 * time.Minute), want: []string{"n ConsolidateAfter +2m0s"}},
		{name: "an older note", node: consolidatable(event(-time.Minute)), events: map[string]time.Time{"n": noon.Add(-time.Hour)},
			input: after(3 * time.Minute), want: []string{"n ConsolidateAfter +2m0s"}},
		{name: "not initialized", node: consolidatable(withCondition(v1.ConditionTypeInitialized, metav1.ConditionUnknown, 0)),
			input: after(0), want: []string{"n ConsolidateAfter"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			in := newInput(tt.node)
			tt.input(&in)
			in.PodEvents = tt.events
			_, blocked := observe(t, in, nil).Candidates(disruption.MethodConsolidation)
			require.Equal(t, tt.want, rules(blocked))
		})
	}
}

func TestPodsHoldTheirNode(t *testing.T) {
	const key = v1.DoNotDisruptAnnotationKey
	tests := []struct {
		name string
		pod  *corev1.Pod
		pdbs []*policyv1.PodDisruptionBudget
		want []string
	}{
		{name: "true", pod: newPod("p", note(key, "true")), want: []string{`n PodDoNotDisrupt Pod "shop/p"`}},
		{name: "True is not true", pod: newPod("p", note(key, "True")), want: []string{}},
		{name: "duration", pod: newPod("p", note(key, "1h30m")), want: []string{`n PodDoNotDisrupt Pod "shop/p" +30m0s`}},
		{name: "duration a nanosecond early", pod: newPod("p", note(key, "1h0m0.000000001s")), want: []string{`n PodDoNotDisrupt Pod "shop/p" +1ns`}},
		{name: "duration at equality", pod: newPod("p", note(key, "1h")), want: []string{}},
		{name: "duration without a start", pod: newPod("p", note(key, "1h"), func(p *corev1.Pod) { p.Status.StartTime = nil }), want: []string{`n PodDoNotDisrupt Pod "shop/p"`}},
		{name: "zero", pod: newPod("p", note(key, "0s")), want: []string{}},
		{name: "negative", pod: newPod("p", note(key, "-5h")), want: []string{}},
		{name: "days", pod: newPod("p", note(key, "1d")), want: []string{}},
		{name: "finished", pod: newPod("p", note(key, "true"), func(p *corev1.Pod) { p.Status.Phase = corev1.PodSucceeded }), want: []string{}},
		{name: "terminating", pod: newPod("p", note(key, "true"), terminating), want: []string{}},
		{name: "daemon", pod: newPod("p", note(key, "true"), owner("apps/v1", "DaemonSet")), want: []string{`n PodDoNotDisrupt Pod "shop/p"`}},
		{name: "mirror", pod: newPod("p", note(key, "true"), owner("v1", "Node")), want: []string{`n PodDoNotDisrupt Pod "shop/p"`}},

		{name: "budget open", pod: newPod("p"), pdbs: pdbs(newPDB("web", 1)), want: []string{}},
		{name: "budget closed", pod: newPod("p"), pdbs: pdbs(newPDB("web", 0)), want: []string{`n PodDisruptionBudget PodDisruptionBudget "shop/web"`}},
		{name: "daemon pod under a budget", pod: newPod("p", owner("apps/v1", "DaemonSet")), pdbs: pdbs(newPDB("web", 0)), want: []string{`n PodDisruptionBudget PodDisruptionBudget "shop/web"`}},
		{name: "mirror pod under a budget", pod: newPod("p", owner("v1", "Node")), pdbs: pdbs(newPDB("web", 0)), want: []string{}},
		{name: "pod that tolerates the taint", pod: newPod("p", func(p *corev1.Pod) { p.Spec.Tolerations = []corev1.Toleration{{Operator: corev1.TolerationOpExists}} }), pdbs: pdbs(newPDB("web", 0)), want: []string{}},
		{name: "terminating pod", pod: newPod("p", terminating), pdbs: pdbs(newPDB("web", 0)), want: []string{}},
		{name: "two open budgets", pod: newPod("p"), pdbs: pdbs(newPDB("web", 5), newPDB("all", 5)), want: []string{`n SeveralBudgets Pod "shop/p"`}},
		{name: "budget of another namespace", pod: newPod("p"), pdbs: pdbs(newPDB("web", 0, func(b *policyv1.PodDisruptionBudget) { b.Namespace = "other" })), want: []string{}},
		{name: "nil selector", pod: newPod("p"), pdbs: pdbs(newPDB("web", 0, func(b *policyv1.PodDisruptionBudget) { b.Spec.Selector = nil })), want: []string{}},
		{name: "empty selector", pod: newPod("p"), pdbs: pdbs(newPDB("web", 0, func(b *policyv1.PodDisruptionBudget) { b.Spec.Selector = &metav1.LabelSelector{} })), want: []string{`n PodDisruptionBudget PodDisruptionBudget "shop/web"`}},
		{name: "always allow, not ready", pod: newPod("p", podReady(corev1.ConditionFalse)), pdbs: pdbs(newPDB("web", 0, alwaysAllow)), want: []string{}},
		{name: "always allow, ready", pod: newPod("p", podReady(corev1.ConditionTrue)), pdbs: pdbs(newPDB("web", 0, alwaysAllow)), want: []string{`n PodDisruptionBudget PodDisruptionBudget "shop/web"`}},
		{name: "always allow, unknown", pod: newPod("p", podReady(corev1.ConditionUnknown)), pdbs: pdbs(newPDB("web", 0, alwaysAllow)), want: []string{}},
		{name: "always allow, no condition", pod: newPod("p"), pdbs: pdbs(newPDB("web", 0, alwaysAllow)), want: []string{}},
		{name: "not ready, and too few are healthy", pod: newPod("p", podReady(corev1.ConditionFalse)), pdbs: pdbs(newPDB("web", 0, healthy(1, 2))), want: []string{`n PodDisruptionBudget PodDisruptionBudget "shop/web"`}},
		{name: "not ready, and enough are healthy", pod: newPod("p", podReady(corev1.ConditionFalse)), pdbs: pdbs(newPDB("web", 0, healthy(2, 2))), want: []string{}},
		{name: "not ready, and none is wanted", pod: newPod("p", podReady(corev1.ConditionFalse)), pdbs: pdbs(newPDB("web", 0, healthy(2, 0))), want: []string{`n PodDisruptionBudget PodDisruptionBudget "shop/web"`}},
		{name: "ready, and enough are healthy", pod: newPod("p", podReady(corev1.ConditionTrue)), pdbs: pdbs(newPDB("web", 0, healthy(2, 2))), want: []string{`n PodDisruptionBudget PodDisruptionBudget "shop/web"`}},
		{name: "pending", pod: newPod("p", isPending), pdbs: pdbs(newPDB("web", 0)), want: []string{}},
		{name: "pending under two budgets", pod: newPod("p", isPending), pdbs: pdbs(newPDB("web", 0), newPDB("all", 0)), want: []string{}},
		{name: "counted already", pod: newPod("p"), pdbs: pdbs(newPDB("web", 0, counted("p"))), want: []string{}},
		{name: "another is counted", pod: newPod("p"), pdbs: pdbs(newPDB("web", 0, counted("q"))), want: []string{`n PodDisruptionBudget PodDisruptionBudget "shop/web"`}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			// Another pod, so that the node is not empty.
			other := newPod("other", func(p *corev1.Pod) { p.Labels = nil; p.Namespace = "elsewhere" })
			in := newInput(newNode("n", "web", withPods(tt.pod, other)))
			in.PodDisruptionBudgets = tt.pdbs
			_, blocked := observe(t, in, nil).Candidates(disruption.MethodConsolidation)
			require.Equal(t, tt.want, rules(blocked))
		})
	}
}

// Candidates and drain.Plan read budgets alike: a pod that nothing else protects keeps its
// node if and only if a drain would wait for the budget.
func TestCandidatesReadBudgetsAsDrainsDo(t *testing.T) {
	for seed := range uint64(200) {
		m := newMaker(seed)
		in, _ := m.input()
		m.readiness(in)
		for _, n := range in.Nodes {
			alone := in
			for _, p := range n.Pods {
				alone.Nodes = []provisioning.Node{newNode("n", "web", withPods(p))}
				going := drain.Input{Nodes: []drain.Node{{Name: "n", Pods: []drain.Pod{drain.ObservePod(p, nil)}}}, Budgets: in.PodDisruptionBudgets}
				plan, err := drain.Plan(noon, going, nil)
				require.NoError(t, err)
				var waits bool
				for _, step := range plan.Nodes[0].Blocked {
					waits = waits || step.Code == drain.BudgetSpent || step.Code == drain.BudgetsOverlap
				}
				f, _ := disruption.Observe(noon, alone, nil)
				_, blocked := f.Candidates(disruption.MethodInterruption)
				held := slices.ContainsFunc(blocked, func(b disruption.Blocked) bool { return b.Code == disruption.CodePodDisruptionBudget })
				require.Equal(t, waits, held, "seed %d, pod %s: %v", seed, p.Name, plan.Nodes[0].Blocked)
			}
		}
	}
}

// readiness draws what decides which pods a PodDisruptionBudget protects.
func (m *maker) readiness(in disruption.Input) {
	for _, b := range in.PodDisruptionBudgets {
		healthy(int32(m.IntN(3)), int32(m.IntN(3)))(b)
		if m.chance(30) {
			alwaysAllow(b)
		}
	}
	for _, n := range in.Nodes {
		for _, p := range n.Pods {
			p.Status.Phase = pick(m, corev1.PodRunning, corev1.PodRunning, corev1.PodRunning, corev1.PodPending)
			if m.chance(70) {
				podReady(pick(m, corev1.ConditionTrue, corev1.ConditionTrue, corev1.ConditionFalse, corev1.ConditionUnknown))(p)
			}
		}
	}
}

func pdbs(list ...*policyv1.PodDisruptionBudget) []*policyv1.PodDisruptionBudget { return list }

func alwaysAllow(b *policyv1.PodDisruptionBudget) {
	b.Spec.UnhealthyPodEvictionPolicy = new(policyv1.AlwaysAllow)
}

func healthy(now, desired int32) func(*policyv1.PodDisruptionBudget) {
	return func(b *policyv1.PodDisruptionBudget) { b.Status.CurrentHealthy, b.Status.DesiredHealthy = now, desired }
}

func counted(pod string) func(*policyv1.PodDisruptionBudget) {
	return func(b *policyv1.PodDisruptionBudget) {
		b.Status.DisruptedPods = map[string]metav1.Time{pod: metav1.NewTime(noon)}
	}
}

func isPending(p *corev1.Pod) { p.Status.Phase = corev1.PodPending }

func podReady(status corev1.ConditionStatus) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		p.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: status}}
	}
}

func TestTerminationGracePeriodOverridesPodsForDrift(t *testing.T) {
	held := withPods(newPod("p", note(v1.DoNotDisruptAnnotationKey, "true")), newPod("q"))
	for _, tt := range []struct {
		name string
		edit func(*provisioning.Node)
		want []string
	}{
		{"none", func(*provisioning.Node) {}, []string{`n PodDoNotDisrupt Pod "shop/p"`, `n PodDisruptionBudget PodDisruptionBudget "shop/web"`}},
		{"some", withGrace(time.Hour), []string{}},
		{"zero", withGrace(0), []string{}},
		{"never the node's own annotation", func(n *provisioning.Node) {
			withGrace(time.Hour)(n)
			n.Node.Annotations[v1.DoNotDisruptAnnotationKey] = "true"
		}, []string{"n NodeDoNotDisrupt"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			in := newInput(newNode("n", "web", held, tt.edit))
			in.PodDisruptionBudgets = pdbs(newPDB("web", 0))
			in.Drift = driftOf("n", "AMIDrift")
			r := observe(t, in, nil).Drift()
			require.Equal(t, tt.want, rules(r.Blocked))
			require.Equal(t, len(tt.want) == 0, len(r.Actions) == 1)
			// The graceful methods are not impressed.
			_, blocked := observe(t, in, nil).Candidates(disruption.MethodConsolidation)
			require.NotEmpty(t, blocked)
		})
	}
}

func TestCandidateValues(t *testing.T) {
	in := newInput(newNode("n", "web", withPods(
		newPod("b"),
		newPod("a", note(v1.DisruptionCostAnnotationKey, "134217728")),
		newPod("free", note(v1.DisruptionCostAnnotationKey, "-2147483647")),
		newPod("daemon", owner("apps/v1", "DaemonSet")),
		newPod("held", note(v1.DoNotDisruptAnnotationKey, "true")),
	), func(n *provisioning.Node) { n.NodeClaim.Spec.ExpireAfter = v1.NewDuration(96 * time.Hour) }, withGrace(0)))
	in.Drift = driftOf("n", "AMIDrift")
	candidates, _ := observe(t, in, nil).Candidates(disruption.MethodDrift)
	require.Len(t, candidates, 1)
	c := candidates[0]
	require.Equal(t, 0.1, c.Price)
	require.True(t, c.PriceKnown)
	require.Equal(t, 1.0+1+2+0+1, c.DisruptionCost)
	require.Equal(t, (1.0+2-10+1+1)/2, c.LifetimeCost)
	require.Equal(t, 0.1/5, c.SavingsRatio)
	require.Equal(t, "m.large", c.InstanceType.Name)
	var names, held []string
	for _, p := range c.Pods {
		names = append(names, p.Name)
	}
	for _, p := range c.Held {
		held = append(held, p.Name)
	}
	require.Equal(t, []string{"a", "b", "free", "held"}, names)
	require.Equal(t, []string{"held"}, held)
	require.Equal(t, disruption.Target{Node: "n", NodeClaim: "n-claim", NodePool: "web", ProviderID: "cloud://n"}, c.Target)
}

func TestSettling(t *testing.T) {
	recent := func(n *provisioning.Node) { n.NodeClaim.Status.LastPodEventTime = at(-time.Minute) }
	in := newInput(newNode("quiet", "web"), newNode("recent", "web", recent), newNode("static", "fixed", recent),
		newNode("zero", "eager", recent), newNode("never", "off", recent), newNode("broken", "unready", recent),
		newNode("starting", "web", withoutCondition(v1.ConditionTypeInitialized)))
	after := func(d v1.NillableDuration) func(*v1.NodePool) {
		return func(p *v1.NodePool) { p.Spec.Disruption.ConsolidateAfter = d }
	}
	five := v1.NewDuration(5 * time.Minute)
	in.NodePools = []*v1.NodePool{newPool("web", after(five)), newPool("fixed", after(five), replicas(1, 0)),
		newPool("eager", after(v1.NewDuration(0))), newPool("off", after(v1.NeverDuration())),
		newPool("unready", after(five), func(p *v1.NodePool) {
			p.Status.Conditions = []metav1.Condition{{Type: v1.ConditionTypeReady, Status: metav1.ConditionFalse}}
		})}
	require.Equal(t, []disruption.Settling{{Node: "recent", Until: noon.Add(4 * time.Minute)}, {Node: "starting"}},
		observe(t, in, nil).Settling())
}

func TestEvictionCost(t *testing.T) {
	priority := func(n int32) func(*corev1.Pod) { return func(p *corev1.Pod) { p.Spec.Priority = &n } }
	deletion := func(s string) func(*corev1.Pod) { return note(v1.PodDeletionCostAnnotationKey, s) }
	own := func(s string) func(*corev1.Pod) { return note(v1.DisruptionCostAnnotationKey, s) }
	tests := []struct {
		name   string
		pod    *corev1.Pod
		ignore bool
		want   float64
	}{
		{"plain", newPod("p"), false, 1},
		{"priority 2^25", newPod("p", priority(1<<25)), false, 2},
		{"priority -2^25", newPod("p", priority(-1<<25)), false, 0},
		{"system-cluster-critical", newPod("p", priority(2_000_000_000)), false, 10},
		{"deletion cost 2^27", newPod("p", deletion("134217728")), false, 2},
		{"deletion cost -2^27", newPod("p", deletion("-134217728")), false, 0},
		{"highest deletion cost", newPod("p", deletion("2147483647")), false, 10},
		{"lowest deletion cost", newPod("p", deletion("-2147483647")), false, -10},
		{"beyond 32 bits", newPod("p", deletion("2147483648")), false, 1},
		{"not a number", newPod("p", deletion("NaN")), false, 1},
		{"infinite", newPod("p", deletion("Inf")), false, 1},
		{"fraction", newPod("p", deletion("1.5")), false, 1},
		{"own cost wins", newPod("p", own("134217728"), deletion("2147483647")), false, 2},
		{"malformed own cost does not fall through", newPod("p", own("dear"), deletion("2147483647")), false, 1},
		{"empty own cost does not fall through", newPod("p", own(""), deletion("2147483647")), false, 1},
		{"deletion cost ignored", newPod("p", deletion("2147483647")), true, 1},
		{"own cost is not ignored", newPod("p", own("134217728")), true, 2},
		{"no pod", nil, false, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			require.Equal(t, tt.want, disruption.EvictionCost(tt.pod, tt.ignore))
		})
	}
}

func TestWarningsNameWhatWasPassedOver(t *testing.T) {
	in := newInput(newNode("n", "web", withPods(
		newPod("b", note(v1.DoNotDisruptAnnotationKey, "1d")),
		newPod("a", note(v1.DisruptionCostAnnotationKey, "1.5")))))
	var got []string
	for _, w := range observe(t, in, nil).Warnings() {
		got = append(got, w.Error())
	}
	require.Equal(t, []string{
		`Pod "shop/a": metadata.annotations[karpenter.sh/disruption-cost]: "1.5" counts as 0; write an integer of 32 bits`,
		`Pod "shop/b": metadata.annotations[karpenter.sh/do-not-disrupt]: "1d" counts for nothing; write true, or a duration above zero such as 30m`,
	}, got)
}

func TestEventsAreForWhatSomebodyCanChange(t *testing.T) {
	for want, list := range map[string][]disruption.Blocked{
		"DisruptionBlocked": {{Code: disruption.CodePodDisruptionBudget, Method: disruption.MethodConsolidation}, {Code: disruption.CodeDoNotDisrupt, Method: disruption.MethodDrift}},
		"Unconsolidatable":  {{Code: disruption.CodeNotCheaper, Method: disruption.MethodConsolidation}, {Code: disruption.CodeSavingTooSmall, Method: disruption.MethodConsolidation}},
		"": {{Code: disruption.CodeConsolidateAfter, Method: disruption.MethodConsolidation, Until: time.Unix(1, 0)},
			{Code: disruption.CodeDoNotDisrupt, Method: disruption.MethodDrift, Until: time.Unix(1, 0)}, // for a time
			{Code: disruption.CodeEmpty, Method: disruption.MethodConsolidation}, {Code: disruption.CodeNotDrifted, Method: disruption.MethodDrift},
			{Code: disruption.CodeUnplaced, Method: disruption.MethodDrift}, {}},
	} {
		for _, b := range list {
			require.Equal(t, want, b.Event(), "%s %s", b.Method, b.Code)
		}
	}
}

func ExampleBlocked_Event() {
	b := disruption.Blocked{Method: disruption.MethodConsolidation, Code: disruption.CodePodDisruptionBudget,
		Detail: `PodDisruptionBudget "shop/web" lets no pod go now`}
	fmt.Println(b.Event()+":", b.Detail)
	// Output: DisruptionBlocked: PodDisruptionBudget "shop/web" lets no pod go now
}

// A node that was nominated is left alone until then, and not after.
func TestNominationsReachTheRules(t *testing.T) {
	in := newInput(newNode("idle", "web"))
	in.Nominations = map[string]time.Time{"idle": noon.Add(time.Second)}
	require.Empty(t, observe(t, in, nil).Emptiness().Actions)
	in.Nominations = map[string]time.Time{"idle": noon}
	require.Len(t, observe(t, in, nil).Emptiness().Actions, 1)
}
