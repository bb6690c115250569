package provisioning

import corev1 "k8s.io/api/core/v1"

// checkReasons wants a reason for each unplaced pod, and checks what the pod
// and its reason alone can contradict.
func (r *referee) checkReasons() {
	for _, u := range r.plan.Unplaced {
		if u.Pod == nil {
			continue
		}
		name := refereeKeyOf(u.Pod).String()
		if u.Reason == nil {
			r.report(RuleReason, "", name, "it is left pending without a reason")
			continue
		}
		if u.Reason.Cause == "" {
			r.report(RuleReason, "", name, "its reason has no cause")
		}
		for _, pool := range u.Reason.Pools {
			known := r.pools[pool.NodePool]
			switch {
			case known == nil:
				r.report(RuleReason, "", name, "its reason names NodePool %q, which is not in the input", pool.NodePool)
			case pool.Cause == CauseLimits && len(known.Spec.Limits) == 0:
				r.report(RuleReason, "", name, "its reason blames the limits of NodePool %s, which has none", pool.NodePool)
			case pool.Cause == CauseTaints && !r.refusedByTaint(u.Pod, known):
				r.report(RuleReason, "", name, "its reason blames the taints of NodePool %s, all of which it tolerates", pool.NodePool)
			}
		}
		if p := r.known(u.Pod); p != nil && u.Reason.Cause == CauseUnsupported && !r.unmodelled(p) {
			r.report(RuleReason, "", name, "its reason says that %q is not supported, but it uses nothing that an engine need not model", u.Reason.Detail)
		}
	}
}

func (r *referee) refusedByTaint(pod *corev1.Pod, pool *refereePool) bool {
	_, refused := refereeTolerations(pod.Spec.Tolerations).refused(pool.Spec.Template.Spec.Taints)
	return refused
}

// unmodelled says whether an engine may say of a pod that it does not model what
// the pod uses: resource claims, volumes, and what it wants of other pods.
func (r *referee) unmodelled(p *refereePod) bool {
	a := p.Spec.Affinity
	return len(p.Spec.ResourceClaims) > 0 || len(p.Spec.Volumes) > 0 || len(p.Spec.TopologySpreadConstraints) > 0 ||
		a != nil && (a.PodAffinity != nil || a.PodAntiAffinity != nil) || r.waits(p) != ""
}
