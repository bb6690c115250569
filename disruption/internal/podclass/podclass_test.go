package podclass

import (
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Pods are alike if they differ in nothing that a search looks at.
func TestPodKinds(t *testing.T) {
	replica := func(change func(p *corev1.Pod)) *corev1.Pod {
		p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web", Labels: map[string]string{"app": "web", "tier": "front"}}}
		p.Spec.NodeSelector = map[string]string{"disk": "ssd"}
		p.Spec.Containers = []corev1.Container{{Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{
			"cpu": resource.MustParse("100m"), "memory": resource.MustParse("1Gi")}}}}
		p.Spec.Tolerations = []corev1.Toleration{{Key: "spot", Operator: corev1.TolerationOpExists}}
		p.Spec.TopologySpreadConstraints = []corev1.TopologySpreadConstraint{{MaxSkew: 1, TopologyKey: corev1.LabelTopologyZone,
			WhenUnsatisfiable: corev1.DoNotSchedule, LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}}}}
		p.Spec.Affinity = &corev1.Affinity{
			NodeAffinity: &corev1.NodeAffinity{
				RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{{
					MatchExpressions: []corev1.NodeSelectorRequirement{{Key: "arch", Operator: corev1.NodeSelectorOpIn, Values: []string{"arm64"}}}}}},
				PreferredDuringSchedulingIgnoredDuringExecution: []corev1.PreferredSchedulingTerm{{Weight: 1}}},
			PodAffinity: &corev1.PodAffinity{},
			PodAntiAffinity: &corev1.PodAntiAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{{
				TopologyKey: corev1.LabelHostname, LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}}}}}}
		change(p)
		return p
	}
	policy := corev1.NodeInclusionPolicyIgnore
	kinds := New(0, false)
	first := kinds.Of(replica(func(*corev1.Pod) {}))
	for name, change := range map[string]func(p *corev1.Pod){
		"nothing":         func(*corev1.Pod) {},
		"name":            func(p *corev1.Pod) { p.Name = "web-2" },
		"node":            func(p *corev1.Pod) { p.Spec.NodeName = "n1" },
		"notation":        func(p *corev1.Pod) { p.Spec.Containers[0].Resources.Requests["cpu"] = resource.MustParse("0.1") },
		"image":           func(p *corev1.Pod) { p.Spec.Containers[0].Image = "other" },
		"container count": func(p *corev1.Pod) { p.Spec.Containers = append([]corev1.Container(nil), p.Spec.Containers...) },
	} {
		require.Same(t, first, kinds.Of(replica(change)), name)
	}
	seen := map[*Class]string{first: "the first"}
	for name, change := range map[string]func(p *corev1.Pod){
		"namespace":           func(p *corev1.Pod) { p.Namespace = "bank" },
		"label":               func(p *corev1.Pod) { p.Labels["tier"] = "back" },
		"node selector":       func(p *corev1.Pod) { p.Spec.NodeSelector["disk"] = "hdd" },
		"request":             func(p *corev1.Pod) { p.Spec.Containers[0].Resources.Requests["cpu"] = resource.MustParse("100500u") },
		"resource":            func(p *corev1.Pod) { p.Spec.Containers[0].Resources.Requests["gpu"] = resource.MustParse("1") },
		"init container":      func(p *corev1.Pod) { p.Spec.InitContainers = p.Spec.Containers },
		"overhead":            func(p *corev1.Pod) { p.Spec.Overhead = corev1.ResourceList{"cpu": resource.MustParse("1")} },
		"pod-level resources": func(p *corev1.Pod) { p.Spec.Resources = &corev1.ResourceRequirements{} },
		"resized":             func(p *corev1.Pod) { p.Status.Resources = &corev1.ResourceRequirements{} },
		"toleration":          func(p *corev1.Pod) { p.Spec.Tolerations[0].Effect = corev1.TaintEffectNoExecute },
		"skew":                func(p *corev1.Pod) { p.Spec.TopologySpreadConstraints[0].MaxSkew = 2 },
		"minimum of domains":  func(p *corev1.Pod) { p.Spec.TopologySpreadConstraints[0].MinDomains = new(int32(3)) },
		"policy":              func(p *corev1.Pod) { p.Spec.TopologySpreadConstraints[0].NodeTaintsPolicy = &policy },
		"spread selector":     func(p *corev1.Pod) { p.Spec.TopologySpreadConstraints[0].LabelSelector = nil },
		"label keys":          func(p *corev1.Pod) { p.Spec.TopologySpreadConstraints[0].MatchLabelKeys = []string{"tier"} },
		"node affinity": func(p *corev1.Pod) {
			p.Spec.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms[0].MatchExpressions[0].Values[0] = "amd64"
		},
		"preference": func(p *corev1.Pod) {
			p.Spec.Affinity.NodeAffinity.PreferredDuringSchedulingIgnoredDuringExecution[0].Weight = 2
		},
		"affinity": func(p *corev1.Pod) {
			p.Spec.Affinity.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution = p.Spec.Affinity.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution
		},
		"anti-affinity": func(p *corev1.Pod) {
			p.Spec.Affinity.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution[0].Namespaces = []string{"bank"}
		},
	} {
		kind := kinds.Of(replica(change))
		require.Empty(t, seen[kind], name)
		seen[kind] = name
	}

	pinned := func(zone string) *Class {
		p := replica(func(*corev1.Pod) {})
		kinds.Pin(p, first, map[string]string{corev1.LabelTopologyZone: zone})
		return kinds.Of(p)
	}
	require.Same(t, pinned("a"), pinned("a"))
	require.NotSame(t, pinned("a"), pinned("b"))
	require.NotSame(t, first, pinned("a"))
}
