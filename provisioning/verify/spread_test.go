package verify_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/provisioning"
	"github.com/dovetail-sdk/dovetail/provisioning/internal/scenes"
	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
	"github.com/dovetail-sdk/dovetail/provisioning/verify"
)

// spread gives a pod a hard constraint on pods of its team.
func spread(pod *corev1.Pod, key string, skew int32, change ...func(*corev1.TopologySpreadConstraint)) {
	scenes.Spread(pod, key, skew, scenes.TeamSelector(pod.Labels["team"]), change...)
}

// pin leaves a new node only its options in one zone.
func (s *scene) pin(n *provisioning.NewNode, zone string) {
	n.Options = slices.DeleteFunc(n.Options, func(o cloudprovider.LaunchOption) bool { return o.Offering.Zone != zone })
}

// tally puts pods of a team on the nodes old (zone a), plain and young (zone b).
func (s *scene) tally(name string, old, plain, young int) {
	for node, count := range map[*provisioning.Node]int{s.Old: old, s.Plain: plain, s.Young: young} {
		for range count {
			pod := scenes.Pod(fmt.Sprintf("present-%s-%d", node.Name(), len(node.Pods)), "1m", "1Mi")
			scenes.Team(name, pod)
			node.Pods = append(node.Pods, pod)
		}
	}
}

func TestSpread(t *testing.T) {
	const zone, host = corev1.LabelTopologyZone, corev1.LabelHostname
	broken := rules(verify.RuleSpread)
	// tiny goes to old, in zone a.
	tiny := func(old, plain int, key string, change ...func(*corev1.TopologySpreadConstraint)) func(*scene) {
		return func(s *scene) {
			scenes.Team("t", s.Tiny)
			s.tally("t", old, plain, 0)
			spread(s.Tiny, key, 1, change...)
		}
	}
	type tsc = corev1.TopologySpreadConstraint
	// two leaves the nodes old and plain, and none could be launched.
	two := func(change ...func(*tsc)) func(*scene) {
		return func(s *scene) {
			s.In.Nodes, s.Plan.Create, s.Plan.Cost, s.Plan.LowerBound = s.In.Nodes[1:], nil, 0, 0
			s.Old, s.Plain = &s.In.Nodes[0], &s.In.Nodes[1]
			s.In.Pods, s.Plan.Stats.Pods = []*corev1.Pod{s.Tiny, s.Huge}, 2
			s.Reorder()
			tiny(1, 0, zone, change...)(s)
			s.In.InstanceTypes = nil
		}
	}
	honor, ignore := corev1.NodeInclusionPolicyHonor, corev1.NodeInclusionPolicyIgnore
	three := int32(3)
	judge(t, []verdict{
		{"even", tiny(0, 0, zone), nil, ""},
		{"within the skew", tiny(1, 1, zone), nil, ""},
		{"beyond the skew", tiny(1, 0, zone), broken, "node old: pod default/tiny: when it is bound, topology.kubernetes.io/zone=a may have 1 of the pods that its topology spread counts, another domain 0; with the pod the skew is above 1"},
		{"soft", tiny(1, 0, zone, func(c *tsc) { c.WhenUnsatisfiable = corev1.ScheduleAnyway }), nil, ""},
		{"a wider skew", tiny(1, 0, zone, func(c *tsc) { c.MaxSkew = 2 }), nil, ""},
		{"pods of others", tiny(1, 0, zone, func(c *tsc) { c.LabelSelector = scenes.TeamSelector("u") }), nil, ""},
		{"no selector counts nobody", tiny(3, 0, zone, func(c *tsc) { c.LabelSelector = nil }), nil, ""},
		{"an empty selector counts nobody up to 1.37", func(s *scene) {
			s.Opts = &provisioning.Options{Kubernetes: "1.37"}
			tiny(3, 0, zone, func(c *tsc) { c.LabelSelector = &metav1.LabelSelector{} })(s)
		}, nil, ""},
		{"an empty selector counts everybody from 1.38", func(s *scene) {
			s.Opts = &provisioning.Options{Kubernetes: "1.38"}
			tiny(3, 0, zone, func(c *tsc) { c.LabelSelector = &metav1.LabelSelector{} })(s)
		}, rules(verify.RuleSpread), "the skew is above 1"},
		{"a selector that cannot be read", tiny(0, 0, zone, func(c *tsc) {
			c.LabelSelector = &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "k", Operator: "Near"}}}
		}), rules(verify.RuleAffinity), "cannot be read"},
		{"other namespace", func(s *scene) {
			tiny(1, 0, zone)(s)
			s.Old.Pods[len(s.Old.Pods)-1].Namespace = "else"
		}, nil, ""},
		{"terminating", func(s *scene) {
			tiny(1, 0, zone)(s)
			s.Old.Pods[len(s.Old.Pods)-1].DeletionTimestamp = &metav1.Time{}
		}, nil, ""},
		{"finished", func(s *scene) {
			tiny(1, 0, zone)(s)
			s.Old.Pods[len(s.Old.Pods)-1].Status.Phase = corev1.PodSucceeded
		}, nil, ""},
		{"to be placed anew, from a node being deleted", func(s *scene) {
			tiny(0, 0, zone)(s)
			leaving := scenes.Node("leaving", map[string]string{zone: "a"})
			leaving.DeletionTimestamp = &metav1.Time{}
			s.In.Nodes = append(s.In.Nodes, provisioning.Node{Node: leaving, Pods: []*corev1.Pod{s.Tiny}})
		}, nil, ""},
		{"on a node being deleted", func(s *scene) {
			scenes.Team("t", s.Tiny)
			s.tally("t", 0, 2, 0)
			s.Plain.Node.DeletionTimestamp = &metav1.Time{}
			spread(s.Tiny, zone, 1)
		}, nil, ""},
		{"a key that the node lacks", tiny(0, 0, "rack"), broken, "topology spread is over rack, a label that the node may lack"},
		{"a key that the others lack", func(s *scene) { tiny(3, 0, "rack")(s); s.Old.Node.Labels["rack"] = "r1" }, nil, ""},
		{"a second key that the others lack", func(s *scene) {
			tiny(1, 0, zone)(s)
			spread(s.Tiny, "rack", 5)
			s.Old.Node.Labels["rack"] = "r1"
		}, nil, ""},
		{"match label keys", func(s *scene) {
			tiny(1, 0, zone, func(c *tsc) { c.MatchLabelKeys = []string{"version", "no-such"} })(s)
			s.Tiny.Labels["version"] = "2"
		}, nil, ""},
		{"too few domains", tiny(1, 1, zone, func(c *tsc) { c.MinDomains = &three }), broken, "default/tiny"},
		{"domains that the pod may not use", func(s *scene) {
			tiny(1, 0, zone)(s)
			s.Tiny.Spec.NodeSelector = map[string]string{zone: "a"}
		}, nil, ""},
		{"domains that the pod may not use but counts", func(s *scene) {
			tiny(1, 0, zone, func(c *tsc) { c.NodeAffinityPolicy = &ignore })(s)
			s.Tiny.Spec.NodeSelector = map[string]string{zone: "a"}
		}, broken, ""},
		{"tainted domains count", func(s *scene) {
			two()(s)
			s.Plain.Node.Spec.Taints = []corev1.Taint{{Key: "k", Effect: corev1.TaintEffectNoSchedule}}
		}, broken, ""},
		{"tainted domains do not count where taints are honoured", func(s *scene) {
			two(func(c *tsc) { c.NodeTaintsPolicy = &honor })(s)
			s.Plain.Node.Spec.Taints = []corev1.Taint{{Key: "k", Effect: corev1.TaintEffectNoSchedule}}
		}, nil, ""},
		{"cordoned domains neither, even before they have the taint", func(s *scene) { // found by kube-scheduler
			two(func(c *tsc) { c.NodeTaintsPolicy = &honor })(s)
			s.Plain.Node.Spec.Unschedulable = true
		}, nil, ""},
		{"hosts", tiny(1, 0, host), broken, "kubernetes.io/hostname=old"},
		{"DaemonSets that may come yet", func(s *scene) {
			scenes.Team("t", s.Tiny, s.Daemon)
			spread(s.Tiny, host, 1)
		}, broken, "kubernetes.io/hostname=old"},
	})
}

func TestSpreadOnNewNodes(t *testing.T) {
	const zone, host = corev1.LabelTopologyZone, corev1.LabelHostname
	broken := rules(verify.RuleSpread)
	// Both webs go to general-1, in zone a or b.
	webs := func(old, plain int, key string, skew int32) func(*scene) {
		return func(s *scene) {
			scenes.Team("w", s.Webs...)
			s.tally("w", old, plain, 0)
			for _, pod := range s.Webs {
				spread(pod, key, skew)
			}
		}
	}
	pinned := func(zone string, plant func(*scene)) func(*scene) {
		return func(s *scene) { plant(s); s.pin(s.First(), zone) }
	}
	judge(t, []verdict{
		{"in one zone", pinned("a", webs(0, 0, zone, 2)), nil, ""},
		{"in one zone, too many", pinned("a", webs(0, 0, zone, 1)), broken, "node general-1: pod default/web-2: when it is bound, topology.kubernetes.io/zone=a"},
		{"in the emptier zone", pinned("b", webs(2, 0, zone, 1)), nil, ""},
		{"in either zone, one too many", webs(2, 0, zone, 1), broken, "pod default/web-1: when it is bound, topology.kubernetes.io/zone=a"},
		{"in either zone", webs(2, 2, zone, 2), broken, "node general-1: pod default/web-1: a constraint over topology.kubernetes.io/zone counts the pod"},
		{"in either zone, of a pool with minValues", func(s *scene) { webs(2, 2, zone, 2)(s); s.several(zone, 2) }, nil, ""},
		{"in either zone, of a pool with minValues, one too many", func(s *scene) { webs(2, 0, zone, 1)(s); s.several(zone, 2) }, broken, "pod default/web-1: when it is bound"},
		{"one node for all", webs(0, 0, host, 1), broken, "kubernetes.io/hostname=general-1 may have 1"},
		{"one node for both", webs(0, 0, host, 2), nil, ""},
		{"one node for both and a DaemonSet", func(s *scene) {
			s.onlyFirst()
			webs(0, 0, host, 2)(s)
			scenes.Team("w", s.Daemon)
		}, nil, ""},
		{"a DaemonSet that is counted, on a node in either zone", func(s *scene) {
			scenes.Team("d", s.Daemon)
			s.pin(s.Second(), "a")
			spread(s.Tiny, zone, 9, func(c *corev1.TopologySpreadConstraint) { c.LabelSelector = scenes.TeamSelector("d") })
		}, broken, "node general-1: pod default/agent: a constraint over topology.kubernetes.io/zone counts the pod"},
		{"the only domain with a node is where the node is", func(s *scene) {
			// Whichever zone the node comes up in, a node could be launched in the other.
			s.onlyFirst()
			webs(0, 0, zone, 1)(s)
		}, broken, "another domain 0"},
		{"another new node may be another domain", func(s *scene) {
			s.In.Nodes, s.Plan.Bind = nil, nil
			s.In.Pods, s.Plan.Stats.Pods = append(slices.Clone(s.Webs), s.Huge, s.Night), 4
			s.Reorder()
			webs(0, 0, zone, 1)(s)
		}, broken, "another domain 0"},
		{"another new node with a pod may be another domain", func(s *scene) {
			s.In.Nodes, s.Plan.Bind = nil, nil
			s.In.Pods, s.Plan.Stats.Pods = append(slices.Clone(s.Webs), s.Huge, s.Night), 4
			s.Reorder()
			s.Plan.Order = []*corev1.Pod{s.Webs[0], s.Night, s.Webs[1]}
			webs(0, 0, zone, 1)(s)
			s.Night.Labels = s.Webs[0].Labels
		}, broken, "may have 2 of the pods that its topology spread counts, another domain 0"},
		{"another new node with a pod that comes later", func(s *scene) {
			s.In.Nodes, s.Plan.Bind = nil, nil
			s.In.Pods, s.Plan.Stats.Pods = append(slices.Clone(s.Webs), s.Huge, s.Night), 4
			s.Reorder()
			webs(0, 0, zone, 1)(s)
			s.Night.Labels = s.Webs[0].Labels
		}, broken, "default/web-2"},
		{"a domain that only the plan's nodes make", func(s *scene) {
			webs(1, 1, "example.org/line", 2)(s)
			s.First().Labels = map[string]string{"example.org/line": "day"}
		}, broken, "a label that the node may lack"},
		{"a label that the plan gives the node", func(s *scene) {
			s.Young.NodeClaim.Labels["rack"] = "r1"
			s.demand("rack", 0)
			s.First().Requirements = s.First().Requirements.With(requirements.Exists("rack"))
			s.First().Labels = map[string]string{"rack": "r1"}
			webs(0, 0, "rack", 2)(s)
		}, nil, ""},
		{"a label that the plan leaves open", func(s *scene) {
			s.Young.NodeClaim.Labels["rack"] = "r1"
			s.demand("rack", 0)
			s.First().Requirements = s.First().Requirements.With(requirements.Exists("rack"))
			webs(0, 0, "rack", 1)(s)
		}, broken, ""},
	})
}

// onlyFirst leaves web-1 and web-2 on a new node, and no other node.
func (s *scene) onlyFirst() {
	s.In.Nodes, s.Plan.Bind, s.Plan.Create = nil, nil, s.Plan.Create[:1]
	s.In.Pods, s.Plan.Stats.Pods = append(slices.Clone(s.Webs), s.Huge), 3
	s.Plan.Cost, s.Plan.LowerBound = 0.05, 0
	s.Reorder()
}

// alone leaves web-1 and web-2 on a new node in zone a, where no other node is, and spreads them
// over zones.
func (s *scene) alone(change ...func(*corev1.TopologySpreadConstraint)) {
	s.onlyFirst()
	scenes.Team("w", s.Webs...)
	for _, pod := range s.Webs {
		spread(pod, corev1.LabelTopologyZone, 1, change...)
	}
	s.pin(s.First(), "a")
}

// onlyIn lets a pool launch in one zone alone.
func (s *scene) onlyIn(pool *v1.NodePool, zone string) {
	pool.Spec.Template.Spec.Requirements = append(pool.Spec.Template.Spec.Requirements, v1.NodeSelectorRequirementWithMinValues{
		Key: corev1.LabelTopologyZone, Operator: corev1.NodeSelectorOpIn, Values: []string{zone},
	})
	if pool == s.General {
		s.First().Requirements = s.First().Requirements.With(requirements.In(corev1.LabelTopologyZone, zone))
	}
}

// TestSpreadCoversWhereANodeCouldBeLaunched: a plan does not escape maxSkew by keeping out of a
// domain.
func TestSpreadCoversWhereANodeCouldBeLaunched(t *testing.T) {
	const zone = corev1.LabelTopologyZone
	broken := rules(verify.RuleSpread)
	honor, ignore := corev1.NodeInclusionPolicyHonor, corev1.NodeInclusionPolicyIgnore
	inB := func(s *scene, change func(*cloudprovider.Offering)) {
		for _, t := range []*cloudprovider.InstanceType{s.Small, s.Large, s.Open, s.Gone} {
			for i := range t.Offerings {
				if t.Offerings[i].Zone == "b" {
					change(&t.Offerings[i])
				}
			}
		}
	}
	judge(t, []verdict{
		{"a zone that is left out", func(s *scene) { s.alone() }, broken,
			"pod default/web-2: when it is bound, topology.kubernetes.io/zone=a may have 1 of the pods that its topology spread counts; NodePool batch could launch a node in topology.kubernetes.io/zone=b when the plan begins, so the spread covers that domain, which has 0; with the pod the skew is above 1"},
		{"a wider skew", func(s *scene) { s.alone(func(c *corev1.TopologySpreadConstraint) { c.MaxSkew = 2 }) }, nil, ""},
		{"a zone that is sold out", func(s *scene) {
			s.alone()
			inB(s, func(o *cloudprovider.Offering) { o.Available = false })
		}, broken, "zone=b"},
		{"a zone that nobody offers", func(s *scene) { s.alone(); inB(s, func(o *cloudprovider.Offering) { o.Zone = "a" }) }, nil, ""},
		{"a zone that no pool asks for", func(s *scene) { s.alone(); s.onlyIn(s.General, "a"); s.onlyIn(s.Batch, "a") }, nil, ""},
		{"a zone that the pods do not select", func(s *scene) {
			s.alone()
			for _, pod := range s.Webs {
				pod.Spec.NodeSelector = map[string]string{zone: "a"}
			}
		}, nil, ""},
		{"a zone that the pods do not select, with a spread that counts nodes there", func(s *scene) {
			s.alone(func(c *corev1.TopologySpreadConstraint) { c.NodeAffinityPolicy = &ignore })
			for _, pod := range s.Webs {
				pod.Spec.NodeSelector = map[string]string{zone: "a"}
			}
		}, nil, ""},
		{"a zone of a pool with a taint", func(s *scene) { s.alone(); s.onlyIn(s.General, "a") }, broken, "NodePool batch"},
		{"a zone of a pool with a taint that the spread honours", func(s *scene) {
			s.alone(func(c *corev1.TopologySpreadConstraint) { c.NodeTaintsPolicy = &honor })
			s.onlyIn(s.General, "a")
		}, nil, ""},
		{"a zone of a pool that is being deleted", func(s *scene) {
			s.alone()
			s.onlyIn(s.General, "a")
			s.Batch.DeletionTimestamp = &metav1.Time{}
		}, nil, ""},
		{"a zone of a pool without room in its limits", func(s *scene) {
			s.alone()
			s.onlyIn(s.General, "a")
			s.Batch.Spec.Limits = v1.Limits{v1.ResourceNodes: resource.MustParse("0")}
		}, broken, "NodePool batch"},
		{"a zone that the volume of the pods cannot be reached from", func(s *scene) {
			s.alone()
			s.Volume("v", "", "a", "1Gi")
			s.Claim("c", "", "v", s.Webs...)
		}, nil, ""},
		{"a zone that the volume of the pods can be reached from", func(s *scene) {
			s.alone()
			s.Volume("v", "", "", "1Gi")
			s.Claim("c", "", "v", s.Webs...)
		}, broken, "zone=b"},
	})
}

// TestSpreadOrder lets two pods into two zones that are two apart.
func TestSpreadOrder(t *testing.T) {
	draw := func() *scene {
		s := newScene()
		scenes.Team("w", append(s.Webs, s.Tiny)...)
		s.tally("w", 1, 0, 0)
		for _, pod := range append(s.Webs, s.Tiny) {
			spread(pod, corev1.LabelTopologyZone, 1)
		}
		s.pin(s.First(), "b")
		return s // zone a has 1 and gets tiny, zone b has 0 and gets both webs
	}
	s := draw()
	s.Plan.Order = []*corev1.Pod{s.Webs[0], s.Tiny, s.Webs[1], s.Night}
	require.Empty(t, verify.Plan(s.In, s.Plan, nil))
	s.Plan.Order = []*corev1.Pod{s.Webs[0], s.Webs[1], s.Tiny, s.Night}
	require.Empty(t, verify.Plan(s.In, s.Plan, nil))
	s.Plan.Order = []*corev1.Pod{s.Tiny, s.Webs[0], s.Webs[1], s.Night}
	found := verify.Plan(s.In, s.Plan, nil)
	require.Len(t, found, 1)
	require.Equal(t, verify.RuleSpread, found[0].Rule)
	require.Equal(t, "default/tiny", found[0].Pod)
}

func TestDefaultSpread(t *testing.T) {
	defaults := &provisioning.Options{DefaultSpread: []corev1.TopologySpreadConstraint{
		{TopologyKey: corev1.LabelTopologyZone, MaxSkew: 1, WhenUnsatisfiable: corev1.DoNotSchedule},
	}}
	service := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "t"}}
	service.Spec.Selector = map[string]string{"team": "t"}
	yes := true
	plant := func(change func(*scene)) func(*scene) {
		return func(s *scene) {
			scenes.Team("t", s.Tiny)
			s.tally("t", 1, 0, 0)
			s.Opts = defaults
			change(s)
		}
	}
	broken := rules(verify.RuleSpread)
	judge(t, []verdict{
		{"nothing selects the pod", plant(func(*scene) {}), nil, ""},
		{"a Service does", plant(func(s *scene) { s.In.Services = []*corev1.Service{service} }), broken, "default/tiny"},
		{"a Service of another namespace", plant(func(s *scene) {
			other := service.DeepCopy()
			other.Namespace = "else"
			s.In.Services = []*corev1.Service{nil, other}
		}), nil, ""},
		{"its controller does", plant(func(s *scene) {
			s.Tiny.OwnerReferences = []metav1.OwnerReference{{Kind: "ReplicaSet", Name: "t", UID: "u-1", Controller: &yes}}
			s.In.Controllers = []provisioning.Controller{{UID: types.UID("u-2")}, {UID: "u-1", Selector: scenes.TeamSelector("t")}}
		}), broken, "default/tiny"},
		{"both together select fewer", plant(func(s *scene) {
			s.Tiny.OwnerReferences = []metav1.OwnerReference{{Kind: "ReplicaSet", Name: "t", UID: "u-1", Controller: &yes}}
			s.In.Controllers = []provisioning.Controller{{UID: "u-1", Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "tiny"}}}}
			s.In.Services = []*corev1.Service{service}
		}), nil, ""},
		{"the pod has a constraint of its own", plant(func(s *scene) {
			s.In.Services = []*corev1.Service{service}
			spread(s.Tiny, corev1.LabelHostname, 5, func(c *corev1.TopologySpreadConstraint) { c.WhenUnsatisfiable = corev1.ScheduleAnyway })
		}), nil, ""},
	})
}
