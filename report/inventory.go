package report

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/dovetail-sdk/dovetail/internal/layout"
	"github.com/dovetail-sdk/dovetail/internal/podlife"
	"github.com/dovetail-sdk/dovetail/provisioning"
	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
	"github.com/dovetail-sdk/dovetail/provisioning/resources"
)

// workload identifies the owner of a pod: a Deployment, a Job, a buffer, or the pod itself if
// nothing controls it.
type workload struct{ Kind, Namespace, Name string }

// String returns the kind and the path, such as "Deployment shop/web".
func (w workload) String() string { return w.Kind + " " + w.Path() }

// Path returns the namespace and the name, such as "shop/web".
func (w workload) Path() string { return w.Namespace + "/" + w.Name }

// workloadOf finds the owner of a pod.
func workloadOf(pod *corev1.Pod) workload {
	if namespace, name, ok := provisioning.BufferOf(pod); ok {
		return workload{"Buffer", namespace, name}
	}
	kind, name := podlife.Workload(pod)
	return workload{kind, pod.Namespace, name}
}

// labelsOf returns the labels of the Node, or of the NodeClaim while there is no Node.
func labelsOf(n *provisioning.Node) map[string]string {
	switch {
	case n.Node != nil:
		return n.Node.Labels
	case n.NodeClaim != nil:
		return n.NodeClaim.Labels
	}
	return nil
}

// allocatableOf returns the allocatable resources of a node, from its Node or else from its
// NodeClaim. Values that cannot be read are left out: package provisioning reports them as faults
// of the input.
func allocatableOf(n *provisioning.Node) resources.List {
	var list corev1.ResourceList
	switch {
	case n.Node != nil:
		list = n.Node.Status.Allocatable
	case n.NodeClaim != nil:
		list = n.NodeClaim.Status.Allocatable
	}
	have, err := resources.FromResourceList(list)
	if err != nil {
		return resources.List{}
	}
	return have
}

// utilization is the share of a node's allocatable resources that pods request, from 0 to 1.
type utilization struct {
	CPU    float64 `json:"cpu"`
	Memory float64 `json:"memory"`
}

// utilizationOf returns the utilization of a node with the given pods, nil if it is unknown.
func utilizationOf(room resources.List, podLists ...[]*corev1.Pod) *utilization {
	var used resources.List
	for _, pods := range podLists {
		for _, pod := range pods {
			requests, err := resources.PodRequests(pod)
			if err != nil {
				return nil
			}
			if used, err = used.Add(requests); err != nil {
				return nil
			}
		}
	}
	return utilizationIn(used, room)
}

// utilizationIn returns used divided by room, nil if there is no room at all.
func utilizationIn(used, room resources.List) *utilization {
	cpu, memory := room.Get(corev1.ResourceCPU), room.Get(corev1.ResourceMemory)
	if cpu <= 0 || memory <= 0 {
		return nil
	}
	return &utilization{
		CPU:    layout.Rounded(float64(used.Get(corev1.ResourceCPU)) / float64(cpu)),
		Memory: layout.Rounded(float64(used.Get(corev1.ResourceMemory)) / float64(memory)),
	}
}

// daemonsToCome returns the DaemonSet pods that a node will run but does not run yet. Their room is
// set aside, so it counts as used.
func daemonsToCome(node *provisioning.Node, daemons []*corev1.Pod) []*corev1.Pod {
	if node.Node == nil {
		return nil // which labels it will have is the engine's to know
	}
	var out []*corev1.Pod
	for _, d := range daemons {
		running := slices.ContainsFunc(node.Pods, func(p *corev1.Pod) bool { return podlife.SameDaemonSet(d, p) })
		if !running && runsOn(d, node.Node) {
			out = append(out, d)
		}
	}
	return out
}

// runsOn says whether a DaemonSet runs pods on a node. A pod of the DaemonSet may stand for it, so the
// node that the pod names does not count.
func runsOn(daemon *corev1.Pod, node *corev1.Node) bool {
	wants, err := requirements.FromPod(daemon, nil)
	if err != nil {
		return false // reported with the input
	}
	return slices.ContainsFunc(wants.Alternatives, func(a requirements.Alternative) bool { return a.Set.Matches(node.Labels) }) &&
		!slices.ContainsFunc(node.Spec.Taints, func(t corev1.Taint) bool {
			return t.Effect != corev1.TaintEffectPreferNoSchedule && !ofCondition(t.Key) && !podlife.Tolerates(daemon, t)
		})
}

// ofCondition says whether the key is that of a taint that Kubernetes sets for a node condition.
// DaemonSets tolerate such taints.
func ofCondition(key string) bool {
	return slices.Contains([]string{corev1.TaintNodeNotReady, corev1.TaintNodeUnreachable, corev1.TaintNodeDiskPressure,
		corev1.TaintNodeMemoryPressure, corev1.TaintNodePIDPressure, corev1.TaintNodeUnschedulable}, key)
}

// Utilization returns the share of the allocatable CPU and memory of a node that its pods request,
// each from 0 to 1. known is false if the node has no allocatable CPU or memory, or if a request
// cannot be read.
func Utilization(n *provisioning.Node) (cpu, memory float64, known bool) {
	u := utilizationOf(allocatableOf(n), n.Pods)
	if u == nil {
		return 0, 0, false
	}
	return u.CPU, u.Memory, true
}
