package disruption_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/disruption"
	"github.com/dovetail-sdk/dovetail/provisioning"
)

func TestWhatCountsAsEmpty(t *testing.T) {
	free := note(v1.PodDeletionCostAnnotationKey, "-134217728")
	ended := func(p *corev1.Pod) { p.Status.Phase = corev1.PodFailed }
	for _, tt := range []struct {
		name  string
		pod   *corev1.Pod
		empty bool
		free  bool // with FreePodsAreEmpty
	}{
		{"workload", newPod("p"), false, false},
		{"daemon", newPod("p", owner("apps/v1", "DaemonSet")), true, true},
		{"mirror", newPod("p", owner("v1", "Node")), true, true},
		{"mirror by annotation", newPod("p", note(corev1.MirrorPodAnnotationKey, "x")), true, true},
		{"DaemonSet of another group", newPod("p", owner("example.com/v1", "DaemonSet")), false, false},
		{"finished", newPod("p", ended), true, true},
		{"finished on the way out", newPod("p", terminating, ended), true, true},
		{"terminating", newPod("p", terminating), true, true},
		{"terminating of a StatefulSet", newPod("p", terminating, owner("apps/v1", "StatefulSet")), false, false},
		{"ended on the way out of a StatefulSet", newPod("p", terminating, ended, owner("apps/v1", "StatefulSet")), false, false},
		{"ended of a StatefulSet", newPod("p", ended, owner("apps/v1", "StatefulSet")), true, true},
		{"costs nothing", newPod("p", free), false, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			in := newInput(newNode("n", "web", withPods(tt.pod)))
			require.Equal(t, tt.empty, len(observe(t, in, nil).Emptiness().Actions) == 1)
			opts := &disruption.Options{Consolidation: disruption.ConsolidationOptions{FreePodsAreEmpty: true}}
			require.Equal(t, tt.free, len(observe(t, in, opts).Emptiness().Actions) == 1)
		})
	}
}

func TestEmptiness(t *testing.T) {
	in := newInput(
		newNode("cheap", "web"), newNode("also-cheap", "web"),
		newNode("dear", "web", withLabel(corev1.LabelInstanceTypeStable, "m.xlarge")),
		newNode("unpriced", "web", withLabel(corev1.LabelInstanceTypeStable, "gone")),
		newNode("buffer", "web"),
		newNode("held", "web", withPods(newPod("d", owner("apps/v1", "DaemonSet"), note(v1.DoNotDisruptAnnotationKey, "61m")))),
		newNode("busy", "web", withPods(newPod("p"))),
		newNode("recent", "slow", func(n *provisioning.Node) { n.NodeClaim.Status.LastPodEventTime = at(-time.Minute) }),
		newNode("static", "fixed"),
	)
	in.BufferNodes = []string{"buffer"}
	in.NodePools = append(in.NodePools, newPool("fixed", replicas(1, 0)), newPool("slow", func(p *v1.NodePool) {
		p.Spec.Disruption.ConsolidateAfter = v1.NewDuration(5 * time.Minute)
	}))
	// The policy WhenEmpty allows it too.
	in.NodePools[0].Spec.Disruption.ConsolidationPolicy = v1.ConsolidationPolicyWhenEmpty
	in.InstanceTypes["fixed"], in.InstanceTypes["slow"] = in.InstanceTypes["web"], in.InstanceTypes["web"]
	r := observe(t, in, nil).Emptiness()
	require.Equal(t, []string{"Delete dear", "Delete also-cheap", "Delete cheap", "Delete unpriced"}, brief(r.Actions))
	require.Equal(t, []string{"buffer Buffer", `held PodDoNotDisrupt Pod "shop/d" +1m0s`, "recent ConsolidateAfter +4m0s", "static Static"}, rules(r.Blocked))
	require.Equal(t, noon.Add(time.Minute), r.Next)
	var savings []float64
	for _, a := range r.Actions {
		savings = append(savings, a.Savings)
		require.Equal(t, 1.0, a.DisruptionCost)
	}
	require.Equal(t, []float64{0.2, 0.1, 0.1, 0}, savings, "each saves its price")
}

func TestPriceFollowsTheReservation(t *testing.T) {
	offering := func(id string, price float64) cloudprovider.Offering {
		return cloudprovider.Offering{Zone: "a", CapacityType: v1.CapacityTypeReserved, ReservationID: id, Price: price}
	}
	in := newInput(newNode("n", "web", withLabel(v1.CapacityTypeLabelKey, v1.CapacityTypeReserved)))
	in.InstanceTypes["web"] = catalog(newType("m.large", 0, offering("cr-2", 2), offering("cr-1", 1)))
	candidates, _ := observe(t, in, nil).Candidates(disruption.MethodEmptiness)
	require.Equal(t, "cr-1", candidates[0].Offering.ReservationID, "of several that agree the first by key")
}

func TestActionsKeepOnePerNode(t *testing.T) {
	notReady := nodeCondition(corev1.NodeReady, corev1.ConditionFalse, "", -time.Hour)
	in := crowd(8, newNode("drifted", "web", withPods(newPod("p"))), newNode("empty", "web"),
		newNode("expired", "web", expiresAfter(v1.NewDuration(time.Hour))), newNode("broken", "web", notReady),
		newNode("interrupted", "web"))
	in.Drift = map[string]cloudprovider.Drift{}
	for _, n := range []string{"drifted", "empty", "expired", "broken", "interrupted"} {
		in.Drift[n+"-claim"] = cloudprovider.Drift{Reason: "AMIDrift"}
	}
	for _, n := range in.Nodes {
		if len(n.Node.Name) == len("ok-00") && n.Node.Name[:3] == "ok-" {
			n.Node.Annotations[v1.DoNotDisruptAnnotationKey] = "true"
		}
	}
	in.Interruptions = notices(cloudprovider.Interruption{InstanceID: "cloud://interrupted", Kind: cloudprovider.InterruptionStopping})
	require.Equal(t, []string{"Delete interrupted Stopping", "Delete expired", "Delete broken Ready", "Delete empty", "Replace drifted AMIDrift"},
		brief(observe(t, in, nil).Actions().Actions))
}

func TestTolerationOfDisruption(t *testing.T) {
	const key = v1.DisruptedTaintKey
	for _, tt := range []struct {
		name string
		one  corev1.Toleration
		want bool // the pod is evicted, so that its budget counts
	}{
		{"all", corev1.Toleration{Operator: corev1.TolerationOpExists}, false},
		{"key", corev1.Toleration{Key: key, Operator: corev1.TolerationOpExists}, false},
		{"key and effect", corev1.Toleration{Key: key, Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoSchedule}, false},
		{"equal, no value", corev1.Toleration{Key: key, Operator: corev1.TolerationOpEqual}, false},
		{"equal by default", corev1.Toleration{Key: key}, false},
		{"equal, some value", corev1.Toleration{Key: key, Operator: corev1.TolerationOpEqual, Value: "x"}, true},
		{"other effect", corev1.Toleration{Key: key, Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoExecute}, true},
		{"other key", corev1.Toleration{Key: "x", Operator: corev1.TolerationOpExists}, true},
		{"greater than", corev1.Toleration{Key: key, Operator: "Gt", Value: "1"}, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			in := newInput(newNode("n", "web", withPods(newPod("p", func(p *corev1.Pod) { p.Spec.Tolerations = []corev1.Toleration{tt.one} }))))
			in.PodDisruptionBudgets = pdbs(newPDB("web", 0))
			_, blocked := observe(t, in, nil).Candidates(disruption.MethodConsolidation)
			require.Equal(t, tt.want, len(blocked) == 1)
		})
	}
}
