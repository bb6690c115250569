package inventory

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/dovetail-sdk/dovetail/examples/internal/layout"
	"github.com/dovetail-sdk/dovetail/provisioning"
	"github.com/dovetail-sdk/dovetail/provisioning/resources"
)

// Labels are those of the Node, or of the NodeClaim while there is none.
func Labels(n *provisioning.Node) map[string]string {
	switch {
	case n.Node != nil:
		return n.Node.Labels
	case n.NodeClaim != nil:
		return n.NodeClaim.Labels
	}
	return nil
}

// Allocatable is what pods may ask for of a node, by its Node or else its NodeClaim. What
// cannot be read is nothing: package provisioning reports it with the input.
func Allocatable(n *provisioning.Node) resources.List {
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

// Utilization is the share of a node's allocatable that is asked for, from 0
// to 1.
type Utilization struct {
	CPU    float64 `json:"cpu"`
	Memory float64 `json:"memory"`
}

// Use is the utilization of a node with these pods on it, or nil if it cannot be known.
func Use(room resources.List, podLists ...[]*corev1.Pod) *Utilization {
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
	return Share(used, room)
}

// Share is used over room, or nil where there is no room at all.
func Share(used, room resources.List) *Utilization {
	cpu, memory := room.Get(corev1.ResourceCPU), room.Get(corev1.ResourceMemory)
	if cpu <= 0 || memory <= 0 {
		return nil
	}
	return &Utilization{
		CPU:    layout.Rounded(float64(used.Get(corev1.ResourceCPU)) / float64(cpu)),
		Memory: layout.Rounded(float64(used.Get(corev1.ResourceMemory)) / float64(memory)),
	}
}
