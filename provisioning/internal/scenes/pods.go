package scenes

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/dovetail-sdk/dovetail/provisioning"
)

// EveryPod lists the pods of an input wherever they are.
func EveryPod(in provisioning.Input) []*corev1.Pod {
	pods := slices.Concat(in.Pods, in.DaemonSetPods)
	for _, n := range in.Nodes {
		pods = append(pods, n.Pods...)
	}
	return pods
}

// Crowded says whether some pod of a problem depends on where others are.
func Crowded(in provisioning.Input) bool {
	pods := slices.Concat(in.Pods, in.DaemonSetPods)
	for _, n := range in.Nodes {
		pods = append(pods, n.Pods...)
	}
	return slices.ContainsFunc(pods, Picky) || slices.ContainsFunc(pods, Repels)
}

// Picky says whether a pod depends on more than labels, taints and room.
func Picky(pod *corev1.Pod) bool {
	ported := slices.ContainsFunc(pod.Spec.Containers, func(c corev1.Container) bool { return len(c.Ports) > 0 })
	a := pod.Spec.Affinity
	return ported || Spreads(pod) || a != nil && a.PodAffinity != nil || Repels(pod) ||
		len(pod.Spec.Volumes) > 0 || len(pod.Spec.ResourceClaims) > 0 || len(pod.Spec.SchedulingGates) > 0
}

// Spreads says whether a pod has topology spread constraints.
func Spreads(pod *corev1.Pod) bool { return len(pod.Spec.TopologySpreadConstraints) > 0 }

// Repels says whether a pod has anti-affinity.
func Repels(pod *corev1.Pod) bool {
	return pod.Spec.Affinity != nil && pod.Spec.Affinity.PodAntiAffinity != nil
}
