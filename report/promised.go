package report

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/internal/layout"
	"github.com/dovetail-sdk/dovetail/provisioning"
	"github.com/dovetail-sdk/dovetail/provisioning/resources"
)

// LessThanPromised finds new nodes of a plan that need more of a resource than any existing Node of
// the same NodePool and instance type has, although the catalog promises it. It returns one line
// for each NodePool and instance type, in the order of the plan. Such a node would not hold its
// pods, and another node would be launched for them.
func LessThanPromised(in provisioning.Input, plan *provisioning.Plan) []string {
	type launch struct{ pool, instanceType string }
	count, lacking := map[launch]int{}, map[launch]string{}
	var order []launch
	for i := range plan.Create {
		n := &plan.Create[i]
		l := launch{n.Pool.Name, n.Options[0].InstanceType.Name}
		names, have := largest(in.Nodes, l.pool, l.instanceType)
		needs, err := n.Requests.Add(n.Daemons)
		promised, err2 := n.Options[0].InstanceType.AllocatableFor(n.Options[0].Offering)
		if len(names) == 0 || err != nil || err2 != nil {
			continue
		}
		var parts []string
		for _, name := range []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory, corev1.ResourceEphemeralStorage, corev1.ResourcePods} {
			if has, ok := have.Lookup(name); ok && needs.Get(name) > has {
				parts = append(parts, fmt.Sprintf("%s of %s is %s, and the catalog promises %s", name,
					strings.Join(names, ", "), resources.Format(name, has), resources.Format(name, promised.Get(name))))
			}
		}
		if len(parts) == 0 {
			continue
		}
		if count[l]++; count[l] == 1 {
			order = append(order, l)
			lacking[l] = strings.Join(parts, "; ")
		}
	}
	out := make([]string, len(order))
	for i, l := range order {
		out[i] = fmt.Sprintf("NodePool %s: instance type %s has less than promised: %s. The pods of %s would not fit; exclude the type in the requirements of the NodePool, or correct the catalog",
			l.pool, l.instanceType, lacking[l], layout.Count(count[l], "new node"))
	}
	return out
}

// largest returns the names of up to three Nodes of a NodePool and an instance type, and, by
// resource, the largest allocatable amount of any of them. Nodes without allocatable resources are
// left out.
func largest(nodes []provisioning.Node, pool, instanceType string) (names []string, have resources.List) {
	const most = 3
	for i := range nodes {
		n := &nodes[i]
		room := allocatableOf(n)
		if n.Node == nil || room.Len() == 0 || n.Node.Labels[v1.NodePoolLabelKey] != pool || n.Node.Labels[corev1.LabelInstanceTypeStable] != instanceType {
			continue
		}
		names, have = append(names, n.Node.Name), have.Max(room)
	}
	if more := len(names) - most; more > 0 {
		names = append(slices.Clip(names[:most]), fmt.Sprintf("and %d more", more))
	}
	return names, have
}
