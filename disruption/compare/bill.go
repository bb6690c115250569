package compare

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/disruption"
	"github.com/dovetail-sdk/dovetail/provisioning"
	"github.com/dovetail-sdk/dovetail/provisioning/progress"
)

// Bill is the cost of the managed nodes of a cluster.
type Bill struct {
	// Nodes is the number of these nodes.
	Nodes int
	// Cost is in USD per hour. Nodes with an unknown price count as 0; UnknownPrices is their
	// number.
	Cost          float64
	UnknownPrices int
	// Machines are the nodes by pool, instance type and capacity type, sorted by these.
	Machines []Machines
}

// Machines is a line of a Bill: nodes of one pool, instance type and capacity type.
type Machines struct {
	NodePool, InstanceType, CapacityType string
	// Cost is in USD per hour.
	Cost float64
	// Nodes are their names, sorted.
	Nodes []string
}

func (m Machines) key() [3]string { return [3]string{m.NodePool, m.InstanceType, m.CapacityType} }

func compareMachines(a, b Machines) int {
	x, y := a.key(), b.key()
	return slices.Compare(x[:], y[:])
}

// add adds a node to its line.
func (b *Bill) add(pool, instanceType, capacityType, node string, price float64, known bool) {
	b.Nodes++
	if !known {
		b.UnknownPrices++
	}
	line := Machines{NodePool: pool, InstanceType: instanceType, CapacityType: capacityType}
	at, found := slices.BinarySearchFunc(b.Machines, line, compareMachines)
	if !found {
		b.Machines = slices.Insert(b.Machines, at, line)
	}
	b.Machines[at].Cost += price
	b.Machines[at].Nodes = append(b.Machines[at].Nodes, node)
}

// addNode adds a present managed node, and returns its price, or 0 if it is unknown.
func (b *Bill) addNode(f *disruption.Cluster, n provisioning.Node) float64 {
	price, known := f.Price(n.Name())
	labels := labelsOf(n)
	b.add(poolOf(n), labels[corev1.LabelInstanceTypeStable], labels[v1.CapacityTypeLabelKey], n.Name(), price, known)
	return price
}

// summed returns the bill with its cost. It sums up in a fixed order, so that rounding does not depend
// on the order of the nodes.
func (b Bill) summed() Bill {
	for _, m := range b.Machines {
		slices.Sort(m.Nodes)
		b.Cost += m.Cost
	}
	return b
}

// billOf returns the bill of the managed nodes of an input that are not being removed.
func billOf(f *disruption.Cluster, in disruption.Input) Bill {
	var b Bill
	leaving := disruption.Leaving(in.Nodes)
	for _, n := range sortedNodes(in.Nodes) {
		if _, gone := slices.BinarySearch(leaving, n.Name()); n.NodeClaim != nil && !gone {
			b.addNode(f, n)
		}
	}
	return b.summed()
}

// sortedNodes returns nodes by name.
func sortedNodes(nodes []provisioning.Node) []provisioning.Node {
	out := slices.Clone(nodes)
	slices.SortStableFunc(out, func(a, b provisioning.Node) int { return cmp.Compare(a.Name(), b.Name()) })
	return out
}

// Fresh is a plan for all pods of a cluster together, with no present nodes except unmanaged ones
// and those of static pools.
type Fresh struct {
	// Bill is the bill of the new nodes, of the nodes that stay, and of the missing nodes of static
	// pools.
	Bill
	// LowerBound is a proven floor under Cost; see provisioning.Plan.LowerBound. It is 0
	// with provisioning.Options.NoBounds.
	LowerBound float64
	// Input is the input of the plan, and Plan the result.
	Input disruption.Input
	Plan  *provisioning.Plan
}

// FromEmpty returns the fresh plan and bill of a side. The error is that of provisioning.Solve.
func FromEmpty(ctx context.Context, now time.Time, s Side) (*Fresh, error) {
	f, _ := disruption.Observe(now, s.Input, s.Options) // provisioning lists the faults
	in, err := Emptied(now, s)
	if err != nil {
		return nil, err
	}
	var opts *provisioning.Options
	if s.Options != nil {
		opts = s.Options.Provisioning
	}
	progress.Report(ctx, progress.Event{Work: "compare.FromEmpty", Stage: "planning from empty"})
	plan, err := provisioning.Solve(progress.With(ctx, nil), in.Input, opts)
	if err != nil {
		return nil, err
	}
	return newFresh(f, in, plan), nil
}

// newFresh computes the bill of a plan.
func newFresh(f *disruption.Cluster, in disruption.Input, plan *provisioning.Plan) *Fresh {
	out := &Fresh{Input: in, Plan: plan}
	var kept float64
	for _, n := range sortedNodes(in.Nodes) {
		if n.NodeClaim != nil {
			kept += out.addNode(f, n)
		}
	}
	add := func(pool, name string, o cloudprovider.LaunchOption) {
		out.add(pool, o.InstanceType.Name, o.Offering.CapacityType, name, o.Offering.Price, true)
	}
	for i := range plan.Create {
		add(plan.Create[i].Pool.Name, plan.Create[i].Name, plan.Create[i].Options[0])
	}
	for _, static := range plan.Static {
		for range static.Missing {
			if len(static.Options) > 0 {
				add(static.Pool.Name, static.Pool.Name+"-replica", static.Options[0])
				kept += static.Options[0].Offering.Price
			}
		}
	}
	out.Bill = out.summed()
	if plan.LowerBound > 0 {
		out.LowerBound = plan.LowerBound + kept
	}
	return out
}

// Emptied returns the input of a side without its managed nodes, except those of static pools:
// their pods are pending, and their reservations are free again. FromEmpty plans for it. The error
// is that of disruption.After.
func Emptied(now time.Time, s Side) (disruption.Input, error) {
	static := map[string]bool{}
	for _, p := range s.Input.NodePools {
		if p != nil && p.Spec.Replicas != nil {
			static[p.Name] = true
		}
	}
	in, err := remove(now, s.Input, s.Options, func(n provisioning.Node) bool { return !static[poolOf(n)] })
	in.Nominated = nil
	return in, err
}

// remove returns an input without some of its managed nodes, whose pods are pending.
func remove(now time.Time, in disruption.Input, opts *disruption.Options, which func(provisioning.Node) bool) (disruption.Input, error) {
	var targets []disruption.Target
	for _, n := range in.Nodes {
		if n.NodeClaim != nil && which(n) {
			targets = append(targets, disruption.Target{Node: n.Name(), NodeClaim: n.NodeClaim.Name, NodePool: poolOf(n), ProviderID: n.NodeClaim.Status.ProviderID})
		}
	}
	if len(targets) == 0 {
		return in, nil
	}
	return disruption.After(now, in, []disruption.Action{{Operation: disruption.Terminate, Targets: targets}}, opts)
}

// byPool returns the cost of a bill by pool and capacity type, such as "general spot".
func (b Bill) byPool() map[string]float64 {
	out := map[string]float64{}
	for _, m := range b.Machines {
		out[m.NodePool+" "+m.CapacityType] += m.Cost
	}
	return out
}

// names returns the keys of two maps, sorted.
func names[V any](a, b map[string]V) []string {
	all := maps.Clone(a)
	maps.Copy(all, b)
	return slices.Sorted(maps.Keys(all))
}
