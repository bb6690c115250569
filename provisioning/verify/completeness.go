package verify

import (
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/dovetail-sdk/dovetail/provisioning"
	"github.com/dovetail-sdk/dovetail/provisioning/verify/internal/listing"
)

// checkCompleteness counts where each pod stands. A plan that loses a pod
// leaves it pending without a word, and one that places a pod twice launches a
// node for nothing.
func (r *referee) checkCompleteness() {
	places := map[objectKey][]string{}
	seat := func(pod *corev1.Pod, place string) {
		if pod == nil {
			r.report(RuleCompleteness, "", "", "%s lists a pod that is nil", place)
			return
		}
		places[keyOf(pod)] = append(places[keyOf(pod)], place)
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

// checkOrder holds every list of the plan against the order that its comment
// promises. Two plans for the same input could differ without it.
func (r *referee) checkOrder() {
	for _, fault := range listing.Check(r.plan, r.cheapestPrice) {
		r.report(RuleOrder, fault.Node, fault.Pod, "%s", fault.Message)
	}
	for i := range r.plan.Create {
		r.checkOptionOrder(&r.plan.Create[i])
	}
}

// checkOptionOrder reports the first option that stands in the wrong place, and
// how many do.
func (r *referee) checkOptionOrder(n *provisioning.NewNode) {
	l := r.list(n.Options)
	if l.misplaced == 0 {
		return
	}
	before, after := n.Options[l.first-1], n.Options[l.first]
	message := fmt.Sprintf("option %s is listed twice", after.Key())
	if r.compareOptions(before, after) > 0 {
		message = fmt.Sprintf("option %s comes after %s; options are sorted by price, instance type, zone, capacity type and reservation",
			after.Key(), before.Key())
	}
	if l.misplaced > 1 {
		message += fmt.Sprintf(" (%d of its options are out of place in all)", l.misplaced)
	}
	r.report(RuleOrder, n.Name, "", "%s", message)
}
