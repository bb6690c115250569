package verify

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/provisioning"
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

// checkOrder holds every list of the plan against the order that its comment
// promises. Two plans for the same input could differ without it.
func (r *referee) checkOrder() {
	r.checkCreateOrder()
	for i := range r.plan.Create {
		n := &r.plan.Create[i]
		r.checkPodOrder(n.Name, n.Pods)
		r.checkOptionOrder(n)
	}
	for i, b := range r.plan.Bind {
		if i > 0 {
			switch before := r.plan.Bind[i-1].Node; {
			case before == b.Node:
				r.report(RuleOrder, b.Node, "", "the node has two bindings")
			case before > b.Node:
				r.report(RuleOrder, b.Node, "", "its binding comes after that of node %s; bindings are sorted by node name", before)
			}
		}
		r.checkPodOrder(b.Node, b.Pods)
	}
	var unplaced []*corev1.Pod
	for _, u := range r.plan.Unplaced {
		unplaced = append(unplaced, u.Pod)
	}
	r.checkPodOrder("", unplaced)
}

func (r *referee) checkPodOrder(node string, pods []*corev1.Pod) {
	for i := 1; i < len(pods); i++ {
		before, after := pods[i-1], pods[i]
		if before == nil || after == nil {
			continue
		}
		if keyOf(before).Compare(keyOf(after)) > 0 {
			r.report(RuleOrder, node, keyOf(after).String(), "it comes after %s; pods are sorted by namespace and name", keyOf(before))
		}
	}
}

// checkCreateOrder wants pools of more weight first, the nodes of a pool side
// by side, the dearest of them first, and ties broken by the first pod.
func (r *referee) checkCreateOrder() {
	seen := map[string]bool{}
	names := map[string]bool{}
	for i := range r.plan.Create {
		n := &r.plan.Create[i]
		switch {
		case n.Name == "":
			r.report(RuleOrder, "", "", "the new node at index %d has no name", i)
		case names[n.Name]:
			r.report(RuleOrder, n.Name, "", "two new nodes have this name")
		}
		names[n.Name] = true
		if n.Pool == nil {
			continue
		}
		if i > 0 && r.plan.Create[i-1].Pool != nil {
			r.compareNewNodes(&r.plan.Create[i-1], n, seen[n.Pool.Name])
		}
		seen[n.Pool.Name] = true
	}
}

func (r *referee) compareNewNodes(before, after *provisioning.NewNode, seen bool) {
	if before.Pool.Name != after.Pool.Name {
		if seen {
			r.report(RuleOrder, after.Name, "", "the nodes of NodePool %s do not stand side by side", after.Pool.Name)
		}
		if c := r.comparePools(before.Pool, after.Pool); c > 0 {
			r.report(RuleOrder, after.Name, "", "NodePool %s is tried before %s, but its nodes come after",
				after.Pool.Name, before.Pool.Name)
		}
		return
	}
	priceBefore, ok := r.cheapestPrice(before)
	priceAfter, alsoOK := r.cheapestPrice(after)
	if !ok || !alsoOK {
		return
	}
	if priceBefore < priceAfter {
		r.report(RuleOrder, after.Name, "", "it costs %s, more than %s before it at %s; the dearest nodes of a NodePool come first",
			r.priceText(priceAfter), before.Name, r.priceText(priceBefore))
	}
	if priceBefore != priceAfter || len(before.Pods) == 0 || len(after.Pods) == 0 ||
		before.Pods[0] == nil || after.Pods[0] == nil {
		return
	}
	if keyOf(before.Pods[0]).Compare(keyOf(after.Pods[0])) > 0 {
		r.report(RuleOrder, after.Name, "", "it costs as much as %s before it, whose first pod comes later", before.Name)
	}
}

// comparePools orders pools as they are tried: by weight, the heaviest first,
// then by name.
func (r *referee) comparePools(a, b *v1.NodePool) int {
	return cmp.Or(cmp.Compare(r.poolWeight(b), r.poolWeight(a)), cmp.Compare(a.Name, b.Name))
}

func (*referee) poolWeight(pool *v1.NodePool) int32 {
	if pool.Spec.Weight == nil {
		return 0
	}
	return *pool.Spec.Weight
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
