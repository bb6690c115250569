package provisioning_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/dovetail-sdk/dovetail/provisioning"
)

func affinityTerm(key, teamName string, change ...func(*corev1.PodAffinityTerm)) corev1.PodAffinityTerm {
	term := corev1.PodAffinityTerm{TopologyKey: key, LabelSelector: teamSelector(teamName)}
	for _, f := range change {
		f(&term)
	}
	return term
}

// follow and avoid give a pod required terms.
func follow(pod *corev1.Pod, terms ...corev1.PodAffinityTerm) {
	if pod.Spec.Affinity == nil {
		pod.Spec.Affinity = &corev1.Affinity{}
	}
	pod.Spec.Affinity.PodAffinity = &corev1.PodAffinity{RequiredDuringSchedulingIgnoredDuringExecution: terms}
}

func avoid(pod *corev1.Pod, terms ...corev1.PodAffinityTerm) {
	if pod.Spec.Affinity == nil {
		pod.Spec.Affinity = &corev1.Affinity{}
	}
	pod.Spec.Affinity.PodAntiAffinity = &corev1.PodAntiAffinity{RequiredDuringSchedulingIgnoredDuringExecution: terms}
}

func inSpace(name string) *corev1.Namespace {
	return &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"env": name}}}
}

func TestVerifyAffinity(t *testing.T) {
	const zone, host = corev1.LabelTopologyZone, corev1.LabelHostname
	broken := rules(provisioning.RuleAffinity)
	type pat = corev1.PodAffinityTerm
	// tiny goes to old, in zone a, beside pod bound.
	with := func(key string, change ...func(*pat)) func(*scene) {
		return func(s *scene) {
			team("b", s.old.Pods[0])
			follow(s.tiny, affinityTerm(key, "b", change...))
		}
	}
	elsewhere := func(plant func(*scene)) func(*scene) {
		return func(s *scene) {
			plant(s)
			s.plain.Pods, s.old.Pods = s.old.Pods, nil
		}
	}
	judge(t, []verdict{
		{"same node", with(host), nil, ""},
		{"same zone", with(zone), nil, ""},
		{"other zone", elsewhere(with(zone)), broken, "node old: pod default/tiny: when its turn comes, no pod that its affinity asks for is sure to be in topology.kubernetes.io/zone=a"},
		{"a key that the node lacks", with("rack"), broken, "a label that the node may lack"},
		{"no such pod", func(s *scene) { follow(s.tiny, affinityTerm(zone, "b")) }, broken, ""},
		{"the first of its kind", func(s *scene) { team("t", s.tiny); follow(s.tiny, affinityTerm(zone, "t")) }, nil, ""},
		{"the second of its kind", func(s *scene) { elsewhere(with(zone))(s); team("b", s.tiny) }, broken, ""},
		{"a pod on a node without the key does not make it the second", func(s *scene) {
			elsewhere(with("rack"))(s)
			team("b", s.tiny)
			s.old.Node.Labels["rack"] = "r1"
		}, nil, ""},
		{"all terms by one pod", func(s *scene) {
			with(zone)(s)
			s.old.Pods[0].Labels["tier"] = "x"
			follow(s.tiny, affinityTerm(zone, "b"), affinityTerm(host, "b", func(t *pat) { t.LabelSelector.MatchLabels["tier"] = "x" }))
		}, nil, ""},
		{"each term by another pod", func(s *scene) {
			with(zone)(s)
			other := scenePod("other", "1m", "1Mi")
			team("c", other)
			s.old.Pods = append(s.old.Pods, other)
			follow(s.tiny, affinityTerm(zone, "b"), affinityTerm(zone, "c"))
		}, broken, ""},
		{"terminating pods count", func(s *scene) { with(zone)(s); s.old.Pods[0].DeletionTimestamp = &metav1.Time{} }, nil, ""},
		{"finished pods do not", func(s *scene) { with(zone)(s); s.old.Pods[0].Status.Phase = corev1.PodFailed }, broken, ""},
		{"other namespace", func(s *scene) { with(zone)(s); s.old.Pods[0].Namespace = "prod" }, broken, ""},
		{"named namespace", func(s *scene) {
			with(zone, func(t *pat) { t.Namespaces = []string{"test", "prod"} })(s)
			s.old.Pods[0].Namespace = "prod"
		}, nil, ""},
		{"every namespace", func(s *scene) {
			with(zone, func(t *pat) { t.NamespaceSelector = &metav1.LabelSelector{} })(s)
			s.old.Pods[0].Namespace = "prod"
		}, nil, ""},
		{"selected namespace", func(s *scene) {
			with(zone, func(t *pat) {
				t.NamespaceSelector = &metav1.LabelSelector{MatchLabels: map[string]string{"env": "prod"}}
			})(s)
			s.old.Pods[0].Namespace = "prod"
			s.in.Namespaces = []*corev1.Namespace{nil, inSpace("prod")}
		}, nil, ""},
		{"a namespace without labels", func(s *scene) {
			with(zone, func(t *pat) {
				t.NamespaceSelector = &metav1.LabelSelector{MatchLabels: map[string]string{"env": "prod"}}
			})(s)
			s.old.Pods[0].Namespace = "prod"
		}, broken, ""},
		{"a namespace by its name", func(s *scene) {
			with(zone, func(t *pat) {
				t.NamespaceSelector = &metav1.LabelSelector{MatchLabels: map[string]string{corev1.LabelMetadataName: "prod"}}
			})(s)
			s.old.Pods[0].Namespace = "prod"
		}, nil, ""},
		{"match label keys", func(s *scene) {
			with(zone, func(t *pat) { t.MatchLabelKeys = []string{"version"} })(s)
			s.tiny.Labels["version"] = "2"
		}, broken, ""},
		{"mismatch label keys", func(s *scene) {
			with(zone, func(t *pat) { t.MismatchLabelKeys = []string{"version"} })(s)
			s.tiny.Labels["version"] = "2"
		}, nil, ""},
		{"a selector that cannot be read", with(zone, func(t *pat) {
			t.LabelSelector.MatchExpressions = []metav1.LabelSelectorRequirement{{Key: "k", Operator: "Near"}}
		}), broken, "cannot be read"},
		{"preferred only", func(s *scene) {
			s.tiny.Spec.Affinity = &corev1.Affinity{PodAffinity: &corev1.PodAffinity{
				PreferredDuringSchedulingIgnoredDuringExecution: []corev1.WeightedPodAffinityTerm{{Weight: 1, PodAffinityTerm: affinityTerm("rack", "b")}},
			}}
		}, nil, ""},
	})
}

func TestVerifyAffinityOnNewNodes(t *testing.T) {
	const zone, host = corev1.LabelTopologyZone, corev1.LabelHostname
	broken := rules(provisioning.RuleAffinity)
	pair := func(key string) func(*scene) {
		return func(s *scene) {
			team("w", s.webs[0])
			follow(s.webs[1], affinityTerm(key, "w"))
		}
	}
	judge(t, []verdict{
		{"on one node", pair(host), nil, ""},
		{"on one node, in whatever zone", pair(zone), nil, ""},
		{"too early", func(s *scene) {
			pair(zone)(s)
			s.plan.Order = []*corev1.Pod{s.webs[1], s.webs[0], s.night, s.tiny}
		}, broken, "default/web-2"},
		{"all of a kind on one node", func(s *scene) {
			team("w", s.webs...)
			for _, web := range s.webs {
				follow(web, affinityTerm(zone, "w"))
			}
		}, nil, ""},
		{"with a node that may be in either zone", func(s *scene) {
			team("w", s.webs[0])
			follow(s.tiny, affinityTerm(zone, "w"))
		}, broken, "default/tiny"},
		{"with a node that is in the zone", func(s *scene) {
			team("w", s.webs[0])
			follow(s.tiny, affinityTerm(zone, "w"))
			s.pin(s.first(), "a")
		}, nil, ""},
		{"with a node in the other zone", func(s *scene) {
			team("w", s.webs[0])
			follow(s.tiny, affinityTerm(zone, "w"))
			s.pin(s.first(), "b")
		}, broken, "default/tiny"},
		{"on a node that may be in either zone", func(s *scene) {
			team("b", s.old.Pods[0])
			follow(s.webs[0], affinityTerm(zone, "b"))
		}, broken, "topology.kubernetes.io/zone=b"},
		{"with a DaemonSet", func(s *scene) { team("d", s.daemon); follow(s.webs[0], affinityTerm(host, "d")) }, nil, ""},
	})
}

func TestVerifyAntiAffinity(t *testing.T) {
	const zone, host = corev1.LabelTopologyZone, corev1.LabelHostname
	broken := rules(provisioning.RuleAntiAffinity)
	own := func(key string) func(*scene) {
		return func(s *scene) { team("b", s.old.Pods[0]); avoid(s.tiny, affinityTerm(key, "b")) }
	}
	inverse := func(key string) func(*scene) {
		return func(s *scene) { team("t", s.tiny); avoid(s.old.Pods[0], affinityTerm(key, "t")) }
	}
	judge(t, []verdict{
		{"same node", own(host), broken, "node old: pod default/tiny: its anti-affinity keeps it away from default/bound, which may be in kubernetes.io/hostname=old"},
		{"same zone", own(zone), broken, ""},
		{"other zone", func(s *scene) { own(zone)(s); s.plain.Pods, s.old.Pods = s.old.Pods, nil }, nil, ""},
		{"a key that the node lacks", own("rack"), nil, ""},
		{"no selector", func(s *scene) {
			avoid(s.tiny, affinityTerm(zone, "", func(t *corev1.PodAffinityTerm) { t.LabelSelector = nil }))
		}, nil, ""},
		{"an empty selector", func(s *scene) {
			avoid(s.tiny, affinityTerm(host, "", func(t *corev1.PodAffinityTerm) { t.LabelSelector = &metav1.LabelSelector{} }))
		}, broken, ""},
		{"inverse, same node", inverse(host), broken, "node old: pod default/tiny: the anti-affinity of default/bound, which may be in kubernetes.io/hostname=old, keeps it out"},
		{"inverse, same zone", inverse(zone), broken, ""},
		{"inverse, other zone", func(s *scene) { inverse(zone)(s); s.plain.Pods, s.old.Pods = s.old.Pods, nil }, nil, ""},
		{"inverse, key that the node lacks", inverse("rack"), nil, ""},
		{"inverse, unreadable", func(s *scene) {
			inverse(zone)(s)
			s.old.Pods[0].Spec.Affinity.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution[0].LabelSelector.MatchExpressions =
				[]metav1.LabelSelectorRequirement{{Key: "k", Operator: "Near"}}
		}, nil, ""},
		{"inverse, of another namespace by label", func(s *scene) {
			inverse(zone)(s)
			s.old.Pods[0].Namespace = "prod"
			term := &s.old.Pods[0].Spec.Affinity.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution[0]
			term.NamespaceSelector = &metav1.LabelSelector{MatchLabels: map[string]string{"env": "default"}}
			s.in.Namespaces = []*corev1.Namespace{inSpace("default")}
		}, broken, ""},
		{"inverse, finished", func(s *scene) { inverse(zone)(s); s.old.Pods[0].Status.Phase = corev1.PodSucceeded }, nil, ""},
		{"inverse, of a DaemonSet that may come", func(s *scene) { team("t", s.tiny); avoid(s.daemon, affinityTerm(host, "t")) }, broken, "default/agent"},
		{"inverse, on a new node", func(s *scene) {
			team("w", s.webs...)
			avoid(s.old.Pods[0], affinityTerm(zone, "w"))
		}, broken, "node general-1: pod default/web-1"},
		{"inverse, on a new node in the other zone", func(s *scene) {
			team("w", s.webs...)
			avoid(s.old.Pods[0], affinityTerm(zone, "w"))
			s.pin(s.first(), "b")
		}, nil, ""},
		{"on one new node", func(s *scene) { team("w", s.webs...); avoid(s.webs[1], affinityTerm(host, "w")) }, broken, "web-1, which may be in kubernetes.io/hostname=general-1"},
		{"inverse on one new node", func(s *scene) { team("w", s.webs...); avoid(s.webs[0], affinityTerm(host, "w")) }, broken, "default/web-2: the anti-affinity of default/web-1"},
		{"hosts differ", func(s *scene) { team("w", s.webs[0], s.night, s.tiny); avoid(s.webs[0], affinityTerm(host, "w")) }, nil, ""},
		{"zones may be the same", func(s *scene) { team("w", s.webs[0], s.night); avoid(s.night, affinityTerm(zone, "w")) }, broken, "node batch-1: pod default/night-1"},
		{"zones differ", func(s *scene) {
			team("w", s.webs[0], s.night)
			avoid(s.night, affinityTerm(zone, "w"))
			s.pin(s.first(), "a")
			s.pin(s.second(), "b")
		}, nil, ""},
		{"labels that are open may be the same", func(s *scene) {
			team("w", s.night)
			s.young.Pods = []*corev1.Pod{s.old.Pods[0]}
			avoid(s.young.Pods[0], affinityTerm("team", "w"))
		}, broken, "which may be in team=red"},
	})
}

// TestVerifyAffinityOrder gives way to a pod that keeps later ones out.
func TestVerifyAffinityOrder(t *testing.T) {
	s := newScene()
	team("w", s.webs[0])
	team("x", s.webs[1])
	follow(s.webs[1], affinityTerm(corev1.LabelHostname, "w"))
	follow(s.webs[0], affinityTerm(corev1.LabelHostname, "x"))
	for _, order := range [][]*corev1.Pod{{s.webs[0], s.webs[1]}, {s.webs[1], s.webs[0]}} {
		s.plan.Order = slices.Concat(order, []*corev1.Pod{s.night, s.tiny})
		found := provisioning.Verify(s.in, s.plan, nil)
		require.Len(t, found, 1)
		require.Equal(t, "default/"+order[0].Name, found[0].Pod, "neither can come first")
	}
}
