package disruption_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/disruption"
	"github.com/dovetail-sdk/dovetail/provisioning"
)

const gpu corev1.NodeConditionType = "AcceleratedHardwareReady"

// policies returns a set with a fallback on Ready=False after 30 minutes, and others.
func policies(more ...cloudprovider.RepairPolicy) []cloudprovider.RepairPolicy {
	return append([]cloudprovider.RepairPolicy{{ConditionType: corev1.NodeReady, ConditionStatus: corev1.ConditionFalse,
		TolerationDuration: 30 * time.Minute, Action: cloudprovider.ReplaceNode}}, more...)
}

func gpuPolicy(reason string, action cloudprovider.RepairAction, priority int, bound *time.Duration) cloudprovider.RepairPolicy {
	return cloudprovider.RepairPolicy{ConditionType: gpu, ConditionStatus: corev1.ConditionFalse, ReasonRegex: reason,
		TolerationDuration: 10 * time.Minute, Action: action, Priority: priority, TerminationGracePeriod: bound}
}

// crowd returns a pool with this many healthy nodes beside those given.
func crowd(healthy int, nodes ...provisioning.Node) disruption.Input {
	for i := range healthy {
		nodes = append(nodes, newNode(fmt.Sprintf("ok-%02d", i), "web"))
	}
	in := newInput(nodes...)
	in.RepairPolicies = policies()
	return in
}

func broken(name string, since time.Duration, edits ...func(*provisioning.Node)) provisioning.Node {
	return newNode(name, "web", append([]func(*provisioning.Node){
		nodeCondition(corev1.NodeReady, corev1.ConditionFalse, "KubeletStopped", since)}, edits...)...)
}

func TestRepairToleration(t *testing.T) {
	created := func(d time.Duration) func(*provisioning.Node) {
		return func(n *provisioning.Node) { n.Node.CreationTimestamp = at(d) }
	}
	for _, tt := range []struct {
		name string
		node provisioning.Node
		want []string
		next time.Duration
	}{
		{"due at equality", broken("n", -30*time.Minute), []string{"Delete n Ready"}, 0},
		{"a nanosecond early", broken("n", -30*time.Minute+1), []string{}, 1},
		{"not before the node existed", broken("n", -time.Hour, created(-10*time.Minute)), []string{}, 20 * time.Minute},
		{"not before the last reboot ended", broken("n", -time.Hour, withCondition(v1.ConditionTypeRebooting, metav1.ConditionFalse, -5*time.Minute)), []string{}, 25 * time.Minute},
		{"other status", newNode("n", "web", nodeCondition(corev1.NodeReady, corev1.ConditionUnknown, "", -time.Hour)), []string{}, 0},
		{"pods move", broken("n", -time.Hour, withPods(newPod("p"))), []string{"Replace n Ready"}, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := observe(t, crowd(4, tt.node), nil).Repair()
			require.Equal(t, tt.want, brief(r.Actions))
			if tt.next != 0 {
				require.Equal(t, noon.Add(tt.next), r.Next)
			}
		})
	}
}

func TestRepairBreaker(t *testing.T) {
	for _, tt := range []struct {
		broken, total int
		repaired      bool
	}{{1, 1, true}, {1, 5, true}, {2, 5, false}, {2, 6, true}, {2, 10, true}, {3, 10, false}, {3, 11, true}} {
		t.Run(fmt.Sprintf("%d of %d", tt.broken, tt.total), func(t *testing.T) {
			nodes := []provisioning.Node{broken("b0", -time.Hour)}
			for i := 1; i < tt.broken; i++ {
				// Not due yet, and counted all the same.
				nodes = append(nodes, broken(fmt.Sprintf("b%d", i), 0))
			}
			in := crowd(tt.total-tt.broken, nodes...)
			// Neither a node without the label counts nor one of another pool.
			in.Nodes = append(in.Nodes, newNode("x", "web", withLabel(v1.NodePoolLabelKey, "")), newNode("y", "other"))
			r := observe(t, in, nil).Repair()
			if tt.repaired {
				require.Equal(t, []string{"Delete b0 Ready"}, brief(r.Actions))
				require.Empty(t, r.Blocked)
				return
			}
			require.Empty(t, r.Actions)
			require.Equal(t, []string{"b0 ManyUnhealthy"}, rules(r.Blocked))
		})
	}
}

func TestRepairResolution(t *testing.T) {
	sick := func(reason string, more ...func(*provisioning.Node)) provisioning.Node {
		return newNode("n", "web", append([]func(*provisioning.Node){nodeCondition(gpu, corev1.ConditionFalse, reason, -time.Hour),
			withPods(newPod("p"))}, more...)...)
	}
	minute, hour := new(time.Minute), new(time.Hour)
	for _, tt := range []struct {
		name     string
		node     provisioning.Node
		policies []cloudprovider.RepairPolicy
		want     string
		bound    *time.Duration
	}{
		{"expression matches anywhere", sick("XID 48 error"), policies(gpuPolicy("48", cloudprovider.RebootNode, 0, nil)), "Reboot n AcceleratedHardwareReady", nil},
		{"fallback speaks for the rest", sick("Melted"), policies(gpuPolicy("48", cloudprovider.RebootNode, 0, nil)), "Replace n AcceleratedHardwareReady", nil},
		{"replace beats reboot", sick("48"), policies(gpuPolicy("48", cloudprovider.RebootNode, 100, nil), gpuPolicy("4", cloudprovider.ReplaceNode, 0, nil)), "Replace n AcceleratedHardwareReady", nil},
		{"shortest bound, also of one that lost", sick("48"), policies(gpuPolicy("48", cloudprovider.RebootNode, 0, minute), gpuPolicy("4", cloudprovider.ReplaceNode, 0, hour)), "Replace n AcceleratedHardwareReady", minute},
		{"the claim's bound is shorter", sick("48", withGrace(time.Second)), policies(gpuPolicy("48", cloudprovider.RebootNode, 0, minute)), "Reboot n AcceleratedHardwareReady", new(time.Second)},
		{"inherited", sick("48", withGrace(time.Second)), policies(gpuPolicy("48", cloudprovider.RebootNode, 0, nil)), "Reboot n AcceleratedHardwareReady", nil},
		{"higher priority decides", sick("48", nodeCondition("Disk", corev1.ConditionFalse, "Full", -time.Hour)),
			policies(gpuPolicy("48", cloudprovider.RebootNode, 5, nil), cloudprovider.RepairPolicy{ConditionType: "Disk", ConditionStatus: corev1.ConditionFalse, ReasonRegex: ".", Action: cloudprovider.RebootNode, Priority: 6}),
			"Reboot n Disk", nil},
		{"equal priority, the earlier", sick("48", nodeCondition("Disk", corev1.ConditionFalse, "Full", -time.Hour)),
			policies(gpuPolicy("48", cloudprovider.RebootNode, 5, nil), cloudprovider.RepairPolicy{ConditionType: "Disk", ConditionStatus: corev1.ConditionFalse, ReasonRegex: ".", TolerationDuration: 9 * time.Minute, Action: cloudprovider.RebootNode, Priority: 5}),
			"Reboot n Disk", nil},
		{"equal in all, the name", sick("48", nodeCondition("ZDisk", corev1.ConditionFalse, "Full", -time.Hour)),
			policies(gpuPolicy("48", cloudprovider.RebootNode, 5, nil), cloudprovider.RepairPolicy{ConditionType: "ZDisk", ConditionStatus: corev1.ConditionFalse, ReasonRegex: ".", TolerationDuration: 10 * time.Minute, Action: cloudprovider.RebootNode, Priority: 5}),
			"Reboot n AcceleratedHardwareReady", nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			in := crowd(4, tt.node)
			in.RepairPolicies = tt.policies
			r := observe(t, in, nil).Repair()
			require.Equal(t, []string{tt.want}, brief(r.Actions))
			require.Equal(t, tt.bound, r.Actions[0].DrainBound)
		})
	}
}

func TestThirdRebootWithinADayReplaces(t *testing.T) {
	sick := newNode("n", "web", nodeCondition(gpu, corev1.ConditionFalse, "48", -time.Hour), withPods(newPod("p")))
	in := crowd(4, sick)
	in.RepairPolicies = policies(gpuPolicy("48", cloudprovider.RebootNode, 0, nil))
	for _, tt := range []struct {
		reboots []time.Duration
		want    string
		next    time.Duration
	}{
		{nil, "Reboot n AcceleratedHardwareReady", 0},
		{[]time.Duration{-time.Hour}, "Reboot n AcceleratedHardwareReady", 0},
		{[]time.Duration{-time.Hour, -23 * time.Hour}, "Replace n AcceleratedHardwareReady (RebootsSpent)", time.Hour},
		{[]time.Duration{-24 * time.Hour, -time.Hour}, "Reboot n AcceleratedHardwareReady", 0},
		{[]time.Duration{-24 * time.Hour, -time.Hour, -2 * time.Hour}, "Replace n AcceleratedHardwareReady (RebootsSpent)", 22 * time.Hour},
	} {
		var times []time.Time
		for _, d := range tt.reboots {
			times = append(times, noon.Add(d))
		}
		in.Reboots = map[types.UID][]time.Time{"n-uid": times}
		r := observe(t, in, nil).Repair()
		require.Equal(t, []string{tt.want}, brief(r.Actions), "%v", tt.reboots)
		if tt.next != 0 {
			require.Equal(t, noon.Add(tt.next), r.Next)
		}
	}
}

func TestRepairOrder(t *testing.T) {
	urgent := func(name string, waited time.Duration, edits ...func(*provisioning.Node)) provisioning.Node {
		return newNode(name, "web", append(edits, nodeCondition(gpu, corev1.ConditionFalse, "48", -10*time.Minute-waited))...)
	}
	plain := func(name string, waited time.Duration, edits ...func(*provisioning.Node)) provisioning.Node {
		return broken(name, -30*time.Minute-waited, edits...)
	}
	order := func(a, b provisioning.Node) []string {
		in := crowd(20, a, b)
		// Three priorities in use: 0, 7 and 50, of ranks 0, 1 and 2.
		in.RepairPolicies = policies(gpuPolicy("48", cloudprovider.ReplaceNode, 7, nil), gpuPolicy("none", cloudprovider.ReplaceNode, 50, nil))
		return brief(observe(t, in, nil).Repair().Actions)
	}
	u, p := "Delete u AcceleratedHardwareReady", "Delete p Ready"
	require.Equal(t, []string{u, p}, order(urgent("u", 0), plain("p", 30*time.Minute-1)), "one rank is worth thirty minutes")
	require.Equal(t, []string{p, u}, order(urgent("u", 0), plain("p", 30*time.Minute+1)))
	require.Equal(t, []string{p, u}, order(urgent("u", 0), plain("p", 30*time.Minute)), "as urgent, so the name decides")
	daemon := withPods(newPod("d", owner("apps/v1", "DaemonSet")))
	require.Equal(t, []string{u, p}, order(urgent("u", 0), plain("p", 30*time.Minute, daemon)), "as urgent, so the lower cost decides")
}

func TestRepairCandidates(t *testing.T) {
	held := withPods(newPod("p", note(v1.DoNotDisruptAnnotationKey, "true")), newPod("q"))
	uninitialized := func(n *provisioning.Node) { delete(n.Node.Labels, v1.NodeInitializedLabelKey) }
	nominated := func(in *disruption.Input) { in.Nominations = map[string]time.Time{"n": noon.Add(time.Minute)} }
	for _, tt := range []struct {
		name  string
		node  provisioning.Node
		input func(*disruption.Input)
		want  []string
	}{
		{"node annotation does not count", broken("n", -time.Hour, func(n *provisioning.Node) { n.Node.Annotations[v1.DoNotDisruptAnnotationKey] = "true" }), nil, []string{}},
		{"do-not-repair on the node", broken("n", -time.Hour, func(n *provisioning.Node) { n.Node.Annotations[v1.DoNotRepairAnnotationKey] = "true" }), nil, []string{"n DoNotRepair"}},
		{"do-not-repair on the claim", broken("n", -time.Hour, func(n *provisioning.Node) { n.NodeClaim.Annotations[v1.DoNotRepairAnnotationKey] = "true" }), nil, []string{"n DoNotRepair"}},
		{"do-not-repair knows no duration", broken("n", -time.Hour, func(n *provisioning.Node) { n.Node.Annotations[v1.DoNotRepairAnnotationKey] = "1h" }), nil, []string{}},
		{"pods, bound by nothing", broken("n", -time.Hour, held), nil, []string{`n NoDrainBound Pod "shop/p"`, `n NoDrainBound PodDisruptionBudget "shop/web"`}},
		{"pods, bound by the claim", broken("n", -time.Hour, held, withGrace(time.Hour)), nil, []string{}},
		{"pods, bound by the policy", broken("n", -time.Hour, held), func(in *disruption.Input) { in.RepairPolicies[0].TerminationGracePeriod = new(time.Duration) }, []string{}},
		{"uninitialized", broken("n", -time.Hour, uninitialized), nil, []string{}},
		{"unregistered", broken("n", -time.Hour, uninitialized, func(n *provisioning.Node) { delete(n.Node.Labels, v1.NodeRegisteredLabelKey) }), nil, []string{"n Unregistered"}},
		{"nominated", broken("n", -time.Hour), nominated, []string{"n Nominated +1m0s"}},
		{"nominated, uninitialized", broken("n", -time.Hour, uninitialized), nominated, []string{}},
		{"no pool label", broken("n", -time.Hour, withLabel(v1.NodePoolLabelKey, "")), nil, []string{"n NoNodePoolLabel"}},
		{"rebooting", broken("n", -time.Hour, withCondition(v1.ConditionTypeRebooting, metav1.ConditionTrue, -time.Minute)), nil, []string{"n Rebooting"}},
		{"not due: no word about the annotation", broken("n", 0, func(n *provisioning.Node) { n.Node.Annotations[v1.DoNotRepairAnnotationKey] = "true" }), nil, []string{}},
		{"static pool over its replicas", broken("n", -time.Hour), func(in *disruption.Input) { in.NodePools[0].Spec.Replicas = new(int64(4)) }, []string{"n OverReplicas"}},
		{"static pool at its limit", broken("n", -time.Hour), func(in *disruption.Input) { replicas(5, 5)(in.NodePools[0]) }, []string{"n StaticAtLimit"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			in := crowd(4, tt.node)
			in.PodDisruptionBudgets = pdbs(newPDB("web", 0))
			if tt.input != nil {
				tt.input(&in)
			}
			r := observe(t, in, nil).Repair()
			require.Equal(t, tt.want, rules(r.Blocked))
		})
	}
}

func TestFaultyPoliciesRepairNothing(t *testing.T) {
	in := crowd(4, broken("n", -time.Hour))
	in.RepairPolicies = append(in.RepairPolicies, in.RepairPolicies[0])
	f, err := disruption.Observe(noon, in, nil)
	require.ErrorContains(t, err, "RepairPolicies: repair policies: 2 without reasonRegex")
	require.Empty(t, f.Repair().Actions)
}
