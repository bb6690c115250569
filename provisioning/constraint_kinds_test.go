package provisioning_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/internal/engine/constraint"
	"github.com/dovetail-sdk/dovetail/internal/engine/constraint/kinds"
	"github.com/dovetail-sdk/dovetail/provisioning"
	"github.com/dovetail-sdk/dovetail/provisioning/internal/scenes"
	"github.com/dovetail-sdk/dovetail/provisioning/verify"
)

// samplePod has the labels that samples of kinds are about.
func samplePod(name string) *corev1.Pod {
	pod := scenes.Pod(name, "200m", "128Mi")
	pod.Labels = constraint.SampleLabels()
	return pod
}

func sampleNode(name, zone string, bound ...*corev1.Pod) provisioning.Node {
	for _, pod := range bound {
		pod.Spec.NodeName = name
	}
	return provisioning.Node{Node: scenes.Node(name, map[string]string{corev1.LabelTopologyZone: zone}), Pods: bound}
}

// TestKindsAreNamed: of every kind of constraint a pod that it keeps from the only node
// stays pending, the reason names the kind, and the referee refuses the plan that had a
// place for the pod before it had the constraint.
func TestKindsAreNamed(t *testing.T) {
	t.Parallel()
	for _, kind := range kinds.All() {
		t.Run(kind.Name, func(t *testing.T) {
			bound, pod := samplePod("bound"), samplePod("pod")
			in := provisioning.Input{Pods: []*corev1.Pod{pod}, Nodes: []provisioning.Node{sampleNode("node", "a", bound)}}
			free := solved(t, in, nil)
			require.Empty(t, free.Unplaced)

			kind.Sample(bound)
			kind.Sample(pod)
			refused := verify.Plan(in, free, nil)
			require.True(t, slices.ContainsFunc(refused, func(v verify.Violation) bool { return string(v.Rule) == kind.Name }), "%v", refused)

			plan := solved(t, in, nil)
			require.Len(t, plan.Unplaced, 1)
			require.Empty(t, verify.Unplaced(in, plan, nil))
			reason, cause := plan.Unplaced[0].Explanation, provisioning.Cause(kind.Cause)
			if reason.Cause != cause {
				require.Equal(t, map[provisioning.Cause]int{cause: 1}, reason.ExistingNodes)
				require.Contains(t, reason.String(), "ruled out by "+kind.Nodes())
			}
		})
	}
}

// TestRichLawKindsAreKept: of every kind of constraint the packer, the passes and the
// referee think alike, whichever strategies and passes are left out, and no pod finds a
// place because pods are held to more.
func TestRichLawKindsAreKept(t *testing.T) {
	t.Parallel()
	for _, kind := range kinds.All() {
		held := 0
		for seed := range lawSeeds(2_000, 100) {
			r := rand.New(rand.NewPCG(seed, 23))
			in := sampleProblem(r)
			free := solved(t, in, nil)
			for _, pod := range scenes.EveryPod(in) {
				if r.IntN(100) < 60 {
					kind.Sample(pod)
				}
			}
			plan := solved(t, in, nil)
			require.Empty(t, verify.Plan(in, plan, nil), "%s, seed %d", kind.Name, seed)
			require.Empty(t, verify.Unplaced(in, plan, nil), "%s, seed %d", kind.Name, seed)
			require.GreaterOrEqual(t, len(plan.Unplaced), len(free.Unplaced), "%s, seed %d", kind.Name, seed)
			if len(plan.Unplaced) > len(free.Unplaced) || plan.Cost > free.Cost {
				held++
			}
			off := slices.DeleteFunc(provisioning.LeftOut(), func(string) bool { return r.IntN(2) == 0 })
			plan, _, _, err := provisioning.SolveWithout(context.Background(), in, nil, off...)
			require.NoError(t, err)
			require.Empty(t, verify.Plan(in, plan, nil), "%s, seed %d without %v", kind.Name, seed, off)
		}
		require.Greater(t, held, enough(20), kind.Name)
	}
}

// sampleProblem has pods for every kind of constraint to be about: some nodes with pods, a
// pool that may launch a few more, and pods that wait.
func sampleProblem(r *rand.Rand) provisioning.Input {
	pool := scenes.Pool("pool")
	pool.Spec.Limits = v1.Limits{"nodes": *resource.NewQuantity(int64(r.IntN(4)), resource.DecimalSI)}
	in := provisioning.Input{NodePools: []*v1.NodePool{pool}, InstanceTypes: map[string][]*cloudprovider.InstanceType{
		"pool": {scenes.Type("small", "cpu=1, memory=2Gi, pods=8", 0.1, "linux"), scenes.Type("large", "cpu=2, memory=4Gi, pods=16", 0.2, "linux")},
	}}
	for i := range r.IntN(4) {
		var bound []*corev1.Pod
		for j := range r.IntN(3) {
			bound = append(bound, samplePod(fmt.Sprintf("bound-%d-%d", i, j)))
		}
		in.Nodes = append(in.Nodes, sampleNode(fmt.Sprintf("node-%d", i), string(rune('a'+r.IntN(2))), bound...))
	}
	for i := range 1 + r.IntN(8) {
		pod := samplePod(fmt.Sprintf("pod-%d", i))
		if r.IntN(4) == 0 {
			pod.Spec.NodeSelector = map[string]string{corev1.LabelTopologyZone: string(rune('a' + r.IntN(2)))}
		}
		if r.IntN(4) == 0 {
			pod.Labels = nil
		}
		in.Pods = append(in.Pods, pod)
	}
	return in
}
