package solve

import (
	"cmp"
	"context"
	"slices"

	"github.com/dovetail-sdk/dovetail/provisioning/internal/attempt"
	"github.com/dovetail-sdk/dovetail/provisioning/internal/compile"
	"github.com/dovetail-sdk/dovetail/provisioning/internal/model"
	"github.com/dovetail-sdk/dovetail/provisioning/internal/pack"
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
	if err != nil || len(plan.Unplaced) == 0 || !contested(s.p) || s.p.Skips(model.ClaimOwner) {
		return plan, err
	}
	return reassignClaims(ctx, s.p, plan)
}

// solve finds the plan in which those pods have claims for one pod only that got
// them first.
func (s *Solver) solve(ctx context.Context) (*Solution, error) {
	p := s.p
	t, err := try(ctx, p, s.first)
	if err != nil {
		return nil, err
	}
	if len(t.plan.Unplaced) > 0 {
		if t, err = s.retry(ctx, t); err != nil {
			return nil, err
		}
	}
	plan, err := withinBudget(ctx, p, t.plan, t.attempt)
	if err == nil {
		came(p, model.PreferenceShare, plan)
	}
	return plan, err
}

// settle packs an attempt and, where that shows that its domains were assigned on
// wrong assumptions, attempts made of what was learnt.
func settle(ctx context.Context, p *compile.Problem, s *attempt.Attempt) (*attempt.Attempt, *pack.Result, error) {
	result, err := packAttempt(ctx, s, p)
	for range maxAttempts {
		if err != nil {
			return nil, nil, err
		}
		if p.Skips(model.CellsAsFound) {
			return s, result, nil
		}
		next := s.Next(p, result)
		if next == nil {
			return s, result, nil
		}
		s = next
		result, err = packAttempt(ctx, s, p)
	}
	return s, result, err
}

// packAttempt packs an attempt.
func packAttempt(ctx context.Context, s *attempt.Attempt, p *compile.Problem) (*pack.Result, error) {
	if s.Coarse {
		return s.Packer.Solve(ctx, 1)
	}
	return s.Packer.Solve(ctx, p.Opts.MaxSteps)
}

// better returns a plan, or that of another attempt if it places more pods, those of
// higher priority first, as many more evenly, or as many for less where nodes are
// raised.
func better(ctx context.Context, p *compile.Problem, plan *Solution, s *attempt.Attempt) (*Solution, error) {
	s, result, err := settle(ctx, p, s)
	if err != nil {
		return nil, err
	}
	other := assemble(p, s, result)
	c := cmp.Or(compareLeft(other, plan), cmp.Compare(other.uneven, plan.uneven))
	if c == 0 && (s.Raised != nil || plan.ejected || other.ejected) {
		c = cmp.Compare(other.Cost, plan.Cost)
	}
	if c < 0 || c == 0 && plan.ejected && !other.ejected {
		return other, nil
	}
	return plan, nil
}

// compareLeft says which of two plans leaves fewer pods over, those of the highest
// priority deciding.
func compareLeft(a, b *Solution) int { return slices.Compare(a.leftPriorities(), b.leftPriorities()) }

// leftPriorities are those of the pods that are left over, highest first.
func (p *Solution) leftPriorities() []int32 {
	out := make([]int32, len(p.Unplaced))
	for i := range p.Unplaced {
		out[i] = model.PriorityOf(p.Unplaced[i].Pod)
	}
	slices.Sort(out)
	slices.Reverse(out)
	return out
}

// maxAttempts bounds how often domains are assigned anew, as the packer found
// less room somewhere than thought.
const maxAttempts = 6
