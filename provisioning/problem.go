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
	buffers  []Buffer // those of in, by namespace and name
	compiled *compile.Problem
	solver   *solve.Solver
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
	p, err := prepare(in, o, nil)
	if err != nil {
		return nil, err
	}
	p.solver.Ready()
	return p, nil
}

// prepare compiles an input, with what another problem knows of what has not changed,
// unless that is nil.
func prepare(in Input, opts Options, like *Problem) (*Problem, error) {
	var f model.Faults
	if err := opts.Validate(); err != nil {
		f.Split("Options", err)
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

// Solve is Prepare and Problem.Solve in one.
func Solve(ctx context.Context, in Input, opts *Options) (*Plan, error) {
	p, err := Prepare(in, opts)
	if err != nil {
		return nil, err
	}
	return p.Solve(ctx)
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
//     are launched anyway. Up to 400 pods, where some have constraints between pods, are
//     also placed anew one by one, those with preferences aside; that plan is taken if it
//     is cheaper.
//  5. Pods are moved between the nodes of the plan, or exchanged, where that is
//     more to their taste and concerns no hard constraint. What is launched and
//     what it costs stays the same.
//
// The time is about proportional to (classes x options worth having), not to
// the number of pods.
func (p *Problem) Solve(ctx context.Context) (*Plan, error) {
	s, err := p.solver.Solve(ctx)
	if err != nil {
		return nil, inputErrors(err)
	}
	return p.publish(s), nil
}

// inputErrors makes an *InputError of each fault that an error joins.
func inputErrors(err error) error {
	list := faults.Joined(err)
	out := make([]error, len(list))
	for i, e := range list {
		if f, ok := e.(*faults.Fault); ok {
			out[i] = (*InputError)(f)
		} else {
			return err // that of a context
		}
	}
	return errors.Join(out...)
}
