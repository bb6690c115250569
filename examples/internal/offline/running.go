package offline

import (
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/version"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/disruption"
	"github.com/dovetail-sdk/dovetail/examples/internal/command"
	"github.com/dovetail-sdk/dovetail/provisioning"
)

// Running returns the running cluster as input of package disruption.
func (w *World) Running() disruption.Input {
	in := w.Cluster.Input
	in.Input, in.Drift = w.Input(), map[string]cloudprovider.Drift{}
	// What only the cloud can see, such as another image, a controller wrote
	// down in the condition. What the engine sees by itself it judges anew.
	own := []string{disruption.NodePoolDrifted, disruption.RequirementsDrifted, disruption.InstanceTypeNotFound}
	for _, n := range in.Nodes {
		if n.NodeClaim == nil {
			continue
		}
		for _, cond := range n.NodeClaim.Status.Conditions {
			if cond.Type == v1.ConditionTypeDrifted && cond.Status == metav1.ConditionTrue && !slices.Contains(own, cond.Reason) {
				in.Drift[n.NodeClaim.Name] = cloudprovider.Drift{Reason: cond.Reason, Detail: strings.TrimSuffix(cond.Message, ".")}
			}
		}
	}
	return in
}

// Age returns a hint if the cluster is looked at in the present, and the newest time in its objects is
// more than a day ago: that the dump is old, and how to set the time. Otherwise it returns "".
func (w *World) Age() string {
	var newest metav1.Time
	see := func(t metav1.Time) {
		if newest.Before(&t) {
			newest = t
		}
	}
	pods := func(list []*corev1.Pod) {
		for _, p := range list {
			see(p.CreationTimestamp)
			for _, c := range p.Status.Conditions {
				see(c.LastTransitionTime)
			}
		}
	}
	pods(w.Cluster.Pods)
	for _, n := range w.Cluster.Nodes {
		pods(n.Pods)
		if n.Node == nil {
			continue
		}
		see(n.Node.CreationTimestamp)
		for _, c := range n.Node.Status.Conditions {
			see(c.LastHeartbeatTime)
			see(c.LastTransitionTime)
		}
	}
	const day = 24 * time.Hour
	age := w.Now.Sub(newest.Time)
	if !w.Present || newest.IsZero() || age < day {
		return ""
	}
	return fmt.Sprintf("the newest time in the manifests is %s ago, and nodes have aged since; -now %s starts there",
		command.Count(int(age/day), "day"), newest.UTC().Format(time.RFC3339))
}

// Kubernetes returns the version of the newest kubelet of the input. kube-scheduler has the same
// version, except during an upgrade: kubelets are never newer than the control plane, so older
// kubelets are still to be upgraded. The version is empty if no Node has one, or, with a remark, if
// the engine does not know it.
func (w *World) Kubernetes() (newest, remark string) {
	last := version.MajorMinor(0, 0)
	for _, n := range w.Cluster.Nodes {
		if n.Node == nil {
			continue
		}
		text := n.Node.Status.NodeInfo.KubeletVersion
		if v, err := version.ParseGeneric(text); err == nil && last.LessThan(v) {
			newest, last = text, v
		}
	}
	if err := (&provisioning.Options{Kubernetes: newest}).Validate(); err != nil {
		return "", fmt.Sprintf("the newest kubelet has version %s, which is not among those that plans are made for: places are valid in all of these", newest)
	}
	return newest, ""
}
