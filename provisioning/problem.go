package provisioning

import (
	"context"
	"errors"

	corev1 "k8s.io/api/core/v1"

	"github.com/dovetail-sdk/dovetail/internal/engine/compile"
	"github.com/dovetail-sdk/dovetail/internal/engine/faults"
	"github.com/dovetail-sdk/dovetail/internal/engine/model"
	"github.com/dovetail-sdk/dovetail/internal/engine/solve"
)

// Problem is an Input compiled for solving. It is immutable and safe for
// concurrent use. Prepare makes it; the zero value must not be used.
type Problem struct {
	in       Input
	opts     Options
	buffers  []Buffer // of in, sorted by namespace and name
	compiled *compile.Problem
	solver   *solve.Solver
}

// Prepare compiles an input. It reports every fault of the input at once, as *InputError joined by
// errors.Join, and then compiles nothing. For a fault of several equal pods it names the first. nil
// options mean the defaults.
//
// It takes O(pods + options x (keys required + classes / 64)) time, and little more memory than the
// input has options and classes.
func Prepare(in Input, opts *Options) (*Problem, error) {
	var o Options
	if opts != nil {
		o = *opts
	}
	p, err := prepare(in, o, nil)
	if err != nil {
		return nil, err
	}
	p.solver.Ready()
	return p, nil
}

// prepare compiles an input. It reuses what is unchanged from another problem, like, which may be
// nil.
func prepare(in Input, opts Options, like *Problem) (*Problem, error) {
	var f model.Faults
	if err := opts.Validate(); err != nil {
		f.InField("Options", " is ", err)
	}
	p := &Problem{in: in, opts: opts, buffers: sortedBuffers(in.Buffers, &f)}
	var spare []*corev1.Pod
	for _, b := range p.buffers {
		spare = append(spare, b.Pods()...)
	}
	var base *compile.Problem
	if like != nil {
		base = like.compiled
	}
	p.compiled = compile.NewProblem(in.forModel(), spare, opts.forModel(), base, nil, &f)
	if p.compiled == nil {
		return nil, inputErrors(f.Err())
	}
	p.solver = solve.New(p.compiled)
	return p, nil
}

// Solve calls Prepare and then Problem.Solve.
func Solve(ctx context.Context, in Input, opts *Options) (*Plan, error) {
	p, err := Prepare(in, opts)
	if err != nil {
		return nil, err
	}
	return p.Solve(ctx)
}

// Solve returns the plan. Every pod is in it, placed or with a reason. The error is that of ctx
// once ctx is done, or lists faults of nominated nodes. Solving again gives an equal plan.
//
// The work is done in this order, which defines the plan:
//
//  0. Pods go to their nominated nodes of Input.Nominated where constraints allow it.
//  1. Existing nodes are filled, initialised ones first and then by name. Each takes, of the pods
//     that may run on it, those that use its room best.
//  2. Pods without room get new nodes of the pools of the highest weight that can serve them.
//     Within one weight, cost decides. A node of lower weight is launched for a pod only if no node
//     of higher weight can hold it, or limits forbid another one.
//  3. If pods are left that might have a place, the problem is packed again: without preferences,
//     coarsely, and with pods of lower priority deferred until the unplaced ones have a place. The
//     plan with the fewest unplaced pods of the highest priority is taken. Pods that no plan can
//     place take no part in the search.
//  4. A new node is removed again if its pods can be placed at a lower cost on other nodes, or on
//     cheaper nodes of their own. This is tried where pods were sent to domains or existing nodes
//     before it was known what had to be bought. The pods may go to nodes of lower weight that have
//     a pod which no higher weight can take, because these are launched anyway. If some pods have
//     constraints between pods, up to 400 pods are also placed anew one by one, without
//     preferences, and that plan is taken if it is cheaper.
//  5. Pods are moved or exchanged between the nodes of the plan where that satisfies more
//     preferences and concerns no required constraint. The nodes and their cost do not change.
//
// The time is about proportional to (classes x options worth comparing), not to the number of pods.
func (p *Problem) Solve(ctx context.Context) (*Plan, error) {
	s, err := p.solver.Solve(ctx)
	if err != nil {
		return nil, inputErrors(err)
	}
	return p.publish(s), nil
}

// inputErrors converts each fault that an error joins to an *InputError.
func inputErrors(err error) error {
	list := faults.Joined(err)
	out := make([]error, len(list))
	for i, e := range list {
		if f, ok := e.(*faults.Fault); ok {
			out[i] = (*InputError)(f)
		} else {
			return err // the error of a context
		}
	}
	return errors.Join(out...)
}
