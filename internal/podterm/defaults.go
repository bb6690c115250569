package podterm

import (
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
)

// Defaults are the topology spread constraints of pods that have none of their own.
// What they count is deduced, as kube-scheduler does, from the Services that select
// the pod and the controller that owns it; a pod with neither has none. Nil gives no
// pod any.
type Defaults struct {
	constraints []corev1.TopologySpreadConstraint
	services    map[string][]*corev1.Service // by namespace
	controllers map[types.UID]*metav1.LabelSelector
}

// NewDefaults returns nil if there are no constraints. Services that are nil, or that
// select nothing, do not count; controllers are the selectors of the owners of pods.
func NewDefaults(constraints []corev1.TopologySpreadConstraint, services []*corev1.Service, controllers map[types.UID]*metav1.LabelSelector) *Defaults {
	if len(constraints) == 0 {
		return nil
	}
	d := &Defaults{constraints: constraints, services: map[string][]*corev1.Service{}, controllers: controllers}
	for _, s := range services {
		if s != nil && len(s.Spec.Selector) > 0 {
			d.services[s.Namespace] = append(d.services[s.Namespace], s)
		}
	}
	return d
}

// Of returns the topology spread constraints of a pod: its own, or else the defaults, each with the
// selector that is derived for the pod. own says which of the two.
func (d *Defaults) Of(pod *corev1.Pod) (list []corev1.TopologySpreadConstraint, own bool) {
	if len(pod.Spec.TopologySpreadConstraints) > 0 {
		return pod.Spec.TopologySpreadConstraints, true
	}
	if d == nil {
		return nil, false
	}
	selector := d.deduced(pod)
	if len(selector.MatchLabels)+len(selector.MatchExpressions) == 0 {
		return nil, false
	}
	out := slices.Clone(d.constraints)
	for i := range out {
		out[i].LabelSelector = selector
	}
	return out, false
}

// deduced returns the selector that combines those of the pod's Services and of its controller.
func (d *Defaults) deduced(pod *corev1.Pod) *metav1.LabelSelector {
	selector := &metav1.LabelSelector{MatchLabels: map[string]string{}}
	for _, s := range d.services[pod.Namespace] {
		if labels.SelectorFromSet(s.Spec.Selector).Matches(labels.Set(pod.Labels)) {
			maps.Copy(selector.MatchLabels, s.Spec.Selector)
		}
	}
	owner := metav1.GetControllerOfNoCopy(pod)
	if owner == nil {
		return selector
	}
	if own := d.controllers[owner.UID]; own != nil && owner.Kind == "ReplicationController" {
		maps.Copy(selector.MatchLabels, own.MatchLabels)
	} else if own != nil {
		selector.MatchExpressions = append(selector.MatchExpressions, own.MatchExpressions...)
		for _, key := range slices.Sorted(maps.Keys(own.MatchLabels)) {
			selector.MatchExpressions = append(selector.MatchExpressions, metav1.LabelSelectorRequirement{
				Key: key, Operator: metav1.LabelSelectorOpIn, Values: []string{own.MatchLabels[key]},
			})
		}
	}
	return selector
}
