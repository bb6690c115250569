package provisioning

import (
	"context"

	corev1 "k8s.io/api/core/v1"

	"github.com/dovetail-sdk/dovetail/provisioning/internal/pack"
	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
)

// Problem is an Input compiled for solving. It is immutable and safe for
// concurrent use.
type Problem struct {
	opts       Options
	vocabulary *requirements.Vocabulary

	pods    []*corev1.Pod // by namespace and name
	classes []class
	daemons []daemon
	pools   []pool // in the order they are tried
	nodes   []existing

	resources []corev1.ResourceName // the dimensions of every vector
	requests  [][]int64             // by class, in the same units
	sources   [][]int               // by class and variant: the alternative, or -1 for all
	minValues [][]minValue          // by pool
	traits    *traits
	packer    *pack.Packer
}

// Prepare compiles an input. It reports every fault of the input at once, as
// *InputError joined by errors.Join, and compiles nothing then. Of pods that are
// alike it names the first. nil options mean the defaults.
//
// It takes O(pods + options x (keys asked about + classes / 64)) time, and
// little more memory than the input has options and classes.
func Prepare(in Input, opts *Options) (*Problem, error) {
	var f faults
	p := &Problem{vocabulary: in.Vocabulary}
	if opts != nil {
		p.opts = *opts
	}
	if err := p.opts.Validate(); err != nil {
		f.split("Options", err)
	}
	p.opts = p.opts.withDefaults()
	if p.vocabulary == nil {
		p.vocabulary = requirements.DefaultVocabulary()
	}
	p.pods = sortedPods(in.Pods, "Pods", &f)
	nodes := sortedNodes(in.Nodes, &f)
	p.classes = classify(p.pods, repellers(nodes), p.vocabulary, &f)
	p.daemons = newDaemons(in.DaemonSetPods, p.vocabulary, &f)
	p.pools = newPools(&in, p.vocabulary, &f)
	checkTypes(p.pools, &f)
	if f.err() != nil {
		p.checkRooms(nodes, &f)
		return nil, f.err()
	}
	for i := range p.pools {
		p.pools[i].setLimits(nodes, p.vocabulary, &f)
	}
	p.resources = resourceNames(p.classes, p.daemons)
	total := newOptions(p.pools)
	p.compile(newDomains(p.vocabulary, p.pools, total), nodes, &f)
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
		p.pools[i].setLimits(nodes, p.vocabulary, f)
	}
	p.daemons = nil
	p.existingNodes(nodes, f)
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
func (p *Problem) compile(d *domains, nodes []Node, f *faults) {
	p.setCapacities(d, f)
	p.minValues = make([][]minValue, len(p.pools))
	for i := range p.pools {
		p.minValues[i] = newMinValues(&p.pools[i], i, d)
	}
	a := newAdmission(p, d)
	p.traits = a.traits
	lowered := &pack.Problem{Dims: len(p.resources), Traits: a.traits}
	for i := range p.classes {
		c := &p.classes[i]
		request := p.vector(c.requests)
		lower, sources := a.lower(i, request)
		p.requests = append(p.requests, request)
		p.sources = append(p.sources, sources)
		lowered.Classes = append(lowered.Classes, lower)
	}
	for i := range p.pools {
		p.lowerPool(i, lowered)
	}
	p.nodes = p.existingNodes(nodes, f)
	admitted := newNodeAdmission(p)
	for i := range p.nodes {
		lowered.Nodes = append(lowered.Nodes, pack.Node{Free: p.nodes[i].free, Classes: admitted.classes(&p.nodes[i].standing)})
	}
	if f.err() == nil {
		p.packer = pack.New(lowered)
	}
}

// lowerPool adds a pool and its options. Pools of one weight make up a tier.
func (p *Problem) lowerPool(i int, lowered *pack.Problem) {
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
		low.Tier = lowered.Pools[i-1].Tier
		if weight(pl.object) != weight(p.pools[i-1].object) {
			low.Tier++
		}
	}
	if len(pl.limits) > 0 {
		low.Limits = pl.remaining
		low.Uses = make([][]int64, len(pl.options))
	}
	for j := range pl.options {
		o := &pl.options[j]
		lowered.Options = append(lowered.Options, pack.Option{Price: o.Offering.Price, Capacity: o.capacity})
		if low.Uses != nil {
			low.Uses[j] = pl.uses(o.LaunchOption)
		}
	}
	lowered.Pools = append(lowered.Pools, low)
}

// Solve finds the plan. It fails only with the error of ctx, once that is
// done; otherwise every pod is in the plan, placed or with a reason. Solving
// again gives an equal plan.
//
// The order of the work, and thereby what a plan is:
//
//  1. Existing nodes are filled, those that are initialised first and then by
//     name. Of the pods that may run on a node it takes those that use its
//     room best.
//  2. Pods without room get new nodes of the pools of the highest weight that
//     can serve them. Among pools of one weight, cost decides. A pod goes on
//     to lower weights only when no node of higher ones can hold it, or limits
//     forbid one more.
//  3. Pods that are left are unplaced.
//
// The time is about proportional to (classes x options worth having), not to
// the number of pods.
func (p *Problem) Solve(ctx context.Context) (*Plan, error) {
	result, err := p.packer.Solve(ctx, p.opts.MaxSteps)
	if err != nil {
		return nil, err
	}
	return p.assemble(result), nil
}
