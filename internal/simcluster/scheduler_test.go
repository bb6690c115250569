package simcluster

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/dovetail-sdk/dovetail/fake"
	"github.com/dovetail-sdk/dovetail/provisioning/resources"
)

// scene returns a cluster with nodes in zones, and pods of one workload to place.
func scene(t *testing.T, zones []string, pods int, change func(*corev1.PodSpec)) *Cluster {
	cloud, err := fake.New(nil)
	require.NoError(t, err)
	c := &Cluster{Cloud: cloud}
	for i, zone := range zones {
		n := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("n%d", i), Labels: map[string]string{corev1.LabelTopologyZone: zone}}}
		n.Status.Allocatable = resources.MustParse("cpu=4, memory=8Gi, pods=110").ResourceList()
		c.Nodes.Put(n.Name, n)
	}
	w := Deployment("web", "cpu=1, memory=1Gi", nil)
	if change != nil {
		change(&w.Template)
	}
	for range pods {
		w.add(c)
	}
	return c
}

// placed counts the pods on each node, in order, and those that are pending.
func placed(c *Cluster) (counts []int, pending int) {
	for _, n := range c.Nodes.All() {
		counts = append(counts, len(c.PodsByNode()[n.Name]))
	}
	for _, p := range c.Pods.All() {
		if p.Pending() {
			pending++
		}
	}
	return counts, pending
}

func TestSchedule(t *testing.T) {
	spread := func(spec *corev1.PodSpec) {
		spec.TopologySpreadConstraints = []corev1.TopologySpreadConstraint{{MaxSkew: 1, TopologyKey: corev1.LabelTopologyZone,
			WhenUnsatisfiable: corev1.DoNotSchedule}}
	}
	for name, row := range map[string]struct {
		zones   []string
		pods    int
		spec    func(*corev1.PodSpec)
		node    func(*Cluster)
		counts  []int
		pending int
	}{
		"room for all":   {[]string{"a", "b"}, 6, nil, nil, []int{4, 2}, 0},
		"too little":     {[]string{"a", "b"}, 10, nil, nil, []int{4, 4}, 2},
		"spread":         {[]string{"a", "a", "b"}, 10, spread, nil, []int{4, 1, 4}, 1},
		"spread, no b":   {[]string{"a", "a"}, 3, spread, nil, []int{3, 0}, 0},
		"selector":       {[]string{"a", "b"}, 2, func(s *corev1.PodSpec) { s.NodeSelector = map[string]string{corev1.LabelTopologyZone: "b"} }, nil, []int{0, 2}, 0},
		"taint":          {[]string{"a", "b"}, 2, nil, func(c *Cluster) { taint(c, "n0", corev1.TaintEffectNoSchedule) }, []int{0, 2}, 0},
		"soft taint":     {[]string{"a", "b"}, 6, nil, func(c *Cluster) { taint(c, "n0", corev1.TaintEffectPreferNoSchedule) }, []int{2, 4}, 0},
		"nominated node": {[]string{"a", "b"}, 1, nil, func(c *Cluster) { nominate(c, "shop/web-0-0001", "n1") }, []int{0, 1}, 0},
		"room promised":  {[]string{"a"}, 5, nil, func(c *Cluster) { nominate(c, "shop/web-0-0005", "n0") }, []int{4}, 1},
	} {
		c := scene(t, row.zones, row.pods, row.spec)
		if row.node != nil {
			row.node(c)
		}
		schedule(c)
		counts, pending := placed(c)
		require.Equal(t, row.counts, counts, name)
		require.Equal(t, row.pending, pending, name)
	}
}

func nominate(c *Cluster, name, node string) {
	p, _ := c.Pods.Get(name)
	pod := p.DeepCopy()
	pod.Status.NominatedNodeName = node
	c.UpdatePod(pod)
}

func taint(c *Cluster, node string, effect corev1.TaintEffect) {
	n, _ := c.Nodes.Get(node)
	n = n.DeepCopy()
	n.Spec.Taints = []corev1.Taint{{Key: "closed", Effect: effect}}
	c.Nodes.Put(node, n)
}
