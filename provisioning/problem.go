package provisioning

import (
	"cmp"
	"context"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/dovetail-sdk/dovetail/provisioning/internal/bitset"
	"github.com/dovetail-sdk/dovetail/provisioning/internal/pack"
	"github.com/dovetail-sdk/dovetail/provisioning/internal/topology"
	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
)

// Problem is an Input compiled for solving. It is immutable and safe for
// concurrent use. Prepare makes it; the zero value must not be used.
type Problem struct {
	in         Input
	opts       Options
	vocabulary *requirements.Vocabulary
	catalog    *catalog
	rooms      *rooms
	boundKinds *boundKinds

	pods    []*corev1.Pod // by namespace and name
	classes []class
	daemons []daemon
	pools   []pool // in the order they are tried
	nodes   []existing
	gone    []terminatingNode // nodes on their way out

	resources []corev1.ResourceName // the dimensions of every vector
	requests  [][]int64             // by class, in the same units
	minValues [][]minValue          // by pool
	traits    *traits
	admission *admission
	rates     *unitPrices

	nominated []nominated // by rank: the places to try first

	static   []StaticPool
	buffers  []Buffer
	headroom map[*corev1.Pod]bool // pods that stand for buffers

	extras *extras
	passed map[string]bool // pods that leave claims for one pod only to others

	rules       *rules
	table       *domainTable
	cells       [][]topology.Cell // by class: where it may go, if it has constraints over domains
	finder      *cellFinder
	preferences []preferences // by class
	preferred   preferred
	softScores  softScores
	nodeParts   [][]pack.Membership // by node: what its pods count for
	nodeClass   []int32             // by class: equal for those that the same nodes admit

	// For the selections of affinities over the name of the node: whether a pod
	// of one runs, and on which nodes.
	running map[int]bool
	beside  map[int][]bool

	onDaemon   []bitset.Set // by daemon: the options where it runs
	lowPools   []pack.Pool
	tiers      tiers
	lowOptions []pack.Option
	distinct   *pack.Capacities // of lowOptions
	flexible   *pack.Flexible
	hopeless   bitset.Set // classes that have no place whatever becomes of others
	apart      bitset.Set // those of them that have no part in the search
	first      *attempt   // the problem with its domains assigned
}

// Prepare compiles an input. It reports every fault of the input at once, as
// *InputError joined by errors.Join, and compiles nothing then. Of pods that are
// alike it names the first. nil options mean the defaults.
//
// It takes O(pods + options x (keys asked about + classes / 64)) time, and
// little more memory than the input has options and classes.
func Prepare(in Input, opts *Options) (*Problem, error) {
	var o Options
	if opts != nil {
		o = *opts
	}
	p, err := prepare(in, o, nil, nil)
	if err != nil {
		return nil, err
	}
	p.first.packer.Ready()
	return p, nil
}

// prepare compiles an input, on the catalog of another problem unless that is
// nil, and with what that knows of nodes that have not changed. The pods of passed
// leave claims that are for one pod only to others.
func prepare(in Input, opts Options, like *Problem, passed map[string]bool) (*Problem, error) {
	var f faults
	p := &Problem{in: in, vocabulary: in.Vocabulary, rules: &rules{}, passed: passed}
	if like != nil {
		p.catalog, p.rooms, p.boundKinds = like.catalog, like.rooms, like.boundKinds
	}
	if err := opts.Validate(); err != nil {
		f.split("Options", err)
	}
	p.opts = opts.withDefaults()
	if p.vocabulary == nil {
		p.vocabulary = requirements.DefaultVocabulary()
	}
	p.buffers = sortedBuffers(in.Buffers, &f)
	pods, headroom := withBuffers(in.Pods, p.buffers)
	p.headroom = headroom
	p.pods = sortedPods(pods, "Pods", &f)
	p.readNominated(&f)
	nodes := sortedNodes(in.Nodes, &f)
	p.daemons = newDaemons(in.DaemonSetPods, p.vocabulary, &f)
	p.extras = newExtras(&in, p.vocabulary, &f)
	p.extras.read(p)
	k := &classifier{p: p, f: &f, reader: newTermReader(&in, &p.opts, &f), headroom: headroom}
	k.boundKinds, k.boundMemberships = p.boundKinds.read(nodes)
	p.boundKinds = k.boundKinds
	k.bound = k.readBound()
	k.classify()
	if p.catalog == nil {
		p.catalog = newCatalog(&in, p.vocabulary, &f)
	}
	p.pools = p.catalog.take()
	if f.err() != nil {
		p.checkRooms(nodes, &f)
		return nil, f.err()
	}
	for i := range p.pools {
		p.pools[i].setLimits(nodes, p.rooms, p.vocabulary, &f)
	}
	p.static = staticPools(p.pools, nodes, p.vocabulary, &f)
	p.extras.settle(p)
	p.resources = resourceNames(p.classes, p.daemons)
	p.extras.attached.setDimensions(p.resources)
	p.compile(k, nodes, &f)
	if err := f.err(); err != nil {
		return nil, err
	}
	return p, nil
}

// checkRooms looks for the faults that come to light only when limits and nodes
// are worked out, for an input that is refused already.
func (p *Problem) checkRooms(nodes []Node, f *faults) {
	for i := range p.pools {
		p.pools[i].types = nil // what is wrong with them, or with daemons, has been said
		p.pools[i].setLimits(nodes, nil, p.vocabulary, f)
	}
	p.daemons, p.rooms = nil, nil
	p.existingNodes(nodes, nil, f)
}

// Solve is Prepare and Problem.Solve in one.
func Solve(ctx context.Context, in Input, opts *Options) (*Plan, error) {
	p, err := Prepare(in, opts)
	if err != nil {
		return nil, err
	}
	return p.Solve(ctx)
}

// compile lowers the problem to numbers.
func (p *Problem) compile(k *classifier, nodes []Node, f *faults) {
	d := p.catalog.domains
	p.mixCapacity(d)
	x := p.compileRules(k)
	p.setCapacities(f)
	p.minValues = p.catalog.minValues
	for c := range p.classes {
		p.requests = append(p.requests, p.request(c))
	}
	p.compileNodes(d, x, k.boundMemberships, nodes, f)
	p.admission = newAdmission(p, d)
	p.traits = p.admission.traits
	r := p.rates.rater()
	p.compileCells(r)
	if !p.skips(lookedAtCaps) {
		p.raiseCaps()
	}
	for i := range p.pools {
		p.lowerPool(i)
	}
	p.findTiers()
	p.weighPreferences(r)
	p.findPreferred()
	p.setFlexible()
	p.findHopeless()
	if f.err() == nil {
		p.first = p.newAttempt(hints{priorityFirst: len(p.headroom) > 0})
	}
}

// compileRules works out the constraints between pods.
func (p *Problem) compileRules(k *classifier) *baseline {
	p.rules = newRules(p, k.reader.selections)
	x := newBaseline(p, k)
	x.addBoundRules()
	p.rules.addPorts(p, x.boundPorts())
	p.rules.join(p)
	p.rules.addSlots(p)
	return x
}

// compileNodes works out what existing nodes have to give, and how the rules
// stand with the pods there.
func (p *Problem) compileNodes(d *domains, x *baseline, boundMemberships [][]int32, nodes []Node, f *faults) {
	staying, leaving := p.existingNodes(nodes, boundMemberships, f)
	p.nodes = staying
	p.table = newDomainTable(p, p.rules, d, [][]existing{p.nodes, leaving})
	judge := newNodeAdmission(p)
	for _, list := range [][]existing{p.nodes, leaving} {
		for i := range list {
			n := &list[i]
			n.verdict, n.at = judge.judge(&n.standing), p.table.at(n, p.vocabulary)
		}
	}
	x.count(p.nodes, leaving)
	for i := range p.nodes {
		if !p.skips(openLabels) {
			p.settleUnknown(&p.nodes[i])
		}
	}
	x.findRunning(leaving)
	p.findSoftScores(x)
	for i := range p.nodes {
		n := &p.nodes[i]
		n.attached = p.extras.attachedTo(n.Pods)
		parts := x.partsOn(n, false)
		copy(n.free[len(p.resources):], p.rules.slotsOn(parts))
		p.nodeParts = append(p.nodeParts, parts)
	}
	for i := range leaving {
		p.gone = append(p.gone, terminatingNode{leaving[i], x.partsOn(&leaving[i], true)})
	}
	p.nodeClass = judge.signatures()
}

// compileCells works out where classes with constraints over domains may go.
func (p *Problem) compileCells(r *rater) {
	p.cells = make([][]topology.Cell, len(p.classes))
	p.finder = newCellFinder(p, p.admission)
	for c := range p.classes {
		if len(p.rules.duties[c].spans) > 0 {
			p.cells[c] = p.finder.cells(c, r)
		}
	}
}

// lowerPool adds a pool. Pools of one weight make up a tier.
func (p *Problem) lowerPool(i int) {
	pl := &p.pools[i]
	low := pack.Pool{
		First:      pl.first,
		Last:       pl.first + len(pl.options),
		BestEffort: p.opts.MinValues == BestEffort,
	}
	for _, mv := range p.minValues[i] {
		low.MinValues = append(low.MinValues, mv.MinValue)
	}
	if i > 0 {
		low.Tier = p.lowPools[i-1].Tier
		if weight(pl.object) != weight(p.pools[i-1].object) {
			low.Tier++
		}
	}
	if p.bindable(i) {
		low.Limits, low.Uses, low.Levels = pl.remaining, p.catalog.uses[i], p.catalog.useLevels[i]
	}
	p.lowPools = append(p.lowPools, low)
}

// Solve finds the plan. It fails only with the error of ctx, once that is
// done; otherwise every pod is in the plan, placed or with a reason. Solving
// again gives an equal plan.
//
// The order of the work, and thereby what a plan is:
//
//  0. Pods go where Input.Nominated has them, as far as that holds.
//  1. Existing nodes are filled, those that are initialised first and then by
//     name. Of the pods that may run on a node it takes those that use its
//     room best.
//  2. Pods without room get new nodes of the pools of the highest weight that
//     can serve them. Among pools of one weight, cost decides. A node of lower
//     weight is launched for a pod only when no node of higher ones can hold it,
//     or limits forbid one more.
//  3. Pods that are left are unplaced. Before that, where they might have a place,
//     the problem is packed again: without preferences, coarsely, and with pods of
//     lower priority waiting until these have their place. The plan that leaves
//     fewest of the highest priority is taken. Pods that no node could take,
//     whatever becomes of others, have no part in the search.
//  4. New nodes whose pods can be had for less on others, or on cheaper ones of their
//     own, are taken out of the plan again, where pods were sent to domains or to
//     existing nodes before it was known what had to be bought. Their pods may go to
//     nodes of lower weight that hold a pod which no higher weight can take: those
//     are launched anyway.
//  5. Pods are moved between the nodes of the plan, or exchanged, where that is
//     more to their taste and concerns no hard constraint. What is launched and
//     what it costs stays the same.
//
// The time is about proportional to (classes x options worth having), not to
// the number of pods.
func (p *Problem) Solve(ctx context.Context) (*Plan, error) {
	if len(p.nominated) > 0 {
		return p.solveNominated(ctx)
	}
	plan, err := p.solve(ctx)
	if err != nil || len(plan.Unplaced) == 0 || !p.contested() || p.skips(claimOwner) {
		return plan, err
	}
	return p.reassignClaims(ctx, plan)
}

// solve finds the plan in which those pods have claims for one pod only that got
// them first.
func (p *Problem) solve(ctx context.Context) (*Plan, error) {
	t, err := p.try(ctx, p.first)
	if err != nil {
		return nil, err
	}
	if len(t.plan.Unplaced) > 0 {
		if t, err = p.retry(ctx, t); err != nil {
			return nil, err
		}
	}
	plan, err := p.withinBudget(ctx, t.plan, t.attempt)
	if err == nil {
		p.came(preferenceShare, plan)
	}
	return plan, err
}

// settle packs an attempt and, where that shows that its domains were assigned on
// wrong assumptions, attempts made of what was learnt.
func (p *Problem) settle(ctx context.Context, s *attempt) (*attempt, *pack.Result, error) {
	result, err := s.pack(ctx, p)
	for range maxAttempts {
		if err != nil {
			return nil, nil, err
		}
		if p.skips(cellsAsFound) {
			return s, result, nil
		}
		next := s.next(p, result)
		if next == nil {
			return s, result, nil
		}
		s = next
		result, err = s.pack(ctx, p)
	}
	return s, result, err
}

// pack packs an attempt.
func (s *attempt) pack(ctx context.Context, p *Problem) (*pack.Result, error) {
	if s.coarse {
		return s.packer.Solve(ctx, 1)
	}
	return s.packer.Solve(ctx, p.opts.MaxSteps)
}

// better returns a plan, or that of another attempt if it places more pods, those of
// higher priority first, as many more evenly, or as many for less where nodes are
// raised.
func (p *Problem) better(ctx context.Context, plan *Plan, s *attempt) (*Plan, error) {
	s, result, err := p.settle(ctx, s)
	if err != nil {
		return nil, err
	}
	other := p.assemble(s, result)
	c := cmp.Or(compareLeft(other, plan), cmp.Compare(other.uneven, plan.uneven))
	if c == 0 && (s.raised != nil || plan.ejected || other.ejected) {
		c = cmp.Compare(other.Cost, plan.Cost)
	}
	if c < 0 || c == 0 && plan.ejected && !other.ejected {
		return other, nil
	}
	return plan, nil
}

// compareLeft says which of two plans leaves fewer pods over, those of the highest
// priority deciding.
func compareLeft(a, b *Plan) int { return slices.Compare(a.leftPriorities(), b.leftPriorities()) }

// leftPriorities are those of the pods that are left over, highest first.
func (p *Plan) leftPriorities() []int32 {
	out := make([]int32, len(p.Unplaced))
	for i := range p.Unplaced {
		out[i] = priorityOf(p.Unplaced[i].Pod)
	}
	slices.Sort(out)
	slices.Reverse(out)
	return out
}

// maxAttempts bounds how often domains are assigned anew, as the packer found
// less room somewhere than thought.
const maxAttempts = 6
