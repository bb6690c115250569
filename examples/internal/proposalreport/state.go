package proposalreport

import (
	"cmp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	awsv1 "github.com/dovetail-sdk/dovetail/aws/api/v1"
	"github.com/dovetail-sdk/dovetail/disruption"
	"github.com/dovetail-sdk/dovetail/examples/internal/inventory"
	"github.com/dovetail-sdk/dovetail/examples/internal/layout"
	"github.com/dovetail-sdk/dovetail/provisioning"
	"github.com/dovetail-sdk/dovetail/provisioning/resources"
)

const capacityTypeLabel = v1.CapacityTypeLabelKey

// noPool stands for the pool of nodes that have none.
const noPool = ""

// priceOf is what a node costs, if the catalog knows.
func priceOf(in disruption.Input, n *provisioning.Node) (price float64, known bool) {
	labels := inventory.Labels(n)
	for _, t := range in.InstanceTypes[labels[v1.NodePoolLabelKey]] {
		if t.Name != labels[corev1.LabelInstanceTypeStable] {
			continue
		}
		for i := range t.Offerings {
			o := &t.Offerings[i]
			if o.Zone == labels[corev1.LabelTopologyZone] && o.CapacityType == labels[capacityTypeLabel] &&
				(o.ReservationID == "" || o.ReservationID == labels[awsv1.LabelCapacityReservationID]) {
				return o.Price, true
			}
		}
	}
	return 0, false
}

// unmanaged is how many nodes have no NodeClaim and no price.
func unmanaged(in disruption.Input) (count int) {
	for i := range in.Nodes {
		n := &in.Nodes[i]
		if _, known := priceOf(in, n); n.NodeClaim == nil && !known {
			count++
		}
	}
	return count
}

// tally sums up nodes.
type tally struct {
	pool               string
	nodes              int
	cost               float64
	cpu, memory        float64
	cpuAsked, memAsked float64
}

// add counts a node.
func (t *tally) add(price float64, have, asked resources.List) {
	t.nodes++
	t.cost += price
	t.cpu += float64(have.Get(corev1.ResourceCPU))
	t.memory += float64(have.Get(corev1.ResourceMemory))
	t.cpuAsked += float64(asked.Get(corev1.ResourceCPU))
	t.memAsked += float64(asked.Get(corev1.ResourceMemory))
}

func (t *tally) state() poolState {
	return poolState{NodePool: t.pool, Nodes: t.nodes, USDPerHour: layout.Rounded(t.cost), CPU: share(t.cpuAsked, t.cpu), Memory: share(t.memAsked, t.memory)}
}

func share(part, whole float64) float64 {
	if whole <= 0 {
		return 0
	}
	return layout.Rounded(part / whole)
}

// stateOf sums a cluster up, by pool and in all. Pools without nodes are in it.
func stateOf(in disruption.Input) state {
	pools := map[string]*tally{}
	for _, p := range in.NodePools {
		pools[p.Name] = &tally{pool: p.Name}
	}
	var total tally
	for i := range in.Nodes {
		n := &in.Nodes[i]
		name := inventory.Labels(n)[v1.NodePoolLabelKey]
		if pools[name] == nil {
			pools[name] = &tally{pool: name}
		}
		price, _ := priceOf(in, n)
		have, asked := inventory.Allocatable(n), requestsOf(n)
		pools[name].add(price, have, asked)
		total.add(price, have, asked)
	}
	out := state{Total: total.state(), Pools: []poolState{}, Pending: len(in.Pods)}
	for _, t := range pools { // sorted below
		out.Pools = append(out.Pools, t.state())
	}
	slices.SortFunc(out.Pools, func(a, b poolState) int {
		return cmp.Or(cmp.Compare(orLast(a.NodePool), orLast(b.NodePool)), strings.Compare(a.NodePool, b.NodePool))
	})
	return out
}

// orLast puts nodes without pool last.
func orLast(pool string) int {
	if pool == noPool {
		return 1
	}
	return 0
}

// requestsOf is what the pods of a node ask for, without those of DaemonSets.
func requestsOf(n *provisioning.Node) resources.List {
	var sum resources.List
	for _, pod := range n.Pods {
		if pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed {
			continue
		}
		if ref := metav1.GetControllerOf(pod); ref != nil && ref.Kind == "DaemonSet" {
			continue
		}
		asked, err := resources.PodRequests(pod)
		if err != nil {
			continue
		}
		if more, err := sum.Add(asked); err == nil {
			sum = more
		}
	}
	return sum
}
