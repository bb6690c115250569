package provisioning_test

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"github.com/dovetail-sdk/dovetail/provisioning"
	"github.com/dovetail-sdk/dovetail/provisioning/internal/scenes"
)

// TestRoundCostsWhatChanged counts what the problem of the next moment and its quick plan
// allocate: as much in a cluster of four times as many nodes.
func TestRoundCostsWhatChanged(t *testing.T) {
	allocations := func(nodes int, change func(provisioning.Input, int) provisioning.Input) float64 {
		in := crowdedCluster(nodes, 12*nodes)
		problem, err := provisioning.Prepare(in, &provisioning.Options{Quick: true})
		require.NoError(t, err)
		round := 0
		return testing.AllocsPerRun(8, func() {
			round++
			in = change(in, round)
			problem, err = problem.WithInput(in)
			require.NoError(t, err)
			_, err = problem.Solve(context.Background())
			require.NoError(t, err)
		})
	}
	five := func(in provisioning.Input, round int) provisioning.Input {
		in.Nodes, in.Pods = nextMoment(in, round)
		return in
	}
	for name, change := range map[string]func(provisioning.Input, int) provisioning.Input{
		"five nodes and fifty pods": five,
		"pods that are spread": func(in provisioning.Input, round int) provisioning.Input {
			in = five(in, round)
			spreadOverZones(in.Pods)
			return in
		},
		"a node goes": func(in provisioning.Input, round int) provisioning.Input {
			in = five(in, round)
			in.Nodes = slices.Delete(in.Nodes, round, round+1)
			return in
		},
	} {
		small, large := allocations(300, change), allocations(1_200, change)
		t.Log(name, small, large)
		require.LessOrEqual(t, large, small+20, fmt.Sprint(name, ": it allocates something for each node"))
	}
}

// TestRoundsForgetKinds: where most kinds of pods that ever ran are gone, nodes are read anew,
// and that shows in no plan.
func TestRoundsForgetKinds(t *testing.T) {
	in := crowdedCluster(6, 72)
	opts := &provisioning.Options{Quick: true}
	problem, err := provisioning.Prepare(in, opts)
	require.NoError(t, err)
	for round := range 6 {
		in.Nodes = slices.Clone(in.Nodes)
		n := &in.Nodes[round]
		n.Pods = nil
		for i := range 500 { // 3,000 kinds in all, of which the first problem had 72
			pod := scenes.Pod(fmt.Sprintf("kind-%d-%d", round, i), "1m", "1Mi")
			pod.Labels = map[string]string{"app": fmt.Sprintf("app-%d", i%7), "kind": pod.Name}
			pod.Spec.NodeName = n.Name()
			n.Pods = append(n.Pods, pod)
		}
		_, in.Pods = nextMoment(in, round)
		spreadOverZones(in.Pods)
		problem, err = problem.WithInput(in)
		require.NoError(t, err)
		got, err := problem.Solve(context.Background())
		require.NoError(t, err)
		want, err := provisioning.Solve(context.Background(), in, opts)
		require.NoError(t, err)
		require.Equal(t, want, got, "round %d", round)
	}
}

// crowdedCluster returns a cluster of the given number of nodes and pods that run.
func crowdedCluster(nodes, bound int) provisioning.Input {
	in := busyCluster(nodes)
	each := bound / nodes
	for i := range in.Nodes {
		n := &in.Nodes[i]
		for k := len(n.Pods); k < each; k++ {
			pod := scenes.Pod(fmt.Sprintf("%s-%d", n.Name(), k), "10m", "16Mi")
			pod.Spec.NodeName = n.Name()
			n.Pods = append(n.Pods, pod)
		}
	}
	return in
}

// nextMoment has one pod less on each of five nodes, and fifty pods that wait.
func nextMoment(in provisioning.Input, round int) ([]provisioning.Node, []*corev1.Pod) {
	nodes := slices.Clone(in.Nodes)
	for i := range 5 {
		n := &nodes[(5*round+i)*31%len(nodes)]
		n.Pods = slices.Clone(n.Pods[:max(1, len(n.Pods)-1)])
	}
	var pods []*corev1.Pod
	for i := range 50 {
		pods = append(pods, scenes.Pod(fmt.Sprintf("new-%d-%d", round, i), "500m", "1Gi"))
	}
	return nodes, pods
}

// spreadOverZones makes pods those of five workloads.
func spreadOverZones(pods []*corev1.Pod) {
	for i, pod := range pods {
		pod.Labels = map[string]string{"app": fmt.Sprintf("app-%d", i%5)}
		pod.Spec.NodeSelector = map[string]string{corev1.LabelArchStable: "amd64"}
		pod.Spec.TopologySpreadConstraints = nil
		scenes.Spread(pod, corev1.LabelTopologyZone, 1, scenes.Alike(pod))
	}
}
