package provisioning

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
)

// checkScheduling looks for placed pods that no scheduler, or none of those that
// are asked about, would place.
func (r *referee) checkScheduling() {
	judge := func(node string, pods []*corev1.Pod) {
		for _, p := range r.knownPods(pods) {
			if why := r.waits(p); why != "" {
				r.report(RuleScheduling, node, p.key.String(), "%s, so it must stay pending", why)
			}
		}
	}
	for i := range r.plan.Create {
		judge(r.plan.Create[i].Name, r.plan.Create[i].Pods)
	}
	for _, b := range r.plan.Bind {
		judge(b.Node, b.Pods)
	}
}

// waits says why a pod is not to be placed wherever there is room; "" if it is.
func (r *referee) waits(p *refereePod) string {
	if p.DeletionTimestamp != nil {
		return "it is being deleted"
	}
	if len(p.Spec.SchedulingGates) > 0 {
		return "it waits for scheduling gate " + p.Spec.SchedulingGates[0].Name
	}
	name := p.Spec.SchedulerName
	if name == "" {
		name = corev1.DefaultSchedulerName
	}
	if len(r.schedulers) > 0 && !slices.Contains(r.schedulers, name) {
		return "it is for scheduler " + name
	}
	return ""
}
