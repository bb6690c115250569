package verify_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/dovetail-sdk/dovetail/internal/testlong"
	"github.com/dovetail-sdk/dovetail/provisioning"
	"github.com/dovetail-sdk/dovetail/provisioning/internal/randproblem"
	"github.com/dovetail-sdk/dovetail/provisioning/verify"
)

// A plan that only fills nodes is carried out pod by pod in its order: each fits at its
// turn, and in the end none that is left fits anywhere that Unplaced does not excuse.
func TestLawAClusterTakesThePodsOfAPlan(t *testing.T) {
	bound, refused := 0, 0
	for seed := range testlong.Seeds(200, 2000) {
		in := randproblem.Draw(uint64(seed), randproblem.Config{})
		in.InstanceTypes, in.Buffers = nil, nil
		opts := randproblem.DrawOptions(uint64(seed), randproblem.Config{})
		plan := solved(t, in, opts, "seed %d", seed)
		require.Empty(t, verify.Plan(in, plan, opts), "seed %d", seed)
		home := map[*corev1.Pod]string{}
		for _, b := range plan.Bind {
			for _, pod := range b.Pods {
				home[pod] = b.Node
			}
		}
		c := verify.NewCluster(in, opts)
		for _, pod := range plan.Order {
			require.True(t, c.Fits(pod, home[pod]), "seed %d: %s does not fit on %s", seed, pod.Name, home[pod])
			require.True(t, c.Bind(pod, home[pod]))
			require.False(t, c.Fits(pod, home[pod]), "seed %d: %s is bound already", seed, pod.Name)
			require.False(t, c.Bind(pod, home[pod]))
			bound++
		}
		for _, u := range plan.Unplaced {
			for _, n := range in.Nodes {
				if !c.Fits(u.Pod, n.Name()) {
					refused++
				}
			}
		}
	}
	require.Greater(t, bound, 100)
	require.Greater(t, refused, 100)
}

func ExampleCluster() {
	in := verifyExampleInput()
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "node-1"}}
	node.Status.Allocatable = in.InstanceTypes["general"][0].Capacity.ResourceList()
	in.Nodes = []provisioning.Node{{Node: node}}
	second := in.Pods[0].DeepCopy()
	second.Name = "cart-2"
	in.Pods = append(in.Pods, second)

	c := verify.NewCluster(in, nil)
	fmt.Println(c.Fits(in.Pods[0], "node-1"), c.Bind(in.Pods[0], "node-1"))
	fmt.Println(c.Fits(second, "node-1"))
	// Output:
	// true true
	// false
}
