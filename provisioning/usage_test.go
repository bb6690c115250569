package provisioning_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/provisioning"
	"github.com/dovetail-sdk/dovetail/provisioning/resources"
)

// shopNode returns a node of the pool of shop with so much capacity.
func shopNode(name, capacity string) provisioning.Node {
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{v1.NodePoolLabelKey: "general"}}}
	node.Status.Capacity = resources.MustParse(capacity).ResourceList()
	node.Status.Allocatable = node.Status.Capacity
	return provisioning.Node{Node: node}
}

// shopClaim returns a NodeClaim of the pool of shop that has not been launched.
func shopClaim(name string, types ...string) provisioning.Node {
	claim := &v1.NodeClaim{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{v1.NodePoolLabelKey: "general"}}}
	claim.Spec.Requirements = []v1.NodeSelectorRequirementWithMinValues{{Key: corev1.LabelInstanceTypeStable, Operator: corev1.NodeSelectorOpIn, Values: types}}
	return provisioning.Node{NodeClaim: claim}
}

// What pools have, to be shown in their status.
func ExampleProblem_Usage() {
	in := shop()
	in.NodePools[0].Spec.Limits = v1.Limits{"cpu": resource.MustParse("20"), "nodes": resource.MustParse("3")}
	in.Nodes = []provisioning.Node{shopNode("old", "cpu=4, memory=16Gi, pods=110")}
	problem, err := provisioning.Prepare(in, nil)
	if err != nil {
		panic(err)
	}
	usage, err := problem.Usage()
	if err != nil {
		panic(err)
	}
	for _, u := range usage {
		fmt.Println(u.Pool.Name, "has", u.Resources)
		fmt.Println("and may have", u.Left)
		u.Pool.Status.Resources, u.Pool.Status.Nodes = u.Resources.ResourceList(), &u.Nodes
	}
	// Output:
	// general has cpu=4, memory=16Gi, nodes=1, pods=110
	// and may have cpu=16, nodes=2
}

func TestUsage(t *testing.T) {
	in := shop()
	in.NodePools[0].Spec.Limits = v1.Limits{"cpu": resource.MustParse("9"), "nodes": resource.MustParse("2")}
	other := in.NodePools[0].DeepCopy()
	other.Name, other.Spec.Limits = "another", nil
	in.NodePools = append(in.NodePools, other)
	in.InstanceTypes["another"] = in.InstanceTypes["general"]
	leaving := shopNode("leaving", "cpu=64")
	when := metav1.Unix(1, 0)
	leaving.Node.DeletionTimestamp = &when
	stranger := shopNode("stranger", "cpu=64")
	stranger.Node.Labels[v1.NodePoolLabelKey] = "gone"
	types := typeNames(in)
	in.Nodes = []provisioning.Node{shopNode("old", "cpu=4, memory=16Gi"), leaving, stranger, shopClaim("any", types...)}

	problem := problemOf(t, in, nil)
	usage, err := problem.Usage()
	require.NoError(t, err)
	require.Len(t, usage, 2)
	require.Same(t, other, usage[0].Pool, "by name, although no lighter")
	require.Zero(t, usage[0].Nodes)
	require.Zero(t, usage[0].Resources.Len())
	require.Zero(t, usage[0].Left.Len(), "there is no limit")

	general := usage[1]
	largest := resources.List{}
	for _, it := range in.InstanceTypes["general"] {
		largest = largest.Max(it.Capacity)
	}
	require.EqualValues(t, 2, general.Nodes, "one has not been launched")
	require.Equal(t, 4000+largest.Get("cpu"), general.Resources.Get("cpu"), "it may be the largest")
	require.EqualValues(t, 2, general.Resources.Get(v1.ResourceNodes))
	require.Equal(t, max(0, 9000-general.Resources.Get("cpu")), general.Left.Get("cpu"))
	require.Equal(t, 2, general.Left.Len(), "a limit that is used up is listed")

	without, err := problem.WithNodes(in.Nodes[:1], nil)
	require.NoError(t, err)
	usage, err = without.Usage()
	require.NoError(t, err)
	require.EqualValues(t, 1, usage[1].Nodes, "a what-if has nodes of its own")
	require.EqualValues(t, 5000, usage[1].Left.Get("cpu"))
}

func TestUsageNamesNodesThatCannotBeRead(t *testing.T) {
	in := shop()
	broken := shopNode("broken", "cpu=4")
	broken.Node.Status.Capacity = corev1.ResourceList{"cpu": resource.MustParse("100E")}
	in.Nodes = []provisioning.Node{broken}
	problem := problemOf(t, in, nil, "no limit counts it")
	_, err := problem.Usage()
	require.ErrorContains(t, err, `Node "broken": status.capacity`)
}

func typeNames(in provisioning.Input) []string {
	var out []string
	for _, it := range in.InstanceTypes["general"] {
		out = append(out, it.Name)
	}
	return out
}

// TestLawUsage: what pools have and what is left make up the limits, and every node
// that stays counts once.
func TestLawUsage(t *testing.T) {
	t.Parallel()
	limited := 0
	for seed := range lawSeeds(400, 80) {
		in, opts := richProblem(seed, everything)
		problem := problemOf(t, in, opts)
		usage, err := problem.Usage()
		require.NoError(t, err)
		require.Len(t, usage, len(in.NodePools))
		require.True(t, slices.IsSortedFunc(usage, func(a, b provisioning.PoolUsage) int { return strings.Compare(a.Pool.Name, b.Pool.Name) }))
		for _, u := range usage {
			for name, limit := range u.Pool.Spec.Limits {
				limited++
				most, err := resources.FromResourceList(corev1.ResourceList{name: limit})
				require.NoError(t, err)
				require.Equal(t, max(0, most.Get(name)-u.Resources.Get(name)), u.Left.Get(name), "seed %d: %s of %s", seed, name, u.Pool.Name)
			}
			require.Equal(t, len(u.Pool.Spec.Limits), u.Left.Len())
			require.Equal(t, u.Nodes, u.Resources.Get(v1.ResourceNodes))
			require.LessOrEqual(t, u.Nodes, int64(len(in.Nodes)))
		}
	}
	require.Positive(t, limited)
}
