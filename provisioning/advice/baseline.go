package advice

import (
	"context"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/dovetail-sdk/dovetail/provisioning"
)

// baseline is the input as it is, by one way of solving.
type baseline struct {
	options  *provisioning.Options
	problem  *provisioning.Problem
	plan     *provisioning.Plan
	unplaced map[string]bool
}

func (a *asker) baseline(ctx context.Context, quick bool) (*baseline, error) {
	var o provisioning.Options
	if a.opts.Provisioning != nil {
		o = *a.opts.Provisioning
	}
	o.Quick = o.Quick || quick
	b := &baseline{options: &o}
	var err error
	if b.problem, err = provisioning.Prepare(a.in, b.options); err != nil {
		return nil, err
	}
	if b.plan, err = a.solve(ctx, b.problem); err != nil {
		return nil, err
	}
	b.unplaced = unplaced(b.plan)
	return b, nil
}

// solve counts the work.
func (a *asker) solve(ctx context.Context, p *provisioning.Problem) (*provisioning.Plan, error) {
	plan, err := p.Solve(ctx)
	if err != nil {
		return nil, err
	}
	a.report.Steps += len(a.in.Pods) + plan.Stats.Steps
	return plan, nil
}

// spent tells whether so many tenths of the steps are used up.
func (a *asker) spent(tenths int) bool { return a.report.Steps >= a.opts.MaxSteps*tenths/10 }

// unplaced are the pods without a place.
func unplaced(plan *provisioning.Plan) map[string]bool {
	out := make(map[string]bool, len(plan.Unplaced))
	for _, u := range plan.Unplaced {
		out[podName(u.Pod)] = true
	}
	return out
}

func podName(p *corev1.Pod) string { return p.Namespace + "/" + p.Name }

// price asks what the bill is without some constraints; ok is false where a pod loses its
// place.
func (a *asker) price(ctx context.Context, b *baseline, list ...Constraint) (price Price, ok bool, err error) {
	problem, err := b.without(a.in, list)
	if err != nil {
		return Price{}, false, err
	}
	plan, err := a.solve(ctx, problem)
	if err != nil {
		return Price{}, false, err
	}
	still := unplaced(plan)
	for name := range still { // as a set: the order does not matter
		if !b.unplaced[name] {
			return Price{}, false, nil
		}
	}
	price = Price{Constraints: list, Cost: plan.Cost, Nodes: len(plan.Create), Saves: b.plan.Cost - plan.Cost,
		AtLeast: b.plan.LowerBound - plan.Cost, AtMost: b.plan.Cost - plan.LowerBound}
	for name := range b.unplaced { // sorted below
		if !still[name] {
			price.Placed = append(price.Placed, name)
		}
	}
	slices.Sort(price.Placed)
	return price, true, nil
}

// without is the problem without some constraints.
func (b *baseline) without(in provisioning.Input, list []Constraint) (*provisioning.Problem, error) {
	pools, pods := false, false
	for _, c := range list {
		in = c.Without(in)
		pools, pods = pools || c.pool != "", pods || c.pool == ""
	}
	switch {
	case pools && pods:
		return provisioning.Prepare(in, b.options)
	case pools:
		return b.problem.WithPools(in.NodePools, in.InstanceTypes)
	}
	return b.problem.WithNodes(in.Nodes, in.Pods)
}
