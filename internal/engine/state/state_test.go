package state_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/internal/engine/state"
	"github.com/dovetail-sdk/dovetail/provisioning"
	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
	"github.com/dovetail-sdk/dovetail/provisioning/resources"
	"github.com/dovetail-sdk/dovetail/provisioning/verify"
)

// cluster is a random cluster, and where its pods are.
type cluster struct {
	*rand.Rand
	in   provisioning.Input
	pods []*corev1.Pod
	at   map[*corev1.Pod]string
	gone map[string]bool
}

// newCluster returns nodes in three zones, and pods of five workloads, each with constraints on its own
// pods or on those of another workload.
func newCluster(seed uint64) *cluster {
	c := &cluster{Rand: rand.New(rand.NewPCG(seed, 1)), at: map[*corev1.Pod]string{}, gone: map[string]bool{}}
	for i := range 7 {
		name := fmt.Sprint("n", i)
		labels := map[string]string{corev1.LabelHostname: name, corev1.LabelTopologyZone: []string{"a", "b", "c"}[i%3]}
		if i == 6 {
			delete(labels, corev1.LabelTopologyZone)
		}
		node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: labels}}
		node.Status.Allocatable = corev1.ResourceList{corev1.ResourcePods: resource.MustParse("100")}
		node.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}}
		if c.IntN(5) == 0 {
			node.Spec.Taints = []corev1.Taint{{Key: "own", Effect: corev1.TaintEffectNoSchedule}}
		}
		c.in.Nodes = append(c.in.Nodes, provisioning.Node{Node: node})
	}
	for w := range 5 {
		spec := c.constraints(w)
		for i := range 2 + c.IntN(4) {
			p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "x", Name: fmt.Sprintf("w%d-%d", w, i), UID: "u", Labels: map[string]string{"app": fmt.Sprint("w", w)}}, Spec: *spec.DeepCopy()}
			c.pods = append(c.pods, p)
			if c.IntN(5) > 0 {
				c.at[p] = c.in.Nodes[c.IntN(len(c.in.Nodes))].Name()
				p.Spec.NodeName = c.at[p]
			}
		}
	}
	return c
}

// constraints returns the PodSpec of a workload.
func (c *cluster) constraints(w int) *corev1.PodSpec {
	spec := &corev1.PodSpec{Containers: []corev1.Container{{Name: "c"}}, Affinity: &corev1.Affinity{}}
	of := &metav1.LabelSelector{MatchLabels: map[string]string{"app": fmt.Sprint("w", (w+c.IntN(2))%5)}}
	key := []string{corev1.LabelTopologyZone, corev1.LabelHostname}[c.IntN(2)]
	term := []corev1.PodAffinityTerm{{TopologyKey: key, LabelSelector: of}}
	if c.IntN(2) == 0 {
		spec.Tolerations = []corev1.Toleration{{Operator: corev1.TolerationOpExists}}
	}
	switch c.IntN(5) {
	case 0:
		spec.Affinity.PodAffinity = &corev1.PodAffinity{RequiredDuringSchedulingIgnoredDuringExecution: term}
	case 1:
		spec.Affinity.PodAntiAffinity = &corev1.PodAntiAffinity{RequiredDuringSchedulingIgnoredDuringExecution: term}
	case 2, 3:
		spread := corev1.TopologySpreadConstraint{MaxSkew: int32(1 + c.IntN(2)), TopologyKey: key, WhenUnsatisfiable: corev1.DoNotSchedule, LabelSelector: of}
		if c.IntN(3) == 0 {
			spread.NodeTaintsPolicy = new(corev1.NodeInclusionPolicyHonor)
		}
		if c.IntN(3) == 0 {
			spread.MinDomains = new(int32(2 + c.IntN(2)))
		}
		spec.TopologySpreadConstraints = []corev1.TopologySpreadConstraint{spread}
	}
	return spec
}

// compiled returns the cluster as a state.
func (c *cluster) compiled(t *testing.T) *state.State {
	t.Helper()
	empty, err := provisioning.Prepare(provisioning.Input{NodePools: c.in.NodePools, InstanceTypes: c.in.InstanceTypes}, nil)
	require.NoError(t, err)
	var pods []state.Pod
	for _, p := range c.pods {
		pods = append(pods, state.Pod{Pod: p, Node: c.at[p]})
	}
	s, err := empty.State(c.in.Nodes, pods)
	require.NoError(t, err)
	return s
}

// excluded says whether the referee finds that constraints between pods exclude a pod from a node.
func (c *cluster) excluded(p *corev1.Pod, node string) bool {
	in := c.in
	in.Nodes = slices.DeleteFunc(slices.Clone(in.Nodes), func(n provisioning.Node) bool { return c.gone[n.Name()] })
	for i := range in.Nodes {
		for _, other := range c.pods {
			if other != p && c.at[other] == in.Nodes[i].Name() {
				bound := *other
				bound.Spec.NodeName = c.at[other]
				in.Nodes[i].Pods = append(slices.Clone(in.Nodes[i].Pods), &bound)
			}
		}
	}
	waiting := *p
	waiting.Spec.NodeName = ""
	in.Pods = []*corev1.Pod{&waiting}
	plan := &provisioning.Plan{Bind: []provisioning.Binding{{Node: node, Pods: in.Pods}}, Order: in.Pods}
	return slices.ContainsFunc(verify.Plan(in, plan, nil), func(v verify.Violation) bool {
		return v.Rule == verify.RuleSpread || v.Rule == verify.RuleAffinity || v.Rule == verify.RuleAntiAffinity
	})
}

// all returns everything that a state says.
func (c *cluster) all(s *state.State) string {
	out := fmt.Sprintln(s.Sites(corev1.LabelTopologyZone))
	for _, p := range c.pods {
		for _, n := range c.in.Nodes {
			choice, ok := s.Choose(p, n.Name())
			out += fmt.Sprintln(p.Name, n.Name(), s.Domains(n.Name(), corev1.LabelTopologyZone), s.Excluder(p, n.Name()) == nil, s.Held(p, n.Name()), choice, ok)
		}
	}
	return out
}

// TestStateAgreesWithReferee: after any moves and removals of nodes, a state excludes a pod from a node
// exactly if the referee does. A spread over the hostname is left out once a node is gone, because the
// state counts the node as an empty one.
func TestStateAgreesWithReferee(t *testing.T) {
	t.Parallel()
	asked, no := 0, 0
	for seed := range uint64(150) {
		c := newCluster(seed)
		s := c.compiled(t)
		for range 12 {
			p := c.pods[c.IntN(len(c.pods))]
			if was := c.at[p]; was != "" {
				s.Depart(p, was)
				delete(c.at, p)
			}
			for _, n := range c.in.Nodes {
				taken := len(n.Node.Spec.Taints) > 0 && len(p.Spec.Tolerations) == 0
				spread := p.Spec.TopologySpreadConstraints
				if c.gone[n.Name()] || taken || len(c.gone) > 0 && len(spread) > 0 && spread[0].TopologyKey == corev1.LabelHostname {
					continue
				}
				want := c.excluded(p, n.Name())
				require.Equal(t, want, s.Excluder(p, n.Name()) != nil, "seed %d: %s to %s", seed, p.Name, n.Name())
				if asked++; want {
					no++
				}
			}
			to := c.in.Nodes[c.IntN(len(c.in.Nodes))].Name()
			if !c.gone[to] {
				s.Arrive(p, to, false)
				c.at[p] = to
			}
			if empty := c.in.Nodes[c.IntN(len(c.in.Nodes))].Name(); c.IntN(3) == 0 && !c.gone[empty] && len(c.gone) < 5 {
				for _, p := range c.pods {
					if c.at[p] == empty {
						s.Depart(p, empty)
						delete(c.at, p)
					}
				}
				s.Remove(empty)
				c.gone[empty] = true
			}
		}
	}
	require.Greater(t, asked, 2_000)
	require.Greater(t, no, asked/10)
}

// largeType returns an instance type in zone a and in a zone without nodes.
func largeType() *cloudprovider.InstanceType {
	return &cloudprovider.InstanceType{Name: "large", Capacity: resources.MustParse("cpu=4, memory=16Gi, pods=50"),
		Requirements: requirements.NewSet(requirements.In(corev1.LabelInstanceTypeStable, "large"), requirements.In(corev1.LabelTopologyZone, "a", "d"),
			requirements.In(v1.CapacityTypeLabelKey, v1.CapacityTypeOnDemand)),
		Offerings: []cloudprovider.Offering{
			{Zone: "a", CapacityType: v1.CapacityTypeOnDemand, Price: 1, Available: true}, {Zone: "d", CapacityType: v1.CapacityTypeOnDemand, Price: 1, Available: true}}}
}

// TestRewind: whatever was changed after a mark, Rewind takes it back.
func TestRewind(t *testing.T) {
	t.Parallel()
	for seed := range uint64(60) {
		c := newCluster(seed)
		c.in.NodePools = []*v1.NodePool{{ObjectMeta: metav1.ObjectMeta{Name: "pool"}}}
		large := largeType()
		c.in.InstanceTypes = map[string][]*cloudprovider.InstanceType{"pool": {large}}
		s := c.compiled(t)
		before := []string{c.all(s)}
		marks := []int{s.Mark()}
		for i := range 20 {
			p := c.pods[c.IntN(len(c.pods))]
			node := c.in.Nodes[c.IntN(len(c.in.Nodes))].Name()
			switch c.IntN(5) {
			case 0:
				s.Depart(p, c.at[p])
				delete(c.at, p)
			case 1, 2:
				s.Depart(p, c.at[p])
				s.Arrive(p, node, c.IntN(3) == 0)
				delete(c.at, p)
			case 3:
				if !slices.ContainsFunc(c.pods, func(p *corev1.Pod) bool { return c.at[p] == node }) {
					s.Remove(node)
				}
			case 4:
				s.Launch(state.NewNode{Name: fmt.Sprint("new", i), Pool: "pool", Options: []cloudprovider.LaunchOption{
					{InstanceType: large, Offering: &large.Offerings[c.IntN(2)]}}})
				s.Arrive(p, fmt.Sprint("new", i), false)
			}
			marks, before = append(marks, s.Mark()), append(before, c.all(s))
		}
		for len(marks) > 0 {
			last := len(marks) - 1
			s.Rewind(marks[last])
			require.Equal(t, before[last], c.all(s), "seed %d", seed)
			marks = marks[:c.IntN(last+1)]
		}
	}
}
