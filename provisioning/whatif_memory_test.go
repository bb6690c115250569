package provisioning_test

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/dovetail-sdk/dovetail/provisioning"
	"github.com/dovetail-sdk/dovetail/provisioning/internal/scenes"
)

// TestLawWhatIfsRemember: what a what-if takes over from the problem that it was made
// of, and that from another, makes no difference to its plan.
func TestLawWhatIfsRemember(t *testing.T) {
	t.Parallel()
	steps := 0
	for seed := range lawSeeds(400, 100) {
		in, opts := richProblem(seed, everything)
		in.Pods = slices.DeleteFunc(in.Pods, func(p *corev1.Pod) bool { return p == nil })
		problem, err := provisioning.Prepare(in, opts)
		require.NoError(t, err, "seed %d", seed)
		plan, err := problem.Solve(context.Background())
		require.NoError(t, err)
		for step := range min(4, len(in.Nodes)) {
			in.Nodes, in.Pods = slices.Clone(in.Nodes), slices.Clone(in.Pods)
			if step%2 == 0 {
				removeNode(&in, int(seed)+step)
			} else {
				bindFirst(&in, plan)
			}
			problem, err = problem.WithNodes(in.Nodes, in.Pods)
			require.NoError(t, err, "seed %d, step %d", seed, step)
			plan, err = problem.Solve(context.Background())
			require.NoError(t, err)
			require.Equal(t, solved(t, in, opts), plan, "seed %d, step %d", seed, step)
			steps++
		}
	}
	require.Greater(t, steps, enough(100))
}

// removeNode makes a node be on its way out, and its pods wait for another place.
func removeNode(in *provisioning.Input, number int) {
	n := &in.Nodes[number%len(in.Nodes)]
	when := metav1.Unix(1, 0)
	if n.Node != nil && n.Node.DeletionTimestamp == nil {
		node := *n.Node
		node.DeletionTimestamp = &when
		n.Node = &node
		for _, p := range n.Pods {
			if p.DeletionTimestamp != nil || p.Status.Phase == corev1.PodSucceeded || p.Status.Phase == corev1.PodFailed {
				continue
			}
			free := *p
			free.Spec.NodeName = ""
			in.Pods = append(in.Pods, &free)
		}
	}
}

// bindFirst puts the pods on the first node that a plan puts some on.
func bindFirst(in *provisioning.Input, plan *provisioning.Plan) {
	for _, b := range plan.Bind {
		at := slices.IndexFunc(in.Nodes, func(n provisioning.Node) bool { return n.Name() == b.Node })
		pods := slices.DeleteFunc(slices.Clone(b.Pods), func(p *corev1.Pod) bool { return !slices.Contains(in.Pods, p) }) // spare room
		if len(pods) == 0 {
			continue
		}
		n := &in.Nodes[at]
		n.Pods = slices.Clone(n.Pods)
		for _, p := range pods {
			bound := *p
			bound.Spec.NodeName = b.Node
			n.Pods = append(n.Pods, &bound)
		}
		in.Pods = slices.DeleteFunc(in.Pods, func(p *corev1.Pod) bool { return slices.Contains(pods, p) })
		return
	}
}

// manyPools returns the input of genericInput with a number of pools, one for each of as
// many teams. Half of the pods ask for the pool of one of eight teams.
func manyPools(pools, types int) provisioning.Input {
	in := scenes.Generic(100, types)
	model, catalog := in.NodePools[0], in.InstanceTypes["default"]
	in.NodePools = nil
	for i := range pools {
		pool := model.DeepCopy()
		pool.Name = fmt.Sprintf("team-%03d", i)
		pool.Spec.Template.Labels = map[string]string{"team": pool.Name}
		in.NodePools = append(in.NodePools, pool)
		in.InstanceTypes[pool.Name] = catalog
	}
	for i, pod := range in.Pods {
		if i%2 == 0 {
			pod.Spec.NodeSelector = map[string]string{"team": fmt.Sprintf("team-%03d", i%8)}
		}
	}
	return in
}

// allocated says how many bytes a call allocates.
func allocated(call func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	call()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// TestMemoryIsLinearInPools: each further pool takes no more memory than the one
// before. What is kept about options by pool must not be over the options of all.
func TestMemoryIsLinearInPools(t *testing.T) {
	of := map[int]float64{}
	for _, pools := range []int{8, 16, 32} {
		in := manyPools(pools, 500)
		of[pools] = float64(allocated(func() {
			solved(t, in, nil)
		}))
	}
	from8, from16 := (of[16]-of[8])/8, (of[32]-of[16])/16
	t.Logf("each pool of 9 to 16 takes %.0f KB, each of 17 to 32 %.0f KB", from8/1024, from16/1024)
	require.Less(t, from16, 1.2*from8)
}
