package provisioning

import (
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
)

// checkCompleteness counts where each pod stands. A plan that loses a pod
// leaves it pending without a word, and one that places a pod twice launches a
// node for nothing.
func (r *referee) checkCompleteness() {
	places := map[refereeKey][]string{}
	seat := func(pod *corev1.Pod, place string) {
		if pod == nil {
			r.report(RuleCompleteness, "", "", "%s lists a pod that is nil", place)
			return
		}
		places[refereeKeyOf(pod)] = append(places[refereeKeyOf(pod)], place)
	}
	for _, n := range r.plan.Create {
		for _, pod := range n.Pods {
			seat(pod, "new node "+n.Name)
		}
		if len(n.Pods) == 0 {
			r.report(RuleCompleteness, n.Name, "", "the node is to be launched for no pod")
		}
	}
	for _, b := range r.plan.Bind {
		for _, pod := range b.Pods {
			seat(pod, "node "+b.Node)
		}
		if len(b.Pods) == 0 {
			r.report(RuleCompleteness, b.Node, "", "the binding lists no pod")
		}
	}
	for _, u := range r.plan.Unplaced {
		seat(u.Pod, "Unplaced")
		if p := r.known(u.Pod); p != nil && p.virtual {
			r.report(RuleCompleteness, "", p.key.String(), "it stands for a buffer, and Buffers counts it; Unplaced is for real pods")
		}
	}

	for _, key := range slices.SortedFunc(maps.Keys(places), refereeKey.compare) {
		found := places[key]
		known := r.pods[key]
		switch {
		case known == nil:
			r.report(RuleCompleteness, "", key.String(), "it was not asked for, but stands in %s", found[0])
		case len(found) > known.copies:
			r.report(RuleCompleteness, "", key.String(), "it stands in the plan %d times, in %s and %s among others; expected %d",
				len(found), found[0], found[1], known.copies)
		case known.virtual:
		case len(found) < known.copies:
			r.report(RuleCompleteness, "", key.String(), "the input lists it %d times, the plan %d times", known.copies, len(found))
		}
	}
	for key, p := range r.pods {
		if len(places[key]) == 0 && !p.virtual {
			r.report(RuleCompleteness, "", key.String(), "it was asked for, but stands nowhere in the plan")
		}
	}
}
