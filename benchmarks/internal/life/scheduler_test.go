package life_test

import (
	"flag"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/dovetail-sdk/dovetail/benchmarks/internal/life"
	"github.com/dovetail-sdk/dovetail/fake"
	"github.com/dovetail-sdk/dovetail/internal/kubescheduler"
	"github.com/dovetail-sdk/dovetail/internal/simcluster"
	"github.com/dovetail-sdk/dovetail/internal/twodays"
	"github.com/dovetail-sdk/dovetail/provisioning/resources"
)

var schedulers = flag.String("kubescheduler", "", "programs of kubescheduler, as MINOR=PATH, separated by commas")

// pending is a cluster with pods of one CPU that wait, and two nodes that came just now.
func pending(t *testing.T, pods int, allocatable ...string) *simcluster.Cluster {
	cloud, err := fake.New(nil)
	require.NoError(t, err)
	c, err := simcluster.New(cloud, twodays.Daemon(), simcluster.Deployment("web", "cpu=1, memory=1Gi", func(time.Time) int { return pods }))
	require.NoError(t, err)
	c.Advance(time.Second)
	for i, amount := range allocatable {
		n := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: string(rune('a' + i))}}
		n.Status.Allocatable = resources.MustParse(amount).ResourceList()
		c.Nodes.Put(n.Name, n)
	}
	return c
}

// nodes are those of the pods, in the order of the pods' names.
func nodes(c *simcluster.Cluster) (names []string) {
	for _, p := range c.Pods.All() {
		names = append(names, p.Spec.NodeName)
	}
	return names
}

func nominate(c *simcluster.Cluster, pod int, node string) {
	changed := c.Pods.All()[pod].DeepCopy()
	changed.Status.NominatedNodeName = node
	c.UpdatePod(changed)
}

// TestKubeScheduler asks kube-scheduler itself: it spreads pods over nodes by their room, tries the node
// first that a pod names, and keeps the room of a pod that cannot go there yet.
func TestKubeScheduler(t *testing.T) {
	for _, program := range kubescheduler.ForTest(t, *schedulers) {
		s := &life.KubeScheduler{Program: program, Seed: 1}

		c := pending(t, 4, "cpu=3, memory=8Gi, pods=110", "cpu=3, memory=8Gi, pods=110")
		require.NoError(t, s.Schedule(c))
		on := map[string]int{}
		for _, node := range nodes(c) {
			on[node]++
		}
		require.Equal(t, map[string]int{"a": 2, "b": 2}, on)

		c = pending(t, 2, "cpu=8, memory=32Gi, pods=110", "cpu=2, memory=3Gi, pods=110")
		nominate(c, 1, "b")
		require.NoError(t, s.Schedule(c))
		require.Equal(t, []string{"a", "b"}, nodes(c), "the other goes where most is free")

		c = pending(t, 2, "cpu=1, memory=8Gi, pods=110")
		node, _ := c.Nodes.Get("a")
		node = node.DeepCopy()
		node.Spec.Taints = []corev1.Taint{{Key: "starting", Effect: corev1.TaintEffectNoSchedule}}
		c.Nodes.Put("a", node)
		tolerant := c.Pods.All()[0].DeepCopy()
		tolerant.Spec.Tolerations = []corev1.Toleration{{Operator: corev1.TolerationOpExists}}
		c.UpdatePod(tolerant)
		nominate(c, 1, "a")
		require.NoError(t, s.Schedule(c))
		require.Equal(t, []string{"", ""}, nodes(c), "the only room is kept for the pod that names the node")
	}
}
