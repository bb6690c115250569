package podkey_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/dovetail-sdk/dovetail/internal/podkey"
)

// whole writes everything that the package can read of a pod.
func whole(pod *corev1.Pod) string {
	var w podkey.Writer
	w.Labels(pod.Labels)
	w.Requests(pod)
	w.Tolerations(pod.Spec.Tolerations)
	w.NodeAffinity(pod.Spec.Affinity)
	w.Spreads(pod, true)
	if a := pod.Spec.Affinity; a != nil && a.PodAntiAffinity != nil {
		w.AffinityTerms(pod, a.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution)
	}
	return string(w.Buf)
}

func amounts(cpu string) corev1.ResourceList {
	return corev1.ResourceList{"cpu": resource.MustParse(cpu), "memory": resource.MustParse("1Gi")}
}

func pod() *corev1.Pod {
	p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "a", Labels: map[string]string{"app": "x", "tier": "y"}}}
	p.Spec.Containers = []corev1.Container{{Resources: corev1.ResourceRequirements{Requests: amounts("1500m")}}}
	p.Spec.Tolerations = []corev1.Toleration{{Key: "gpu", Operator: corev1.TolerationOpExists}}
	p.Spec.Affinity = &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{
		NodeSelectorTerms: []corev1.NodeSelectorTerm{{MatchExpressions: []corev1.NodeSelectorRequirement{{Key: "zone", Operator: "In", Values: []string{"a", "b"}}}}},
	}}}
	p.Spec.TopologySpreadConstraints = []corev1.TopologySpreadConstraint{{LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "x"}}}}
	return p
}

func TestPodsAreAlikeIfTheySayTheSame(t *testing.T) {
	other := pod()
	other.Name = "b"
	other.Spec.Containers[0].Resources.Requests["cpu"] = resource.MustParse("1.5")
	require.Equal(t, whole(pod()), whole(other), "however an amount is written")
	for name, change := range map[string]func(p *corev1.Pod){
		"a label":           func(p *corev1.Pod) { p.Labels["app"] = "z" },
		"where a text ends": func(p *corev1.Pod) { p.Labels = map[string]string{"app": "xt", "ier": "y"} },
		"an amount":         func(p *corev1.Pod) { p.Spec.Containers[0].Resources.Requests = amounts("1501m") },
		"less than a milli": func(p *corev1.Pod) { p.Spec.Containers[0].Resources.Requests = amounts("1500100u") },
		"more than can be":  func(p *corev1.Pod) { p.Spec.Containers[0].Resources.Requests = amounts("92e1650982911") },
		"an init container": func(p *corev1.Pod) { p.Spec.InitContainers = p.Spec.Containers },
		"overhead":          func(p *corev1.Pod) { p.Spec.Overhead = amounts("1") },
		"a sidecar": func(p *corev1.Pod) {
			always := corev1.ContainerRestartPolicyAlways
			p.Spec.Containers[0].RestartPolicy = &always
		},
		"requests of a pod": func(p *corev1.Pod) { p.Spec.Resources = &corev1.ResourceRequirements{} },
		"a resize":          func(p *corev1.Pod) { p.Status.Resources = &corev1.ResourceRequirements{} },
		"a resized one": func(p *corev1.Pod) {
			p.Status.InitContainerStatuses = []corev1.ContainerStatus{{AllocatedResources: amounts("1")}}
		},
		"a toleration":    func(p *corev1.Pod) { p.Spec.Tolerations[0].Value = "big" },
		"a node affinity": func(p *corev1.Pod) { p.Spec.Affinity = nil },
		"what it prefers": func(p *corev1.Pod) {
			p.Spec.Affinity.NodeAffinity.PreferredDuringSchedulingIgnoredDuringExecution = []corev1.PreferredSchedulingTerm{{Weight: 1}}
		},
		"an empty selector": func(p *corev1.Pod) { p.Spec.TopologySpreadConstraints[0].LabelSelector = &metav1.LabelSelector{} },
		"no selector":       func(p *corev1.Pod) { p.Spec.TopologySpreadConstraints[0].LabelSelector = nil },
		"a selector's terms": func(p *corev1.Pod) {
			p.Spec.TopologySpreadConstraints[0].LabelSelector.MatchExpressions = []metav1.LabelSelectorRequirement{{Key: "app", Operator: "Exists"}}
		},
		"a policy": func(p *corev1.Pod) {
			honor := corev1.NodeInclusionPolicyHonor
			p.Spec.TopologySpreadConstraints[0].NodeTaintsPolicy = &honor
		},
		"a number": func(p *corev1.Pod) { two := int32(2); p.Spec.TopologySpreadConstraints[0].MinDomains = &two },
		"keys":     func(p *corev1.Pod) { p.Spec.TopologySpreadConstraints[0].MatchLabelKeys = []string{"app"} },
	} {
		other := pod()
		change(other)
		require.NotEqual(t, whole(pod()), whole(other), name)
	}
	first, second := pod(), pod()
	second.Name = "b"
	first.Status.Resources, second.Status.Resources = &corev1.ResourceRequirements{}, &corev1.ResourceRequirements{}
	require.NotEqual(t, whole(first), whole(second), "pods that are resized are alike to no other")
}

// Pods are alike to a constraint if they have the same values of the labels that it takes
// from them.
func TestConstraintsTakeValuesFromThePod(t *testing.T) {
	labelled := func(version string) *corev1.Pod {
		return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"version": version}}}
	}
	write := func(p *corev1.Pod, term corev1.PodAffinityTerm) string {
		var w podkey.Writer
		w.AffinityTerms(p, []corev1.PodAffinityTerm{term})
		return string(w.Buf)
	}
	require.Equal(t, write(labelled("1"), corev1.PodAffinityTerm{}), write(labelled("2"), corev1.PodAffinityTerm{}))
	for _, term := range []corev1.PodAffinityTerm{{MatchLabelKeys: []string{"version"}}, {MismatchLabelKeys: []string{"version"}}} {
		require.Equal(t, write(labelled("1"), term), write(labelled("1"), term))
		require.NotEqual(t, write(labelled("1"), term), write(labelled("2"), term))
		require.NotEqual(t, write(labelled(""), term), write(&corev1.Pod{}, term), "an empty value is not none")
	}
	require.NotEqual(t, write(labelled("1"), corev1.PodAffinityTerm{MatchLabelKeys: []string{"version"}}),
		write(labelled("1"), corev1.PodAffinityTerm{MismatchLabelKeys: []string{"version"}}))
}

// Pods without topology spreads of their own are told apart by what defaults are deduced
// from, and only where there are any.
func TestDefaultsAreDeducedFromLabelsAndOwners(t *testing.T) {
	write := func(p *corev1.Pod, defaults bool) string {
		var w podkey.Writer
		w.Spreads(p, defaults)
		return string(w.Buf)
	}
	yes := true
	bare, owned, other := &corev1.Pod{}, &corev1.Pod{}, &corev1.Pod{}
	owned.OwnerReferences = []metav1.OwnerReference{{UID: "a", Controller: &yes}}
	other.Labels = map[string]string{"app": "x"}
	for _, p := range []*corev1.Pod{owned, other} {
		require.Equal(t, write(bare, false), write(p, false))
		require.NotEqual(t, write(bare, true), write(p, true))
		p.Spec.TopologySpreadConstraints = pod().Spec.TopologySpreadConstraints
	}
	require.Equal(t, write(owned, true), write(other, true), "they have their own")
}
