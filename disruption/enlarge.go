package disruption

import (
	"cmp"
	"context"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/dovetail-sdk/dovetail/disruption/internal/admission"
	"github.com/dovetail-sdk/dovetail/disruption/internal/simulation"
	"github.com/dovetail-sdk/dovetail/disruption/internal/state"
	"github.com/dovetail-sdk/dovetail/internal/parallel"
	"github.com/dovetail-sdk/dovetail/provisioning"
)

// Enlarge returns a plan for the same pods as plan, with larger new nodes where that pays: they have
// room for the pods of existing nodes too, and these nodes are then not worth keeping. It also
// returns the names of these existing nodes, in the order in which they were found. Nothing happens to
// them now: a later proposal removes them, once the new nodes are ready. If nothing pays, the result
// is plan itself, and no names.
//
// Where pods arrive a few at a time, the cheapest node for each few is small. To replace two small
// nodes by a larger one afterwards evicts the pods of both, and launches once more.
//
// plan is a plan of problem, which must have the nodes of the cluster, as from the same Input. A node
// is not worth keeping if its price exceeds what the new nodes cost more by at least what a proposal
// would have to save to remove it: see ConsolidationOptions.MinimumScore. A score below 0.5
// counts as 0.5 here: a low one says that evictions are cheap, and not that room may be unused.
// These nodes are left out:
//
//   - nodes that Propose could not remove even if budgets and consolidateAfter kept no node back (see
//     Unneeded), and if all pods that PodDisruptionBudgets select were healthy;
//   - nodes that plan.Bind lists;
//   - nodes that new pods avoid already: see SoftTaints;
//   - nodes whose pods have room without larger new nodes, which proposals remove anyway.
//
// Each new node has at least one pod of plan. No pod of plan loses its place, the places hold while the
// existing nodes still have their pods, and the pools keep to their limits with the existing nodes counted.
// With ConsolidationOptions.NoReplacements, and if plan launches nothing, the result is plan.
//
// Pods, Bind, Order, GivenUp and Stats of the new plan are of the pods of plan alone. Cost and LowerBound, and the
// Options, Requirements and Requests of new nodes, are those with the pods of existing nodes, so that
// the NodeClaims ask for that much.
//
// It takes the time of up to 68 plans for the pods of plan and of a few nodes, mostly of fewer than 20:
// only nodes that were worth it at first are asked about again. With more than 250 nodes and pods
// together fewer nodes are asked about, and with more than 4,000 none. The error is that of ctx, or of
// Problem.Without if problem lacks a node.
func (f *Cluster) Enlarge(ctx context.Context, problem *provisioning.Problem, plan *provisioning.Plan) (*provisioning.Plan, []string, error) {
	if err := ctx.Err(); err != nil {
		return nil, nil, err
	}
	if len(plan.Create) == 0 || f.opts.Consolidation.NoReplacements {
		return plan, nil, nil
	}
	config := f.simulationConfig()
	e := &enlarger{cluster: f, problem: problem, list: podsOf(plan), pods: map[types.NamespacedName]bool{}, best: plan, width: config.Width()}
	for _, p := range e.list {
		e.pods[state.NameOf(p)] = true
	}
	e.choose(plan)
	for range mostEnlargements {
		found, err := e.another(ctx)
		if err != nil {
			return nil, nil, err
		}
		if !found {
			break
		}
	}
	if len(e.names) == 0 {
		return plan, nil, nil
	}
	return e.withoutMoves(), e.names, nil
}

// Bounds of Enlarge. mostEnlargements is the number of nodes that it finds at most, and mostEnlarged the
// number of nodes that it asks about at most. Each question is a plan for all pods, so the number of
// nodes asked about, times the nodes and pods, is at most enlargedLooks.
const (
	mostEnlargements = 4
	mostEnlarged     = 16
	enlargedLooks    = 4000
)

// enlargeMinimumScore is the least MinimumScore that Enlarge asks.
const enlargeMinimumScore = 0.5

// enlarger is the state of one Enlarge.
type enlarger struct {
	cluster    *Cluster
	problem    *provisioning.Problem
	list       []*corev1.Pod                 // of the plan
	pods       map[types.NamespacedName]bool // their names
	candidates []enlargement                 // the most promising first
	best       *provisioning.Plan            // so far
	now        *provisioning.Plan            // what stands returned for best
	names      []string                      // of the nodes that best makes unneeded
	width      int                           // how many plans are made at a time
}

// enlargement is an existing node whose pods may go to larger new nodes.
type enlargement struct {
	name            string
	price, required float64 // USD per hour
}

// podsOf returns the pods of a plan.
func podsOf(plan *provisioning.Plan) []*corev1.Pod {
	out := slices.Clone(plan.Order)
	for _, u := range plan.Unplaced {
		out = append(out, u.Pod)
	}
	return out
}

// choose lists the candidates: those whose removal saves most for each unit of disruption.
func (e *enlarger) choose(plan *provisioning.Plan) {
	taken := map[string]bool{}
	for _, b := range plan.Bind {
		taken[b.Node] = true
	}
	free := e.cluster.unpaced(withHealthyPods(e.cluster.in))
	nodes, _ := free.consolidationCandidates(nil)
	free.opts.Consolidation.MinimumScore = max(enlargeMinimumScore, free.opts.Consolidation.MinimumScore)
	quota := admission.NewQuota(free.newGate(), Underutilized) // of budgets that let no node go at all
	rules, score := free.priceRules(), map[string]float64{}
	for _, m := range nodes {
		c := enlargement{name: m.Name, required: rules.Required([]*state.StateNode{m})}
		c.price, _ = m.Price()
		if taken[m.Name] || c.price <= c.required || slices.ContainsFunc(m.Node.Node.Spec.Taints, isSoftTaint) {
			continue
		}
		if no := quota.Refusal([]*state.StateNode{m}); no.Bad() {
			continue
		}
		score[m.Name] = c.price / state.DisruptionCost(m)
		e.candidates = append(e.candidates, c)
	}
	slices.SortFunc(e.candidates, func(a, b enlargement) int {
		return cmp.Or(cmp.Compare(score[b.name], score[a.name]), strings.Compare(a.name, b.name))
	})
	most := min(mostEnlarged, enlargedLooks/(len(e.cluster.seen.Nodes)+len(e.pods)))
	e.candidates = e.candidates[:min(len(e.candidates), most)]
}

// withHealthyPods returns an input whose PodDisruptionBudgets allow what they will once all their pods
// are healthy. Pending pods are not, and they are what Enlarge plans for.
func withHealthyPods(in Input) Input {
	in.PodDisruptionBudgets = slices.Clone(in.PodDisruptionBudgets)
	for i, b := range in.PodDisruptionBudgets {
		if b != nil {
			healthy := *b
			healthy.Status.DisruptionsAllowed = max(b.Status.DisruptionsAllowed, b.Status.ExpectedPods-b.Status.DesiredHealthy)
			in.PodDisruptionBudgets[i] = &healthy
		}
	}
	return in
}

// another finds the node that is most worth removing in addition to names. Nodes that are not worth
// it now are not asked about again.
func (e *enlarger) another(ctx context.Context) (found bool, err error) {
	type answer struct {
		enlargement
		plan *provisioning.Plan
		gain float64
	}
	plans, errs := make([]*provisioning.Plan, len(e.candidates)), make([]error, len(e.candidates))
	parallel.Each(e.width, len(plans), func(i int) {
		plans[i], errs[i] = solved(ctx)(e.problem.Without(append(slices.Clone(e.names), e.candidates[i].name)...))
	})
	var worth []answer
	for i, c := range e.candidates {
		if errs[i] != nil {
			return false, errs[i]
		}
		gain := e.best.Cost + c.price - plans[i].Cost - c.required
		if gain > simulation.PriceSlack && plans[i].Cost > e.best.Cost+simulation.PriceSlack && e.holds(plans[i]) {
			worth = append(worth, answer{c, plans[i], gain})
		}
	}
	slices.SortStableFunc(worth, func(a, b answer) int { return cmp.Compare(b.gain, a.gain) })
	e.candidates = nil
	for _, a := range worth {
		if !found {
			now, err := e.stands(ctx, a.plan, append(slices.Clone(e.names), a.name))
			if err != nil {
				return false, err
			}
			if found = now != nil; found {
				e.best, e.now, e.names = a.plan, now, append(e.names, a.name)
			}
			continue
		}
		e.candidates = append(e.candidates, a.enlargement)
	}
	return found, nil
}

// solved returns a function that solves a problem, unless there was an error in making it.
func solved(ctx context.Context) func(*provisioning.Problem, error) (*provisioning.Plan, error) {
	return func(p *provisioning.Problem, err error) (*provisioning.Plan, error) {
		if err != nil {
			return nil, err
		}
		return p.Solve(ctx)
	}
}

// stands returns the places that the pods have on the new nodes of a plan, and on existing nodes, while
// these keep their pods: a topology spread or an affinity may hold elsewhere only once these have moved.
// The existing nodes that are to go, by name, get no pods. The result is nil if more pods stay pending
// than in the plan, or if a new node has no pod.
func (e *enlarger) stands(ctx context.Context, plan *provisioning.Plan, names []string) (*provisioning.Plan, error) {
	nodes := slices.Clone(e.cluster.in.Nodes)
	for i, n := range nodes {
		if slices.Contains(names, n.Name()) {
			nodes[i] = simulation.ClosedNode(n)
		}
	}
	places := map[types.NamespacedName]string{} // those of the plan are tried first
	put := func(node string, pods []*corev1.Pod) {
		for _, p := range pods {
			if e.pods[state.NameOf(p)] {
				places[state.NameOf(p)] = node
			}
		}
	}
	for i := range plan.Create {
		claim := plan.Create[i].NodeClaim()
		claim.Name = plan.Create[i].Name
		nodes = append(nodes, provisioning.Node{NodeClaim: claim})
		put(claim.Name, plan.Create[i].Pods)
	}
	for _, b := range plan.Bind {
		put(b.Node, b.Pods)
	}
	problem, err := e.problem.WithNodes(nodes, e.list)
	if err != nil {
		return nil, err
	}
	now, err := solved(ctx)(problem.Nominating(places))
	if err != nil || len(now.Create) > 0 || len(now.Unplaced) > len(plan.Unplaced) {
		return nil, err
	}
	for i := range plan.Create {
		if !slices.ContainsFunc(now.Bind, func(b provisioning.Binding) bool { return b.Node == plan.Create[i].Name }) {
			return nil, nil
		}
	}
	return now, nil
}

// holds says whether a plan places all pods that the plan before places, launches nodes for these
// only, and keeps to the limits of pools with all existing nodes counted.
func (e *enlarger) holds(plan *provisioning.Plan) bool {
	if len(plan.Unplaced) > len(e.best.Unplaced) {
		return false
	}
	for _, u := range plan.Unplaced {
		if !e.pods[state.NameOf(u.Pod)] {
			return false
		}
	}
	for i := range plan.Create {
		if !slices.ContainsFunc(plan.Create[i].Pods, func(p *corev1.Pod) bool { return e.pods[state.NameOf(p)] }) {
			return false
		}
	}
	meter := simulation.NewLimitsMeter(&simulation.Simulation{Cluster: e.cluster.seen})
	return meter.Takes(&simulation.CandidateSet{Nodes: plan.Create}) == nil
}

// withoutMoves returns the best plan with the places that its pods have while the existing nodes keep
// theirs.
func (e *enlarger) withoutMoves() *provisioning.Plan {
	out := *e.best
	out.Create, out.Bind = slices.Clone(out.Create), nil
	out.Unplaced, out.GivenUp, out.Order, out.Stats = e.now.Unplaced, e.now.GivenUp, e.now.Order, e.now.Stats
	at := map[string]int{}
	for i := range out.Create {
		at[out.Create[i].Name] = i
	}
	for _, b := range e.now.Bind {
		if i, found := at[b.Node]; found {
			out.Create[i].Pods = b.Pods
		} else {
			out.Bind = append(out.Bind, b)
		}
	}
	for i := 0; i < len(out.Create); { // nodes of one pool and price are in the order of their first pods
		same := out.Create[i:]
		if n := slices.IndexFunc(same, func(n provisioning.NewNode) bool { return n.Pool != same[0].Pool || n.Price() != same[0].Price() }); n > 0 {
			same = same[:n]
		}
		slices.SortFunc(same, func(a, b provisioning.NewNode) int {
			x, y := a.Pods[0], b.Pods[0]
			return cmp.Or(cmp.Compare(x.Namespace, y.Namespace), cmp.Compare(x.Name, y.Name))
		})
		i += len(same)
	}
	return &out
}
