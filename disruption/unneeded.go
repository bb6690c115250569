package disruption

import (
	"context"
	"slices"
	"time"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/disruption/internal/admission"
)

// Unneeded returns the names of the nodes that Propose would remove if budgets and consolidateAfter
// kept no node back: the targets of its Actions and of the actions that are Waiting, sorted. A pool whose budgets
// allow no disruption at all now, and one with consolidateAfter Never, keep their nodes here too. Nodes
// that are on their way out already are not in the result.
//
// SoftTaints takes the result, so that new pods, and pods that are created again after an eviction, go
// to the nodes that will stay. The error is that of ctx once ctx is done.
//
// It takes the time of Propose in a cluster whose nodes may all be removed: in the two days of
// examples/autoscaler three times as long as Propose. A controller may ask only when a proposal has
// actions, because then pods will be evicted, and keep the result until its commands are done.
func (f *Cluster) Unneeded(ctx context.Context) ([]string, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	p, _, err := f.unpaced(f.in).propose(ctx)
	if err != nil {
		return nil, err
	}
	names := nodeNames(p.Actions...)
	for _, w := range p.Waiting {
		names = append(names, nodeNames(w.Action)...)
	}
	names = slices.DeleteFunc(names, func(name string) bool { return name == "" }) // machines without a node
	slices.Sort(names)
	return slices.Compact(names), nil
}

// unpaced returns the cluster of an input without consolidateAfter and budgets, except where these let no
// node go at all.
func (f *Cluster) unpaced(in Input) *Cluster {
	free, _ := observe(f.Now(), in, f.opts) // f has reported the faults
	for _, p := range free.seen.Pools {
		if p.ConsolidateAfter.Duration != nil {
			p.ConsolidateAfter = v1.NillableDuration{Duration: new(time.Duration)}
		}
	}
	free.bounds = slices.DeleteFunc(free.bounds, func(b *admission.Bound) bool { return b.LetsGo(f.Now(), Underutilized) })
	return free
}
