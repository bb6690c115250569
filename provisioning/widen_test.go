package provisioning_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/internal/testlong"
	"github.com/dovetail-sdk/dovetail/provisioning"
	"github.com/dovetail-sdk/dovetail/provisioning/internal/scenes"
	"github.com/dovetail-sdk/dovetail/provisioning/resources"
	"github.com/dovetail-sdk/dovetail/provisioning/verify"
)

// apartInput returns a number of pods of 1.5 CPU, each to be on a node of its own, and one
// pool with limits for them.
func apartInput(pods int, limits string) provisioning.Input {
	in := scenes.Generic(pods, 2000)
	in.NodePools[0].Spec.Limits = v1.Limits(resources.MustParse(limits).ResourceList())
	for _, pod := range in.Pods {
		pod.Labels = map[string]string{"app": "apart"}
		pod.Spec.Containers[0].Resources.Requests = resources.MustParse("cpu=1500m").ResourceList()
		scenes.Avoid(pod, corev1.PodAffinityTerm{TopologyKey: corev1.LabelHostname, LabelSelector: scenes.Alike(pod)})
	}
	return in
}

// keysOf returns the names of the options of a new node that take no more CPU than given.
func keysOf(n *provisioning.NewNode, cpus int64) []string {
	var out []string
	for _, o := range n.Options {
		if o.InstanceType.Capacity.Get("cpu") <= cpus*1000 {
			out = append(out, o.Key().String())
		}
	}
	return out
}

func mostCPU(n *provisioning.NewNode) int64 {
	most := int64(0)
	for _, o := range n.Options {
		most = max(most, o.InstanceType.Capacity.Get("cpu")/1000)
	}
	return most
}

// TestLimitsTakeOnlyWhatTheyCannotBear: a new node names every option that holds its
// pods and that the limits bear whatever the other new nodes turn out to be.
func TestLimitsTakeOnlyWhatTheyCannotBear(t *testing.T) {
	testlong.Alone(t)
	free := solved(t, apartInput(1, "none.example.com/any=1"), nil)
	whole := &free.Create[0]
	require.Greater(t, len(whole.Options), 3000)
	for _, tt := range []struct {
		pods   int
		limits string
		each   int64 // CPUs that a node may have at most
	}{
		{1, "cpu=1000000", 1_000_000},
		{1, "cpu=1000", 1_000},
		{1, "cpu=100", 100},
		{1, "cpu=100, memory=100Ti, nodes=5", 100},
		{1, "cpu=2", 2},
		{1, "nodes=1", 1_000_000},
		{2, "cpu=100", 50},
		{3, "cpu=100000", 1_000_000},
		{4, "cpu=64", 16},
		{4, "cpu=80", 19},
	} {
		t.Run(fmt.Sprintf("%d pods, %s", tt.pods, tt.limits), func(t *testing.T) {
			in := apartInput(tt.pods, tt.limits)
			plan := solvedInFull(t, in)
			require.Len(t, plan.Create, tt.pods)
			for i := range plan.Create {
				n := &plan.Create[i]
				require.Equal(t, keysOf(whole, tt.each), keysOf(n, tt.each), n.Name)
			}
			require.Equal(t, free.Cost*float64(tt.pods), plan.Cost)
		})
	}
	t.Run("what is too little for all goes to some", func(t *testing.T) {
		plan := solvedInFull(t, apartInput(4, "cpu=80"))
		var most []int64
		for i := range plan.Create {
			most = append(most, mostCPU(&plan.Create[i]))
		}
		require.ElementsMatch(t, []int64{24, 24, 16, 16}, most)
	})
}

// TestLimitsLeaveMinValues: a pool that demands many instance types has them within its
// limits.
func TestLimitsLeaveMinValues(t *testing.T) {
	in := apartInput(2, "cpu=40")
	need := 60
	spec := &in.NodePools[0].Spec.Template.Spec
	spec.Requirements = append(spec.Requirements, v1.NodeSelectorRequirementWithMinValues{
		Key: corev1.LabelInstanceTypeStable, Operator: corev1.NodeSelectorOpExists, MinValues: &need,
	})
	plan := solvedInFull(t, in)
	for i := range plan.Create {
		kinds := map[string]bool{}
		for _, o := range plan.Create[i].Options {
			kinds[o.InstanceType.Name] = true
		}
		require.Greater(t, len(kinds), 2*need)
	}
}

// TestLawLimitOutOfReach: a limit that nothing can reach changes nothing.
func TestLawLimitOutOfReach(t *testing.T) {
	t.Parallel()
	for seed := range lawSeeds(400, 50) {
		in, opts := richProblem(seed, everything)
		for _, pool := range in.NodePools {
			pool.Spec.Limits = nil
		}
		want := essence(solved(t, in, opts))
		for i, pool := range in.NodePools {
			if pool.Spec.Replicas == nil {
				pool.Spec.Limits = v1.Limits(resources.MustParse(
					[]string{"cpu=1000000", "cpu=10000000, memory=100Pi", "nodes=100000", "cpu=1000000, nodes=100000, pods=10000000"}[(int(seed)+i)%4]).ResourceList())
			}
		}
		require.Equal(t, want, essence(solved(t, in, opts)), "seed %d", seed)
	}
}

// TestLawLimitsBearOptions: plans within limits are valid whatever is launched, and no
// node could name one of its type's other offerings, or another type, in vain.
func TestLawLimitsBearOptions(t *testing.T) {
	t.Parallel()
	some := 0
	for seed := range lawSeeds(500, 100) {
		in, opts := richProblem(seed, everything)
		for i, pool := range in.NodePools {
			if pool.Spec.Replicas == nil {
				pool.Spec.Limits = v1.Limits(resources.MustParse(fmt.Sprintf("cpu=%d", 8+int(seed)%50+20*i)).ResourceList())
			}
		}
		plan := solved(t, in, opts)
		require.Empty(t, verify.Plan(in, plan, opts), "seed %d", seed)
		for i := range plan.Create {
			n := &plan.Create[i]
			if mostCPU(n) > n.Options[0].InstanceType.Capacity.Get("cpu")/1000 {
				some++
			}
		}
	}
	require.Positive(t, some, "no node has options that take more than the cheapest")
}

// TestWideningGrowsWithNodes: where limits take options from new nodes, giving these back
// costs as much a node, however many topology spreads there are that look at nodes alike.
func TestWideningGrowsWithNodes(t *testing.T) {
	allocations := func(pods int) float64 {
		in := apartInput(pods, fmt.Sprint("cpu=", 16*pods))
		for _, pod := range scenes.Generic(pods, 2000).Pods { // each workload has a spread of its own
			pod.Name = "spread-" + pod.Name
			pod.Labels = map[string]string{"app": pod.Name}
			scenes.Spread(pod, corev1.LabelHostname, 1, scenes.Alike(pod))
			in.Pods = append(in.Pods, pod)
		}
		return testing.AllocsPerRun(1, func() {
			plan := solved(t, in, &provisioning.Options{Quick: true})
			require.GreaterOrEqual(t, len(plan.Create), pods)
		})
	}
	few, many := allocations(200), allocations(800)
	t.Logf("%.0f allocations for 200 nodes, %.0f for 800", few, many)
	require.Less(t, many, 4*few, "four times as many nodes and spreads")
}
