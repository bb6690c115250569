package listing

import (
	"cmp"
	"fmt"
	"strconv"

	corev1 "k8s.io/api/core/v1"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/provisioning"
	"github.com/dovetail-sdk/dovetail/provisioning/verify/internal/storage"
)

// Fault is something that stands in the wrong place. Node and Pod may be "".
type Fault struct{ Node, Pod, Message string }

// checker goes over one plan.
type checker struct {
	plan          *provisioning.Plan
	cheapestPrice func(*provisioning.NewNode) (float64, bool)
	faults        []Fault
}

func (r *checker) report(node, pod, format string, args ...any) {
	r.faults = append(r.faults, Fault{node, pod, fmt.Sprintf(format, args...)})
}

func keyOf(pod *corev1.Pod) storage.Key { return storage.Key{Namespace: pod.Namespace, Name: pod.Name} }

func priceText(price float64) string { return strconv.FormatFloat(price, 'g', 10, 64) + " USD/h" }

// Check holds the lists of a plan, but those of options, against the order that their comments
// promise. price is that of the cheapest option of a new node.
func Check(plan *provisioning.Plan, price func(*provisioning.NewNode) (float64, bool)) []Fault {
	r := &checker{plan: plan, cheapestPrice: price}
	r.checkCreateOrder()
	for i := range r.plan.Create {
		n := &r.plan.Create[i]
		r.checkPodOrder(n.Name, n.Pods)
	}
	for i, b := range r.plan.Bind {
		if i > 0 {
			switch before := r.plan.Bind[i-1].Node; {
			case before == b.Node:
				r.report(b.Node, "", "the node has two bindings")
			case before > b.Node:
				r.report(b.Node, "", "its binding comes after that of node %s; bindings are sorted by node name", before)
			}
		}
		r.checkPodOrder(b.Node, b.Pods)
	}
	var unplaced []*corev1.Pod
	for _, u := range r.plan.Unplaced {
		unplaced = append(unplaced, u.Pod)
	}
	r.checkPodOrder("", unplaced)
	return r.faults
}

func (r *checker) checkPodOrder(node string, pods []*corev1.Pod) {
	for i := 1; i < len(pods); i++ {
		before, after := pods[i-1], pods[i]
		if before == nil || after == nil {
			continue
		}
		if keyOf(before).Compare(keyOf(after)) > 0 {
			r.report(node, keyOf(after).String(), "it comes after %s; pods are sorted by namespace and name", keyOf(before))
		}
	}
}

// checkCreateOrder wants pools of more weight first, the nodes of a pool side
// by side, the dearest of them first, and ties broken by the first pod.
func (r *checker) checkCreateOrder() {
	seen := map[string]bool{}
	names := map[string]bool{}
	for i := range r.plan.Create {
		n := &r.plan.Create[i]
		switch {
		case n.Name == "":
			r.report("", "", "the new node at index %d has no name", i)
		case names[n.Name]:
			r.report(n.Name, "", "two new nodes have this name")
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

func (r *checker) compareNewNodes(before, after *provisioning.NewNode, seen bool) {
	if before.Pool.Name != after.Pool.Name {
		if seen {
			r.report(after.Name, "", "the nodes of NodePool %s do not stand side by side", after.Pool.Name)
		}
		if c := r.comparePools(before.Pool, after.Pool); c > 0 {
			r.report(after.Name, "", "NodePool %s is tried before %s, but its nodes come after",
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
		r.report(after.Name, "", "it costs %s, more than %s before it at %s; the dearest nodes of a NodePool come first",
			priceText(priceAfter), before.Name, priceText(priceBefore))
	}
	if priceBefore != priceAfter || len(before.Pods) == 0 || len(after.Pods) == 0 ||
		before.Pods[0] == nil || after.Pods[0] == nil {
		return
	}
	if keyOf(before.Pods[0]).Compare(keyOf(after.Pods[0])) > 0 {
		r.report(after.Name, "", "it costs as much as %s before it, whose first pod comes later", before.Name)
	}
}

// comparePools orders pools as they are tried: by weight, the heaviest first,
// then by name.
func (r *checker) comparePools(a, b *v1.NodePool) int {
	return cmp.Or(cmp.Compare(r.poolWeight(b), r.poolWeight(a)), cmp.Compare(a.Name, b.Name))
}

func (*checker) poolWeight(pool *v1.NodePool) int32 {
	if pool.Spec.Weight == nil {
		return 0
	}
	return *pool.Spec.Weight
}

// SpotTypes counts the instance types that options name for spot capacity, and says whether some
// option is for another capacity type.
func SpotTypes(options []cloudprovider.LaunchOption) (types int, steady bool) {
	seen := map[string]bool{}
	for _, o := range options {
		switch {
		case o.Offering == nil:
		case o.Offering.CapacityType != v1.CapacityTypeSpot:
			steady = true
		case o.InstanceType != nil:
			seen[o.InstanceType.Name] = true
		}
	}
	return len(seen), steady
}
