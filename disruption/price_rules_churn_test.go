package disruption_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
)

// One dear node of a pool is that pool's average: what an eviction is worth is also
// weighed by what the other pools pay.
func TestADearPodIsMovedForLess(t *testing.T) {
	small, _, large, all := sizes()
	train := func() *corev1.Pod {
		return load("train", 7000, func(p *corev1.Pod) { p.Spec.NodeSelector = map[string]string{v1.NodePoolLabelKey: "gpu"} })
	}
	dear, cheaper := sizedType("dear", 8, 2.0), sizedType("cheaper", 8, 1.1)
	in := fleetOf(all)
	in.NodePools = append(in.NodePools, newPool("gpu"))
	in.InstanceTypes["gpu"] = []*cloudprovider.InstanceType{dear, cheaper}
	in.Nodes = append(in.Nodes, machine("n0", "gpu", dear, train()))
	p := propose(t, in, nil)
	require.Empty(t, p.Actions, "alone it scores 0.45 and a half is asked for")
	for i := range 4 {
		in.Nodes = append(in.Nodes, machine(fmt.Sprintf("n%d", i+1), "default", small, load(fmt.Sprintf("p%d", i), 1800)))
	}
	require.Equal(t, []string{"Underutilized n0 -> cheaper saves 0.900"}, deeds(propose(t, in, nil).Actions))

	// It is not the other way round: what others pay does not keep a cheap pool from
	// being tidied up.
	in = fleetOf(all, machine("n1", "default", large, load("a", 1500)), machine("n2", "default", large, load("b", 7900)))
	want := deeds(propose(t, in, nil).Actions)
	require.NotEmpty(t, want)
	in.NodePools = append(in.NodePools, newPool("gpu"))
	in.InstanceTypes["gpu"] = []*cloudprovider.InstanceType{cheaper}
	in.Nodes = append(in.Nodes, machine("n3", "gpu", sizedType("cheaper", 8, 1.1), train()))
	require.Equal(t, want, deeds(propose(t, in, nil).Actions))
}
