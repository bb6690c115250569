package verify_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/dovetail-sdk/dovetail/provisioning"
	"github.com/dovetail-sdk/dovetail/provisioning/internal/scenes"
	"github.com/dovetail-sdk/dovetail/provisioning/verify"
)

func TestAffinity(t *testing.T) {
	const zone, host = corev1.LabelTopologyZone, corev1.LabelHostname
	broken := rules(verify.RuleAffinity)
	type pat = corev1.PodAffinityTerm
	// tiny goes to old, in zone a, beside pod bound.
	with := func(key string, change ...func(*pat)) func(*scene) {
		return func(s *scene) {
			scenes.Team("b", s.Old.Pods[0])
			scenes.Follow(s.Tiny, scenes.AffinityTerm(key, "b", change...))
		}
	}
	elsewhere := func(plant func(*scene)) func(*scene) {
		return func(s *scene) {
			plant(s)
			s.Plain.Pods, s.Old.Pods = s.Old.Pods, nil
		}
	}
	judge(t, []verdict{
		{"same node", with(host), nil, ""},
		{"same zone", with(zone), nil, ""},
		{"other zone", elsewhere(with(zone)), broken, "node old: pod default/tiny: when it is bound, no pod that its affinity asks for is sure to be in topology.kubernetes.io/zone=a"},
		{"a key that the node lacks", with("rack"), broken, "a label that the node may lack"},
		{"no such pod", func(s *scene) { scenes.Follow(s.Tiny, scenes.AffinityTerm(zone, "b")) }, broken, ""},
		{"the first of its kind", func(s *scene) { scenes.Team("t", s.Tiny); scenes.Follow(s.Tiny, scenes.AffinityTerm(zone, "t")) }, nil, ""},
		{"the second of its kind", func(s *scene) { elsewhere(with(zone))(s); scenes.Team("b", s.Tiny) }, broken, ""},
		{"a pod on a node without the key does not make it the second", func(s *scene) {
			elsewhere(with("rack"))(s)
			scenes.Team("b", s.Tiny)
			s.Old.Node.Labels["rack"] = "r1"
		}, nil, ""},
		{"all terms by one pod", func(s *scene) {
			with(zone)(s)
			s.Old.Pods[0].Labels["tier"] = "x"
			scenes.Follow(s.Tiny, scenes.AffinityTerm(zone, "b"), scenes.AffinityTerm(host, "b", func(t *pat) { t.LabelSelector.MatchLabels["tier"] = "x" }))
		}, nil, ""},
		{"each term by another pod", func(s *scene) {
			with(zone)(s)
			other := scenes.Pod("other", "1m", "1Mi")
			scenes.Team("c", other)
			s.Old.Pods = append(s.Old.Pods, other)
			scenes.Follow(s.Tiny, scenes.AffinityTerm(zone, "b"), scenes.AffinityTerm(zone, "c"))
		}, broken, ""},
		{"terminating pods count", func(s *scene) { with(zone)(s); s.Old.Pods[0].DeletionTimestamp = &metav1.Time{} }, nil, ""},
		{"finished pods do not", func(s *scene) { with(zone)(s); s.Old.Pods[0].Status.Phase = corev1.PodFailed }, broken, ""},
		{"other namespace", func(s *scene) { with(zone)(s); s.Old.Pods[0].Namespace = "prod" }, broken, ""},
		{"named namespace", func(s *scene) {
			with(zone, func(t *pat) { t.Namespaces = []string{"test", "prod"} })(s)
			s.Old.Pods[0].Namespace = "prod"
		}, nil, ""},
		{"every namespace", func(s *scene) {
			with(zone, func(t *pat) { t.NamespaceSelector = &metav1.LabelSelector{} })(s)
			s.Old.Pods[0].Namespace = "prod"
		}, nil, ""},
		{"selected namespace", func(s *scene) {
			with(zone, func(t *pat) {
				t.NamespaceSelector = &metav1.LabelSelector{MatchLabels: map[string]string{"env": "prod"}}
			})(s)
			s.Old.Pods[0].Namespace = "prod"
			s.In.Namespaces = []*corev1.Namespace{nil, scenes.InSpace("prod")}
		}, nil, ""},
		{"a namespace without labels", func(s *scene) {
			with(zone, func(t *pat) {
				t.NamespaceSelector = &metav1.LabelSelector{MatchLabels: map[string]string{"env": "prod"}}
			})(s)
			s.Old.Pods[0].Namespace = "prod"
		}, broken, ""},
		{"a namespace by its name", func(s *scene) {
			with(zone, func(t *pat) {
				t.NamespaceSelector = &metav1.LabelSelector{MatchLabels: map[string]string{corev1.LabelMetadataName: "prod"}}
			})(s)
			s.Old.Pods[0].Namespace = "prod"
		}, nil, ""},
		{"a namespace that only some kube-schedulers select", func(s *scene) {
			with(zone, scenes.Outside("prod"))(s)
			s.Old.Pods[0].Namespace = "prod"
			s.In.Namespaces = []*corev1.Namespace{scenes.InSpace("prod")}
		}, broken, ""},
		{"a namespace that NotIn selects", func(s *scene) {
			with(zone, scenes.Outside("test"))(s)
			s.Old.Pods[0].Namespace = "prod"
			s.In.Namespaces = []*corev1.Namespace{scenes.InSpace("prod")}
		}, nil, ""},
		{"the second of its kind only for some kube-schedulers", func(s *scene) {
			elsewhere(with(zone, scenes.Outside("prod")))(s)
			scenes.Team("b", s.Tiny)
			s.Plain.Pods[0].Namespace = "prod"
			s.In.Namespaces = []*corev1.Namespace{scenes.InSpace("prod")}
		}, broken, ""},
		{"match label keys", func(s *scene) {
			with(zone, func(t *pat) { t.MatchLabelKeys = []string{"version"} })(s)
			s.Tiny.Labels["version"] = "2"
		}, broken, ""},
		{"mismatch label keys", func(s *scene) {
			with(zone, func(t *pat) { t.MismatchLabelKeys = []string{"version"} })(s)
			s.Tiny.Labels["version"] = "2"
		}, nil, ""},
		{"a selector that cannot be read", with(zone, func(t *pat) {
			t.LabelSelector.MatchExpressions = []metav1.LabelSelectorRequirement{{Key: "k", Operator: "Near"}}
		}), broken, "cannot be read"},
		{"preferred only", func(s *scene) {
			s.Tiny.Spec.Affinity = &corev1.Affinity{PodAffinity: &corev1.PodAffinity{
				PreferredDuringSchedulingIgnoredDuringExecution: []corev1.WeightedPodAffinityTerm{{Weight: 1, PodAffinityTerm: scenes.AffinityTerm("rack", "b")}},
			}}
		}, nil, ""},
	})
}

func TestAffinityOnNewNodes(t *testing.T) {
	const zone, host = corev1.LabelTopologyZone, corev1.LabelHostname
	broken := rules(verify.RuleAffinity)
	pair := func(key string) func(*scene) {
		return func(s *scene) {
			scenes.Team("w", s.Webs[0])
			scenes.Follow(s.Webs[1], scenes.AffinityTerm(key, "w"))
		}
	}
	judge(t, []verdict{
		{"on one node", pair(host), nil, ""},
		{"on one node, in one zone", func(s *scene) { pair(zone)(s); s.pin(s.First(), "a") }, nil, ""},
		{"on one node, in either zone", pair(zone), broken, "node general-1: pod default/web-1: a constraint over topology.kubernetes.io/zone counts the pod, so the node has to be in one domain of it, but its options leave open: a, b"},
		{"on one node, in either zone, of a pool with minValues", func(s *scene) { pair(zone)(s); s.several(zone, 2) }, nil, ""},
		{"too early", func(s *scene) {
			pair(zone)(s)
			s.Plan.Order = []*corev1.Pod{s.Webs[1], s.Webs[0], s.Night, s.Tiny}
		}, broken, "default/web-2"},
		{"all of a kind on one node", func(s *scene) {
			scenes.Team("w", s.Webs...)
			for _, web := range s.Webs {
				scenes.Follow(web, scenes.AffinityTerm(zone, "w"))
			}
			s.pin(s.First(), "b")
		}, nil, ""},
		{"with a node that may be in either zone", func(s *scene) {
			scenes.Team("w", s.Webs[0])
			scenes.Follow(s.Tiny, scenes.AffinityTerm(zone, "w"))
		}, broken, "default/tiny"},
		{"with a node that is in the zone", func(s *scene) {
			scenes.Team("w", s.Webs[0])
			scenes.Follow(s.Tiny, scenes.AffinityTerm(zone, "w"))
			s.pin(s.First(), "a")
		}, nil, ""},
		{"with a node in the other zone", func(s *scene) {
			scenes.Team("w", s.Webs[0])
			scenes.Follow(s.Tiny, scenes.AffinityTerm(zone, "w"))
			s.pin(s.First(), "b")
		}, broken, "default/tiny"},
		{"on a node that may be in either zone", func(s *scene) {
			scenes.Team("b", s.Old.Pods[0])
			scenes.Follow(s.Webs[0], scenes.AffinityTerm(zone, "b"))
		}, broken, "topology.kubernetes.io/zone=b"},
		{"with a DaemonSet", func(s *scene) { scenes.Team("d", s.Daemon); scenes.Follow(s.Webs[0], scenes.AffinityTerm(host, "d")) }, nil, ""},
	})
}

func TestAntiAffinity(t *testing.T) {
	const zone, host = corev1.LabelTopologyZone, corev1.LabelHostname
	broken := rules(verify.RuleAntiAffinity)
	own := func(key string) func(*scene) {
		return func(s *scene) { scenes.Team("b", s.Old.Pods[0]); scenes.Avoid(s.Tiny, scenes.AffinityTerm(key, "b")) }
	}
	inverse := func(key string) func(*scene) {
		return func(s *scene) { scenes.Team("t", s.Tiny); scenes.Avoid(s.Old.Pods[0], scenes.AffinityTerm(key, "t")) }
	}
	judge(t, []verdict{
		{"same node", own(host), broken, "node old: pod default/tiny: its anti-affinity excludes it from the domain of default/bound, and both may be in kubernetes.io/hostname=old"},
		{"same zone", own(zone), broken, ""},
		{"other zone", func(s *scene) { own(zone)(s); s.Plain.Pods, s.Old.Pods = s.Old.Pods, nil }, nil, ""},
		{"a key that the node lacks", own("rack"), nil, ""},
		{"no selector", func(s *scene) {
			scenes.Avoid(s.Tiny, scenes.AffinityTerm(zone, "", func(t *corev1.PodAffinityTerm) { t.LabelSelector = nil }))
		}, nil, ""},
		{"an empty selector", func(s *scene) {
			scenes.Avoid(s.Tiny, scenes.AffinityTerm(host, "", func(t *corev1.PodAffinityTerm) { t.LabelSelector = &metav1.LabelSelector{} }))
		}, broken, ""},
		{"inverse, same node", inverse(host), broken, "node old: pod default/tiny: the anti-affinity of default/bound excludes it, and both may be in kubernetes.io/hostname=old"},
		{"inverse, same zone", inverse(zone), broken, ""},
		{"inverse, other zone", func(s *scene) { inverse(zone)(s); s.Plain.Pods, s.Old.Pods = s.Old.Pods, nil }, nil, ""},
		{"inverse, key that the node lacks", inverse("rack"), nil, ""},
		{"inverse, unreadable", func(s *scene) {
			inverse(zone)(s)
			s.Old.Pods[0].Spec.Affinity.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution[0].LabelSelector.MatchExpressions =
				[]metav1.LabelSelectorRequirement{{Key: "k", Operator: "Near"}}
		}, nil, ""},
		{"inverse, of another namespace by label", func(s *scene) {
			inverse(zone)(s)
			s.Old.Pods[0].Namespace = "prod"
			term := &s.Old.Pods[0].Spec.Affinity.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution[0]
			term.NamespaceSelector = &metav1.LabelSelector{MatchLabels: map[string]string{"env": "default"}}
			s.In.Namespaces = []*corev1.Namespace{scenes.InSpace("default")}
		}, broken, ""},
		{"a namespace that only some kube-schedulers select", func(s *scene) {
			scenes.Team("b", s.Old.Pods[0])
			scenes.Avoid(s.Tiny, scenes.AffinityTerm(zone, "b", scenes.Outside("prod")))
			s.Old.Pods[0].Namespace = "prod"
			s.In.Namespaces = []*corev1.Namespace{scenes.InSpace("prod")}
		}, broken, ""},
		{"inverse, of a namespace that it does not select", func(s *scene) {
			inverse(zone)(s)
			scenes.Outside("default")(&s.Old.Pods[0].Spec.Affinity.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution[0])
			s.Old.Pods[0].Namespace = "prod"
			s.In.Namespaces = []*corev1.Namespace{scenes.InSpace("default")}
		}, nil, ""},
		{"inverse, finished", func(s *scene) { inverse(zone)(s); s.Old.Pods[0].Status.Phase = corev1.PodSucceeded }, nil, ""},
		{"inverse, of a DaemonSet that may come", func(s *scene) { scenes.Team("t", s.Tiny); scenes.Avoid(s.Daemon, scenes.AffinityTerm(host, "t")) }, broken, "default/agent"},
		{"inverse, on a new node", func(s *scene) {
			scenes.Team("w", s.Webs...)
			scenes.Avoid(s.Old.Pods[0], scenes.AffinityTerm(zone, "w"))
		}, broken, "node general-1: pod default/web-1"},
		{"inverse, on a new node in the other zone", func(s *scene) {
			scenes.Team("w", s.Webs...)
			scenes.Avoid(s.Old.Pods[0], scenes.AffinityTerm(zone, "w"))
			s.pin(s.First(), "b")
		}, nil, ""},
		{"inverse, in a third zone, on a new node in either zone", func(s *scene) {
			scenes.Team("w", s.Webs...)
			guard := scenes.Pod("guard", "0", "0")
			scenes.Avoid(guard, scenes.AffinityTerm(zone, "w"))
			s.In.Nodes = append(s.In.Nodes, provisioning.Node{Node: scenes.Node("far", map[string]string{zone: "c"}), Pods: []*corev1.Pod{guard}})
		}, broken, "pod default/web-1: a constraint over topology.kubernetes.io/zone counts the pod"},
		{"on one new node", func(s *scene) { scenes.Team("w", s.Webs...); scenes.Avoid(s.Webs[1], scenes.AffinityTerm(host, "w")) }, broken, "web-1, and both may be in kubernetes.io/hostname=general-1"},
		{"inverse on one new node", func(s *scene) { scenes.Team("w", s.Webs...); scenes.Avoid(s.Webs[0], scenes.AffinityTerm(host, "w")) }, broken, "default/web-2: the anti-affinity of default/web-1"},
		{"hosts differ", func(s *scene) {
			scenes.Team("w", s.Webs[0], s.Night, s.Tiny)
			scenes.Avoid(s.Webs[0], scenes.AffinityTerm(host, "w"))
		}, nil, ""},
		{"zones may be the same", func(s *scene) {
			scenes.Team("w", s.Webs[0], s.Night)
			scenes.Avoid(s.Night, scenes.AffinityTerm(zone, "w"))
		}, broken, "node batch-1: pod default/night-1"},
		{"zones differ", func(s *scene) {
			scenes.Team("w", s.Webs[0], s.Night)
			scenes.Avoid(s.Night, scenes.AffinityTerm(zone, "w"))
			s.pin(s.First(), "a")
			s.pin(s.Second(), "b")
		}, nil, ""},
		{"labels that are open may be the same", func(s *scene) {
			scenes.Team("w", s.Night)
			s.Young.Pods, s.Old.Pods = s.Old.Pods, nil
			scenes.Avoid(s.Young.Pods[0], scenes.AffinityTerm("team", "w"))
		}, broken, "both may be in team=red"},
	})
}

// TestAffinityOrder gives way to a pod that keeps later ones out.
func TestAffinityOrder(t *testing.T) {
	s := newScene()
	scenes.Team("w", s.Webs[0])
	scenes.Team("x", s.Webs[1])
	scenes.Follow(s.Webs[1], scenes.AffinityTerm(corev1.LabelHostname, "w"))
	scenes.Follow(s.Webs[0], scenes.AffinityTerm(corev1.LabelHostname, "x"))
	for _, order := range [][]*corev1.Pod{{s.Webs[0], s.Webs[1]}, {s.Webs[1], s.Webs[0]}} {
		s.Plan.Order = slices.Concat(order, []*corev1.Pod{s.Night, s.Tiny})
		found := verify.Plan(s.In, s.Plan, nil)
		require.Len(t, found, 1)
		require.Equal(t, "default/"+order[0].Name, found[0].Pod, "neither can come first")
	}
}
