package verify

import (
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
)

// checkCompleteness counts the places of each pod. A plan that loses a pod leaves it pending
// silently, and one that places a pod twice launches a node for nothing.
func (r *referee) checkCompleteness() {
	places := map[objectKey][]string{}
	add := func(pods []*corev1.Pod, place string) {
		for _, pod := range pods {
			if pod == nil {
				r.report(RuleCompleteness, "", "", "%s lists a pod that is nil", place)
			} else {
				places[keyOf(pod)] = append(places[keyOf(pod)], place)
			}
		}
	}
	for _, n := range r.plan.Create {
		add(n.Pods, "new node "+n.Name)
		if len(n.Pods) == 0 {
			r.report(RuleCompleteness, n.Name, "", "the node is to be launched for no pod")
		}
	}
	for _, b := range r.plan.Bind {
		add(b.Pods, "node "+b.Node)
		if len(b.Pods) == 0 {
			r.report(RuleCompleteness, b.Node, "", "the binding lists no pod")
		}
	}
	for _, u := range r.plan.Unplaced {
		add([]*corev1.Pod{u.Pod}, "Unplaced")
		if p := r.known(u.Pod); p != nil && p.virtual {
			r.report(RuleCompleteness, "", p.key.String(), "it stands for a buffer, and Buffers counts it; Unplaced is for real pods")
		}
	}
	for _, key := range slices.SortedFunc(maps.Keys(places), objectKey.Compare) {
		found := places[key]
		known := r.pods[key]
		switch {
		case known == nil:
			r.report(RuleCompleteness, "", key.String(), "it was not asked for, but stands in %s", found[0])
		case len(found) > 1:
			r.report(RuleCompleteness, "", key.String(), "it stands in the plan %d times, in %s and %s among others; expected 1",
				len(found), found[0], found[1])
		}
	}
	for key, p := range r.pods {
		if len(places[key]) == 0 && !p.virtual {
			r.report(RuleCompleteness, "", key.String(), "it was asked for, but stands nowhere in the plan")
		}
	}
}

// checkScheduling reports placed pods that no scheduler in question would place.
func (r *referee) checkScheduling() {
	for _, l := range r.placements() {
		for _, p := range l.pods {
			if why := r.waits(p); why != "" {
				r.report(RuleScheduling, l.node, p.key.String(), "%s, so it must stay pending", why)
			}
		}
	}
}

// waits says why a pod stays pending whatever room there is, "" if it does not.
func (r *referee) waits(p *podInfo) string {
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

// placement is the pods that a plan puts on one node.
type placement struct {
	node string
	site *site // nil for a node that is not in the input, or that cannot be launched
	pods []*podInfo
}

// placements lists the pods that a plan binds to existing nodes, and then those of its new nodes.
func (r *referee) placements() (all []placement) {
	for _, b := range r.plan.Bind {
		all = append(all, placement{b.Node, r.nodesNamed[b.Node], r.knownPods(b.Pods)})
	}
	for i, n := range r.plan.Create {
		l := placement{node: n.Name, pods: r.knownPods(n.Pods)}
		if f := r.fresh[i]; f != nil {
			l.site = f.site
		}
		all = append(all, l)
	}
	return all
}
