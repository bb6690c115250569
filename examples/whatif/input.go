package main

import (
	"errors"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/dovetail-sdk/dovetail/provisioning"
)

// checkNodes makes sure that the nodes named exist.
func checkNodes(in provisioning.Input, names []string) error {
	var known []string
	for i := range in.Nodes {
		known = append(known, in.Nodes[i].Name())
	}
	var errs []error
	for _, name := range names {
		if !slices.Contains(known, name) {
			errs = append(errs, fmt.Errorf("-without %s: the input has no such node%s", name, didYouMean(name, known)))
		}
	}
	return errors.Join(errs...)
}

// staying returns those of the nodes named that are not being deleted already.
// The pods of the others are among those to place as it is.
func staying(in provisioning.Input, names []string) []string {
	var out []string
	for i := range in.Nodes {
		if n := &in.Nodes[i]; !leaving(n) && slices.Contains(names, n.Name()) {
			out = append(out, n.Name())
		}
	}
	return out
}

// withoutNodes writes down what Problem.Without plans for, for the referee to
// judge by: the nodes are being deleted, and their pods wait, but those that
// go with their node.
func withoutNodes(in provisioning.Input, names []string) provisioning.Input {
	now := metav1.Unix(1, 0) // it only matters that there is a time
	in.Nodes, in.Pods = slices.Clone(in.Nodes), slices.Clone(in.Pods)
	for i := range in.Nodes {
		n := &in.Nodes[i]
		if !slices.Contains(names, n.Name()) {
			continue
		}
		if n.Node != nil {
			n.Node = n.Node.DeepCopy()
			n.Node.DeletionTimestamp = &now
		}
		if n.NodeClaim != nil {
			n.NodeClaim = n.NodeClaim.DeepCopy()
			n.NodeClaim.DeletionTimestamp = &now
		}
		for _, pod := range n.Pods {
			if moves(pod) {
				free := pod.DeepCopy()
				free.Spec.NodeName = ""
				in.Pods = append(in.Pods, free)
			}
		}
	}
	return in
}

// leaving tells whether a node is being deleted.
func leaving(n *provisioning.Node) bool {
	return n.Node != nil && n.Node.DeletionTimestamp != nil || n.NodeClaim != nil && n.NodeClaim.DeletionTimestamp != nil
}

// moves tells whether a pod finds another place when its node goes.
func moves(pod *corev1.Pod) bool {
	if pod.DeletionTimestamp != nil || pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed {
		return false
	}
	if _, mirror := pod.Annotations[corev1.MirrorPodAnnotationKey]; mirror {
		return false
	}
	owner := metav1.GetControllerOf(pod)
	return owner == nil || owner.Kind != "DaemonSet" && owner.Kind != "Node"
}
