package solve

import (
	"context"

	"github.com/dovetail-sdk/dovetail/internal/engine/attempt"
	"github.com/dovetail-sdk/dovetail/internal/engine/compile"
	"github.com/dovetail-sdk/dovetail/internal/engine/model"
)

// Solver finds the plan of a problem. It is safe for concurrent use.
type Solver struct {
	p     *compile.Problem
	first *attempt.Attempt // the problem with its domains assigned
}

// New assigns the pods of a problem to domains, and is ready to solve it.
func New(p *compile.Problem) *Solver {
	return &Solver{p, attempt.New(p, attempt.Hints{PriorityFirst: len(p.Headroom) > 0})}
}

// Of is the solver of a problem that differs in no more than where pods are tried first.
func (s *Solver) Of(p *compile.Problem) *Solver { return &Solver{p, s.first} }

// Ready works out what all solutions of the problem begin with, so that a Solve need not.
func (s *Solver) Ready() { s.first.Packer.Ready() }

// Solve finds the plan. It fails only with the error of ctx, or with faults of nodes
// that pods were nominated to.
func (s *Solver) Solve(ctx context.Context) (*Solution, error) {
	if len(s.p.Nominated) > 0 {
		return s.solveNominated(ctx)
	}
	plan, err := s.solve(ctx)
	if err != nil || len(plan.Unplaced) == 0 || !contested(s.p) {
		return plan, err
	}
	return reassignClaims(ctx, s.p, plan)
}

// solve finds the plan in which those pods have claims for one pod only that got
// them first.
func (s *Solver) solve(ctx context.Context) (*Solution, error) {
	p := s.p
	first := s.first.Begun()
	t, err := try(ctx, p, first)
	if err != nil {
		return nil, err
	}
	if len(t.plan.Unplaced) > 0 {
		if t, err = retry(ctx, p, first, t); err != nil {
			return nil, err
		}
	}
	if t, err = withoutUnplaced(ctx, p, first, t); err != nil {
		return nil, err
	}
	plan, err := withinBudget(ctx, p, t.plan, t.attempt)
	if err != nil {
		return nil, err
	}
	came(ctx, p, model.PreferenceShare, plan)
	return plan.finish(), nil
}

// What tests hold a solution against.

// WithoutPreferences is the solution that Solve holds its own against: with no
// preference followed. The share is how much more that one may cost; there is none if no
// preference is worth its price on paper.
func (s *Solver) WithoutPreferences(ctx context.Context) (*Solution, float64, error) {
	if len(s.p.Preferred.Classes) == 0 {
		return nil, 0, nil
	}
	a, result, err := packAndLearn(ctx, s.p, without(s.p, s.first, 0))
	if err != nil {
		return nil, 0, err
	}
	return assemble(s.p, a, result).finish(), s.p.Preferred.Share, nil
}

// Once packs the problem once, and returns the solution with and without a look at
// nodes that can be taken out of it again.
func (s *Solver) Once(ctx context.Context) (closed, open *Solution, err error) {
	a, result, err := packAndLearn(ctx, s.p, s.first)
	if err != nil {
		return nil, nil, err
	}
	closed = assemble(s.p, a, result).finish()
	spent := *result
	spent.Steps = s.p.Opts.MaxSteps
	return closed, assemble(s.p, a, &spent).finish(), nil
}
