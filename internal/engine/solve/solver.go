package solve

import (
	"context"

	"github.com/dovetail-sdk/dovetail/internal/engine/attempt"
	"github.com/dovetail-sdk/dovetail/internal/engine/compile"
	"github.com/dovetail-sdk/dovetail/internal/engine/model"
)

// Solver solves a problem. It is safe for concurrent use.
type Solver struct {
	p     *compile.Problem
	first *attempt.Attempt // the problem with its domains assigned
}

// New assigns the pods of a problem to domains and returns a Solver.
func New(p *compile.Problem) *Solver {
	return &Solver{p, attempt.New(p, attempt.Hints{PriorityFirst: len(p.Headroom) > 0})}
}

// Of returns the solver of a problem that differs only in nominated nodes.
func (s *Solver) Of(p *compile.Problem) *Solver { return &Solver{p, s.first} }

// Ready computes what all solutions of the problem start from, so that Solve need not.
func (s *Solver) Ready() { s.first.Packer.Ready() }

// Solve returns the solution. Its error is that of ctx, or lists faults of nodes to which pods are
// nominated.
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

// solve returns the solution in which each claim for one pod only belongs to the pod that got it
// first.
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
	reportResult(ctx, p, model.PreferenceShare, plan)
	return plan.finish(), nil
}

// The functions below are for tests.

// WithoutPreferences returns the solution that satisfies no preference, with which Solve compares
// its own, and the share by which the latter may cost more. The solution is nil if no preference is
// worth its price.
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

// Once packs the problem once and returns two solutions: with and without the search that closes
// nodes.
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
