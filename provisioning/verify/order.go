package verify

import (
	"cmp"
	"fmt"
	"math"

	corev1 "k8s.io/api/core/v1"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/provisioning"
)

// checkOrder checks that every list of the plan has the order that its comment states. Otherwise
// two plans for the same input could differ.
func (r *referee) checkOrder() {
	pools, names := map[string]bool{}, map[string]bool{}
	for i := range r.plan.Create {
		n := &r.plan.Create[i]
		switch {
		case n.Name == "":
			r.report(RuleOrder, "", "", "the new node at index %d has no name", i)
		case names[n.Name]:
			r.report(RuleOrder, n.Name, "", "two new nodes have this name")
		}
		names[n.Name] = true
		r.checkPodOrder(n.Name, n.Pods)
		r.checkOptionOrder(n)
		if n.Pool == nil {
			continue
		}
		if i > 0 && r.plan.Create[i-1].Pool != nil {
			r.checkNodeOrder(&r.plan.Create[i-1], n, pools[n.Pool.Name])
		}
		pools[n.Pool.Name] = true
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
		if before != nil && after != nil && keyOf(before).Compare(keyOf(after)) > 0 {
			r.report(RuleOrder, node, keyOf(after).String(), "it comes after %s; pods are sorted by namespace and name", keyOf(before))
		}
	}
}

// checkNodeOrder checks that pools of higher weight come first, the nodes of a pool are next to
// each other, the most expensive of them first, and ties are decided by the first pod. seen says
// that the pool of after has occurred before.
func (r *referee) checkNodeOrder(before, after *provisioning.NewNode, seen bool) {
	if before.Pool.Name != after.Pool.Name {
		if seen {
			r.report(RuleOrder, after.Name, "", "the nodes of NodePool %s do not stand side by side", after.Pool.Name)
		}
		weight := func(pool *v1.NodePool) int32 {
			if pool.Spec.Weight == nil {
				return 0
			}
			return *pool.Spec.Weight
		}
		if cmp.Or(cmp.Compare(weight(after.Pool), weight(before.Pool)), cmp.Compare(before.Pool.Name, after.Pool.Name)) > 0 {
			r.report(RuleOrder, after.Name, "", "NodePool %s is tried before %s, but its nodes come after", after.Pool.Name, before.Pool.Name)
		}
		return
	}
	first, second := r.list(before.Options), r.list(after.Options)
	if !first.priced || !second.priced {
		return
	}
	if first.price < second.price {
		r.report(RuleOrder, after.Name, "", "it costs %s, more than %s before it at %s; the dearest nodes of a NodePool come first",
			priceText(second.price), before.Name, priceText(first.price))
	}
	if first.price == second.price && len(before.Pods) > 0 && len(after.Pods) > 0 && before.Pods[0] != nil && after.Pods[0] != nil &&
		keyOf(before.Pods[0]).Compare(keyOf(after.Pods[0])) > 0 {
		r.report(RuleOrder, after.Name, "", "it costs as much as %s before it, whose first pod comes later", before.Name)
	}
}

// checkOptionOrder reports the first option in the wrong position, and how many there are.
func (r *referee) checkOptionOrder(n *provisioning.NewNode) {
	l := r.list(n.Options)
	if l.misplaced == 0 {
		return
	}
	before, after := n.Options[l.first-1], n.Options[l.first]
	message := fmt.Sprintf("option %s is listed twice", after.Key())
	if compareOptions(before, after) > 0 {
		message = fmt.Sprintf("option %s comes after %s; options are sorted by price, instance type, zone, capacity type and reservation",
			after.Key(), before.Key())
	}
	if l.misplaced > 1 {
		message += fmt.Sprintf(" (%d of its options are out of place in all)", l.misplaced)
	}
	r.report(RuleOrder, n.Name, "", "%s", message)
}

// optionList has the values that depend only on a list of options.
type optionList struct {
	price            float64 // of the cheapest option, at any position
	priced           bool    // there is an option with a price
	misplaced, first int     // how many options must not follow the one before, and the index of the first
}

// list returns the optionList of a list, computed once.
func (r *referee) list(options []cloudprovider.LaunchOption) optionList {
	id := idOf(options)
	if known, ok := r.lists[id]; ok {
		return known
	}
	l := optionList{price: math.Inf(1)}
	for i, option := range options {
		if option.Offering == nil {
			continue
		}
		l.price, l.priced = math.Min(l.price, option.Offering.Price), true
		if i == 0 || option.InstanceType == nil || options[i-1].InstanceType == nil || options[i-1].Offering == nil {
			continue
		}
		before := options[i-1]
		if c := compareOptions(before, option); c > 0 || c == 0 && before.Offering.ID == option.Offering.ID {
			if l.misplaced++; l.misplaced == 1 {
				l.first = i
			}
		}
	}
	r.lists[id] = l
	return l
}

func compareOptions(a, b cloudprovider.LaunchOption) int {
	return cmp.Or(
		cmp.Compare(a.Offering.Price, b.Offering.Price),
		cmp.Compare(a.InstanceType.Name, b.InstanceType.Name),
		cmp.Compare(a.Offering.Zone, b.Offering.Zone),
		cmp.Compare(a.Offering.CapacityType, b.Offering.CapacityType),
		cmp.Compare(a.Offering.ReservationID, b.Offering.ReservationID),
	)
}
