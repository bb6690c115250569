package disruption

import (
	"context"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/dovetail-sdk/dovetail/internal/order"
	"github.com/dovetail-sdk/dovetail/internal/podlife"
)

// What the tests look at beside what a program sees: single rules, and the parts of a
// proposal.

// RuleOf is what Blocked.Code says, precisely.
func RuleOf(b Blocked) string { return string(b.rule) }

// EvictionCost is what it costs to evict a pod.
func EvictionCost(pod *corev1.Pod, ignoreDeletionCost bool) float64 {
	if pod == nil {
		return 0
	}
	cost, _ := podlife.CostOfEviction(pod, ignoreDeletionCost)
	return cost.Float()
}

// The answers of some of the methods below.
type (
	Interruptions = interruptions
	Consolidation = Proposal
)

// Pacing is the result of admit.
type Pacing struct {
	Go   []Action
	Wait []Waiting
	Next time.Time
}

// Settling is a node that settles.
type Settling struct {
	Node  string
	Until time.Time
}

func (f *Cluster) Emptiness() Result  { return merge(f.emptiness()) }
func (f *Cluster) Drift() Result      { return merge(f.drift()) }
func (f *Cluster) Repair() Result     { return merge(f.repair()) }
func (f *Cluster) Liveness() Result   { return f.overdue() }
func (f *Cluster) Garbage() Result    { return f.garbage() }
func (f *Cluster) Expiration() Result { return f.expiration() }
func (f *Cluster) ScaleDown() Result  { return f.scaleDown() }
func (f *Cluster) Pace(actions []Action) Pacing {
	g := f.newGate()
	begin, wait := f.admit(g, actions)
	return Pacing{begin, wait, g.Next}
}
func (f *Cluster) Recheck(a Action) []Blocked { return f.recheck(a) }
func (f *Cluster) Settling() (out []Settling) {
	for _, m := range f.seen.Nodes {
		if until, settles := f.seen.Settles(m); settles {
			out = append(out, Settling{m.Name, until})
		}
	}
	return out
}
func (f *Cluster) Interruption() Interruptions {
	out := f.interruption()
	out.Result = merge(out.Result)
	return out
}
func (f *Cluster) Consolidate(ctx context.Context) (*Consolidation, error) {
	p := &proposer{Cluster: f, gate: f.newGate()}
	if err := p.decide(ctx, nil); err != nil {
		return nil, err
	}
	found, err := p.consolidate(ctx)
	if err == nil {
		slices.SortFunc(found.Blocked, Blocked.Compare)
	}
	return found, err
}

// Next returns the earliest instant after Now at which an answer of the cluster can
// differ by time alone: of Candidates, Settling, Drifts, Actions and Pace of the
// latter. Zero if time alone changes nothing. A change of the input may come
// before.
//
// One thing is not foreseen: LifetimeCost changes all the time, and with it the
// order of nodes that are equally urgent to repair, and which nodes static pools give up.
func (f *Cluster) Next() time.Time {
	r := f.Actions()
	next := order.Sooner(r.Next, f.Pace(r.Actions).Next)
	for _, method := range []Method{MethodRepair, MethodEmptiness, MethodDrift, MethodConsolidation} {
		_, blocked := f.Candidates(method)
		next = order.Sooner(next, soonest(blocked))
	}
	for _, s := range f.Settling() {
		next = order.Sooner(next, s.Until)
	}
	return next
}
