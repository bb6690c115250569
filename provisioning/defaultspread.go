package provisioning

import (
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
)

// defaultSpread are the constraints of pods that have none of their own. What
// they count is deduced, as kube-scheduler does, from the Services that select
// the pod and the controller that owns it; a pod with neither has none.
type defaultSpread struct {
	constraints []corev1.TopologySpreadConstraint
	services    map[string][]*corev1.Service // by namespace
	controllers map[types.UID]*metav1.LabelSelector
}

// newDefaultSpread returns nil if there are no constraints.
func newDefaultSpread(in *Input, constraints []corev1.TopologySpreadConstraint, f *faults) *defaultSpread {
	for i, s := range in.Services {
		if s == nil {
			f.add(fmt.Sprintf("Services[%d]", i), "", "is nil; leave it out")
		}
	}
	if len(constraints) == 0 {
		return nil
	}
	d := &defaultSpread{constraints: constraints, services: map[string][]*corev1.Service{}, controllers: map[types.UID]*metav1.LabelSelector{}}
	for _, s := range in.Services {
		if s != nil && len(s.Spec.Selector) > 0 {
			d.services[s.Namespace] = append(d.services[s.Namespace], s)
		}
	}
	for i, c := range in.Controllers {
		if _, twice := d.controllers[c.UID]; twice {
			f.add(fmt.Sprintf("Controllers[%d]", i), "UID", "%q is listed twice; list each controller once", c.UID)
		}
		d.controllers[c.UID] = c.Selector
	}
	return d
}

// of returns the constraints of a pod, each with its selector.
func (d *defaultSpread) of(pod *corev1.Pod) []corev1.TopologySpreadConstraint {
	if d == nil {
		return nil
	}
	selector := &metav1.LabelSelector{MatchLabels: map[string]string{}}
	for _, s := range d.services[pod.Namespace] {
		if labels.SelectorFromSet(s.Spec.Selector).Matches(labels.Set(pod.Labels)) {
			maps.Copy(selector.MatchLabels, s.Spec.Selector)
		}
	}
	if owner := metav1.GetControllerOfNoCopy(pod); owner != nil {
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
	}
	if len(selector.MatchLabels)+len(selector.MatchExpressions) == 0 {
		return nil
	}
	out := make([]corev1.TopologySpreadConstraint, len(d.constraints))
	for i := range d.constraints {
		out[i] = d.constraints[i]
		out[i].LabelSelector = selector
	}
	return out
}

// validateDefaultSpread reports constraints that cannot be defaults.
func validateDefaultSpread(constraints []corev1.TopologySpreadConstraint) []error {
	var errs []error
	seen := map[string]bool{}
	for i := range constraints {
		c := &constraints[i]
		complain := func(format string, args ...any) {
			errs = append(errs, fmt.Errorf("DefaultSpread[%d].%s", i, fmt.Sprintf(format, args...)))
		}
		if c.TopologyKey == "" {
			complain("topologyKey is empty; name a node label")
		}
		if c.MaxSkew < 1 {
			complain("maxSkew is %d; it must be at least 1", c.MaxSkew)
		}
		if c.WhenUnsatisfiable != corev1.DoNotSchedule && c.WhenUnsatisfiable != corev1.ScheduleAnyway {
			complain("whenUnsatisfiable is %q; use DoNotSchedule or ScheduleAnyway", c.WhenUnsatisfiable)
		}
		if c.LabelSelector != nil || len(c.MatchLabelKeys) > 0 {
			complain("labelSelector is set; what a default counts is deduced from Services and controllers")
		}
		key := c.TopologyKey + "/" + string(c.WhenUnsatisfiable)
		if seen[key] {
			complain("topologyKey is %q with %s twice; use each once", c.TopologyKey, c.WhenUnsatisfiable)
		}
		seen[key] = true
	}
	return errs
}
