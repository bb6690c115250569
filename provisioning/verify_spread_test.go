package provisioning_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/provisioning"
	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
)

// team gives pods a common label.
func team(name string, pods ...*corev1.Pod) {
	for _, pod := range pods {
		pod.Labels = map[string]string{"team": name, "app": pod.Name}
	}
}

func teamSelector(name string) *metav1.LabelSelector {
	return &metav1.LabelSelector{MatchLabels: map[string]string{"team": name}}
}

func appSelector(name string) *metav1.LabelSelector {
	return &metav1.LabelSelector{MatchLabels: map[string]string{"app": name}}
}

// spread gives a pod a hard constraint on pods of its team.
func spread(pod *corev1.Pod, key string, skew int32, change ...func(*corev1.TopologySpreadConstraint)) {
	c := corev1.TopologySpreadConstraint{
		TopologyKey: key, MaxSkew: skew, WhenUnsatisfiable: corev1.DoNotSchedule, LabelSelector: teamSelector(pod.Labels["team"]),
	}
	for _, f := range change {
		f(&c)
	}
	pod.Spec.TopologySpreadConstraints = append(pod.Spec.TopologySpreadConstraints, c)
}

// pin leaves a new node only its options in one zone.
func (s *scene) pin(n *provisioning.NewNode, zone string) {
	n.Options = slices.DeleteFunc(n.Options, func(o cloudprovider.LaunchOption) bool { return o.Offering.Zone != zone })
}

// tally puts pods of a team on the nodes old (zone a), plain and young (zone b).
func (s *scene) tally(name string, old, plain, young int) {
	for node, count := range map[*provisioning.Node]int{s.old: old, s.plain: plain, s.young: young} {
		for range count {
			pod := scenePod("present", "1m", "1Mi")
			team(name, pod)
			node.Pods = append(node.Pods, pod)
		}
	}
}

func TestVerifySpread(t *testing.T) {
	const zone, host = corev1.LabelTopologyZone, corev1.LabelHostname
	broken := rules(provisioning.RuleSpread)
	// tiny goes to old, in zone a.
	tiny := func(old, plain int, key string, change ...func(*corev1.TopologySpreadConstraint)) func(*scene) {
		return func(s *scene) {
			team("t", s.tiny)
			s.tally("t", old, plain, 0)
			spread(s.tiny, key, 1, change...)
		}
	}
	type tsc = corev1.TopologySpreadConstraint
	honor, ignore := corev1.NodeInclusionPolicyHonor, corev1.NodeInclusionPolicyIgnore
	three := int32(3)
	judge(t, []verdict{
		{"even", tiny(0, 0, zone), nil, ""},
		{"within the skew", tiny(1, 1, zone), nil, ""},
		{"beyond the skew", tiny(1, 0, zone), broken, "node old: pod default/tiny: when its turn comes, topology.kubernetes.io/zone=a, where the node may be, may have 1 of the pods that its topology spread counts, another domain 0; with it the skew is above 1"},
		{"soft", tiny(1, 0, zone, func(c *tsc) { c.WhenUnsatisfiable = corev1.ScheduleAnyway }), nil, ""},
		{"a wider skew", tiny(1, 0, zone, func(c *tsc) { c.MaxSkew = 2 }), nil, ""},
		{"pods of others", tiny(1, 0, zone, func(c *tsc) { c.LabelSelector = teamSelector("u") }), nil, ""},
		{"no selector counts nobody", tiny(3, 0, zone, func(c *tsc) { c.LabelSelector = nil }), nil, ""},
		{"an empty selector counts nobody", tiny(3, 0, zone, func(c *tsc) { c.LabelSelector = &metav1.LabelSelector{} }), nil, ""},
		{"a selector that cannot be read", tiny(0, 0, zone, func(c *tsc) {
			c.LabelSelector = &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "k", Operator: "Near"}}}
		}), rules(provisioning.RuleAffinity), "cannot be read"},
		{"other namespace", func(s *scene) {
			tiny(1, 0, zone)(s)
			s.old.Pods[len(s.old.Pods)-1].Namespace = "else"
		}, nil, ""},
		{"terminating", func(s *scene) {
			tiny(1, 0, zone)(s)
			s.old.Pods[len(s.old.Pods)-1].DeletionTimestamp = &metav1.Time{}
		}, nil, ""},
		{"finished", func(s *scene) {
			tiny(1, 0, zone)(s)
			s.old.Pods[len(s.old.Pods)-1].Status.Phase = corev1.PodSucceeded
		}, nil, ""},
		{"on a node being deleted", func(s *scene) {
			team("t", s.tiny)
			s.tally("t", 0, 2, 0)
			s.plain.Node.DeletionTimestamp = &metav1.Time{}
			spread(s.tiny, zone, 1)
		}, nil, ""},
		{"a key that the node lacks", tiny(0, 0, "rack"), broken, "spread over rack, a label that the node may lack"},
		{"a key that the others lack", func(s *scene) { tiny(3, 0, "rack")(s); s.old.Node.Labels["rack"] = "r1" }, nil, ""},
		{"a second key that the others lack", func(s *scene) {
			tiny(1, 0, zone)(s)
			spread(s.tiny, "rack", 5)
			s.old.Node.Labels["rack"] = "r1"
		}, nil, ""},
		{"match label keys", func(s *scene) {
			tiny(1, 0, zone, func(c *tsc) { c.MatchLabelKeys = []string{"version", "no-such"} })(s)
			s.tiny.Labels["version"] = "2"
		}, nil, ""},
		{"too few domains", tiny(1, 1, zone, func(c *tsc) { c.MinDomains = &three }), broken, "default/tiny"},
		{"domains that the pod may not use", func(s *scene) {
			tiny(1, 0, zone)(s)
			s.tiny.Spec.NodeSelector = map[string]string{zone: "a"}
		}, nil, ""},
		{"domains that the pod may not use but counts", func(s *scene) {
			tiny(1, 0, zone, func(c *tsc) { c.NodeAffinityPolicy = &ignore })(s)
			s.tiny.Spec.NodeSelector = map[string]string{zone: "a"}
		}, broken, ""},
		{"tainted domains count", func(s *scene) {
			s.in.Nodes, s.plan.Create, s.plan.Cost, s.plan.LowerBound = s.in.Nodes[1:], nil, 0, 0
			s.old, s.plain = &s.in.Nodes[0], &s.in.Nodes[1]
			s.in.Pods, s.plan.Stats.Pods = []*corev1.Pod{s.tiny, s.huge}, 2
			s.reorder()
			tiny(1, 0, zone)(s)
			s.plain.Node.Spec.Taints = []corev1.Taint{{Key: "k", Effect: corev1.TaintEffectNoSchedule}}
		}, broken, ""},
		{"tainted domains do not count where taints are honoured", func(s *scene) {
			s.in.Nodes, s.plan.Create, s.plan.Cost, s.plan.LowerBound = s.in.Nodes[1:], nil, 0, 0
			s.old, s.plain = &s.in.Nodes[0], &s.in.Nodes[1]
			s.in.Pods, s.plan.Stats.Pods = []*corev1.Pod{s.tiny, s.huge}, 2
			s.reorder()
			tiny(1, 0, zone, func(c *tsc) { c.NodeTaintsPolicy = &honor })(s)
			s.plain.Node.Spec.Taints = []corev1.Taint{{Key: "k", Effect: corev1.TaintEffectNoSchedule}}
		}, nil, ""},
		{"hosts", tiny(1, 0, host), broken, "kubernetes.io/hostname=old"},
		{"DaemonSets that may come yet", func(s *scene) {
			team("t", s.tiny, s.daemon)
			spread(s.tiny, host, 1)
		}, broken, "kubernetes.io/hostname=old"},
	})
}

func TestVerifySpreadOnNewNodes(t *testing.T) {
	const zone, host = corev1.LabelTopologyZone, corev1.LabelHostname
	broken := rules(provisioning.RuleSpread)
	// Both webs go to general-1, in zone a or b.
	webs := func(old, plain int, key string, skew int32) func(*scene) {
		return func(s *scene) {
			team("w", s.webs...)
			s.tally("w", old, plain, 0)
			for _, pod := range s.webs {
				spread(pod, key, skew)
			}
		}
	}
	pinned := func(zone string, plant func(*scene)) func(*scene) {
		return func(s *scene) { plant(s); s.pin(s.first(), zone) }
	}
	judge(t, []verdict{
		{"in one zone", pinned("a", webs(0, 0, zone, 2)), nil, ""},
		{"in one zone, too many", pinned("a", webs(0, 0, zone, 1)), broken, "node general-1: pod default/web-2: when its turn comes, topology.kubernetes.io/zone=a"},
		{"in the emptier zone", pinned("b", webs(2, 0, zone, 1)), nil, ""},
		{"in either zone, one too many", webs(2, 0, zone, 1), broken, "pod default/web-1: when its turn comes, topology.kubernetes.io/zone=a"},
		{"in either zone", webs(2, 2, zone, 2), nil, ""},
		{"one node for all", webs(0, 0, host, 1), broken, "kubernetes.io/hostname=general-1, where the node may be, may have 1"},
		{"one node for both", webs(0, 0, host, 2), nil, ""},
		{"one node for both and a DaemonSet", func(s *scene) {
			s.in.Nodes, s.plan.Bind, s.plan.Create = nil, nil, s.plan.Create[:1]
			s.in.Pods, s.plan.Stats.Pods = append(slices.Clone(s.webs), s.huge), 3
			s.plan.Cost, s.plan.LowerBound = 0.05, 0
			s.reorder()
			webs(0, 0, host, 2)(s)
			team("w", s.daemon)
		}, nil, ""},
		{"the only domain is where the node is", func(s *scene) {
			// Whichever zone the node comes up in, there is no other.
			s.in.Nodes, s.plan.Bind, s.plan.Create = nil, nil, s.plan.Create[:1]
			s.in.Pods, s.plan.Stats.Pods = append(slices.Clone(s.webs), s.huge), 3
			s.plan.Cost, s.plan.LowerBound = 0.05, 0
			s.reorder()
			webs(0, 0, zone, 1)(s)
		}, nil, ""},
		{"another new node may be another domain", func(s *scene) {
			s.in.Nodes, s.plan.Bind = nil, nil
			s.in.Pods, s.plan.Stats.Pods = append(slices.Clone(s.webs), s.huge, s.night), 4
			s.reorder()
			webs(0, 0, zone, 1)(s)
		}, broken, "another domain 0"},
		{"another new node with a pod may be another domain", func(s *scene) {
			s.in.Nodes, s.plan.Bind = nil, nil
			s.in.Pods, s.plan.Stats.Pods = append(slices.Clone(s.webs), s.huge, s.night), 4
			s.reorder()
			s.plan.Order = []*corev1.Pod{s.webs[0], s.night, s.webs[1]}
			webs(0, 0, zone, 1)(s)
			s.night.Labels = s.webs[0].Labels
		}, nil, ""},
		{"another new node with a pod that comes later", func(s *scene) {
			s.in.Nodes, s.plan.Bind = nil, nil
			s.in.Pods, s.plan.Stats.Pods = append(slices.Clone(s.webs), s.huge, s.night), 4
			s.reorder()
			webs(0, 0, zone, 1)(s)
			s.night.Labels = s.webs[0].Labels
		}, broken, "default/web-2"},
		{"a domain that only the plan's nodes make", func(s *scene) {
			webs(1, 1, "example.org/line", 2)(s)
			s.first().Labels = map[string]string{"example.org/line": "day"}
		}, broken, "a label that the node may lack"},
		{"a label that the plan gives the node", func(s *scene) {
			s.young.NodeClaim.Labels["rack"] = "r1"
			s.demand("rack", 0)
			s.first().Requirements = s.first().Requirements.With(requirements.Exists("rack"))
			s.first().Labels = map[string]string{"rack": "r1"}
			webs(0, 0, "rack", 2)(s)
		}, nil, ""},
		{"a label that the plan leaves open", func(s *scene) {
			s.young.NodeClaim.Labels["rack"] = "r1"
			s.demand("rack", 0)
			s.first().Requirements = s.first().Requirements.With(requirements.Exists("rack"))
			webs(0, 0, "rack", 1)(s)
		}, broken, ""},
	})
}

// TestVerifySpreadOrder lets two pods into two zones that are two apart.
func TestVerifySpreadOrder(t *testing.T) {
	draw := func() *scene {
		s := newScene()
		team("w", append(s.webs, s.tiny)...)
		s.tally("w", 1, 0, 0)
		for _, pod := range append(s.webs, s.tiny) {
			spread(pod, corev1.LabelTopologyZone, 1)
		}
		s.pin(s.first(), "b")
		return s // zone a has 1 and gets tiny, zone b has 0 and gets both webs
	}
	s := draw()
	s.plan.Order = []*corev1.Pod{s.webs[0], s.tiny, s.webs[1], s.night}
	require.Empty(t, provisioning.Verify(s.in, s.plan, nil))
	s.plan.Order = []*corev1.Pod{s.webs[0], s.webs[1], s.tiny, s.night}
	require.Empty(t, provisioning.Verify(s.in, s.plan, nil))
	s.plan.Order = []*corev1.Pod{s.tiny, s.webs[0], s.webs[1], s.night}
	found := provisioning.Verify(s.in, s.plan, nil)
	require.Len(t, found, 1)
	require.Equal(t, provisioning.RuleSpread, found[0].Rule)
	require.Equal(t, "default/tiny", found[0].Pod)
}

func TestVerifyDefaultSpread(t *testing.T) {
	defaults := &provisioning.Options{DefaultSpread: []corev1.TopologySpreadConstraint{
		{TopologyKey: corev1.LabelTopologyZone, MaxSkew: 1, WhenUnsatisfiable: corev1.DoNotSchedule},
	}}
	service := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "t"}}
	service.Spec.Selector = map[string]string{"team": "t"}
	yes := true
	plant := func(change func(*scene)) func(*scene) {
		return func(s *scene) {
			team("t", s.tiny)
			s.tally("t", 1, 0, 0)
			s.opts = defaults
			change(s)
		}
	}
	broken := rules(provisioning.RuleSpread)
	judge(t, []verdict{
		{"nothing selects the pod", plant(func(*scene) {}), nil, ""},
		{"a Service does", plant(func(s *scene) { s.in.Services = []*corev1.Service{service} }), broken, "default/tiny"},
		{"a Service of another namespace", plant(func(s *scene) {
			other := service.DeepCopy()
			other.Namespace = "else"
			s.in.Services = []*corev1.Service{nil, other}
		}), nil, ""},
		{"its controller does", plant(func(s *scene) {
			s.tiny.OwnerReferences = []metav1.OwnerReference{{Kind: "ReplicaSet", Name: "t", UID: "u-1", Controller: &yes}}
			s.in.Controllers = []provisioning.Controller{{UID: types.UID("u-2")}, {UID: "u-1", Selector: teamSelector("t")}}
		}), broken, "default/tiny"},
		{"both together select fewer", plant(func(s *scene) {
			s.tiny.OwnerReferences = []metav1.OwnerReference{{Kind: "ReplicaSet", Name: "t", UID: "u-1", Controller: &yes}}
			s.in.Controllers = []provisioning.Controller{{UID: "u-1", Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "tiny"}}}}
			s.in.Services = []*corev1.Service{service}
		}), nil, ""},
		{"the pod has a constraint of its own", plant(func(s *scene) {
			s.in.Services = []*corev1.Service{service}
			spread(s.tiny, corev1.LabelHostname, 5, func(c *corev1.TopologySpreadConstraint) { c.WhenUnsatisfiable = corev1.ScheduleAnyway })
		}), nil, ""},
	})
}
