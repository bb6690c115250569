package main

import (
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	karpenterv1 "sigs.k8s.io/karpenter/pkg/apis/v1"

	"github.com/dovetail-sdk/dovetail/benchmarks/internal/karpenter"
	"github.com/dovetail-sdk/dovetail/benchmarks/scenario"
)

// objects are the objects that an API server would have, in Karpenter's own types.
type objects struct {
	pools          []*karpenterv1.NodePool
	claims         []*karpenterv1.NodeClaim
	nodes          []*corev1.Node
	pending, bound []*corev1.Pod
	others         []client.Object
}

// objectsOf converts a scenario into objects.
func objectsOf(s *scenario.Scenario) (*objects, error) {
	out := &objects{pending: s.Pods}
	for _, p := range s.NodePools {
		pool := &karpenterv1.NodePool{}
		if err := karpenter.Translate(p, pool); err != nil {
			return nil, fmt.Errorf("node pool %s: %w", p.Name, err)
		}
		if pool.Spec.Template.Spec.NodeClassRef == nil {
			return nil, fmt.Errorf("node pool %s: spec.template.spec.nodeClassRef is missing; Karpenter needs one", p.Name)
		}
		karpenter.Ready(pool, metav1.NewTime(s.Now))
		out.pools = append(out.pools, pool)
	}
	for _, n := range s.Nodes {
		if n.NodeClaim != nil {
			claim := &karpenterv1.NodeClaim{}
			if err := karpenter.Translate(n.NodeClaim, claim); err != nil {
				return nil, fmt.Errorf("node claim %s: %w", n.NodeClaim.Name, err)
			}
			out.claims = append(out.claims, claim)
		}
		if n.Node != nil {
			out.nodes = append(out.nodes, n.Node)
		}
		out.bound = append(out.bound, n.Pods...)
	}
	for _, pod := range s.DaemonSetPods {
		out.others = append(out.others, daemonSet(pod))
	}
	out.others = append(out.others, namespaces(s)...)
	out.others = appendAll(out.others, s.PersistentVolumeClaims)
	out.others = appendAll(out.others, s.PersistentVolumes)
	out.others = appendAll(out.others, s.StorageClasses)
	out.others = appendAll(out.others, s.CSINodes)
	out.others = appendAll(out.others, s.PodDisruptionBudgets)
	return out, nil
}

// list returns all objects.
func (o *objects) list() []client.Object {
	all := appendAll(nil, o.pools)
	all = appendAll(all, o.claims)
	all = appendAll(all, o.nodes)
	all = appendAll(all, o.pending)
	all = appendAll(all, o.bound)
	return append(all, o.others...)
}

func appendAll[T client.Object](to []client.Object, from []T) []client.Object {
	for _, o := range from {
		to = append(to, o)
	}
	return to
}

// daemonSet returns a DaemonSet that owns the pod and has it as template.
func daemonSet(pod *corev1.Pod) *appsv1.DaemonSet {
	uid := types.UID("daemonset/" + scenario.PodKey(pod))
	if owner := metav1.GetControllerOf(pod); owner != nil && owner.Kind == "DaemonSet" {
		uid = owner.UID
	}
	return &appsv1.DaemonSet{
		ObjectMeta: metav1.ObjectMeta{Namespace: pod.Namespace, Name: pod.Name, UID: uid},
		Spec: appsv1.DaemonSetSpec{
			Selector: &metav1.LabelSelector{MatchLabels: pod.Labels},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: pod.Labels, Annotations: pod.Annotations},
				Spec:       pod.Spec,
			},
		},
	}
}

// namespaces returns the namespaces of the scenario, and one for each other namespace that contains
// a pod.
func namespaces(s *scenario.Scenario) []client.Object {
	out := appendAll(nil, s.Namespaces)
	known := map[string]bool{}
	for _, ns := range s.Namespaces {
		known[ns.Name] = true
	}
	missing := func(pods []*corev1.Pod) {
		for _, pod := range pods {
			if name := pod.Namespace; !known[name] {
				known[name] = true
				out = append(out, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{
					Name: name, Labels: map[string]string{corev1.LabelMetadataName: name},
				}})
			}
		}
	}
	missing(s.Pods)
	missing(s.DaemonSetPods)
	for _, n := range s.Nodes {
		missing(n.Pods)
	}
	return out
}
