package solve

import (
	"context"

	"github.com/dovetail-sdk/dovetail/internal/engine/attempt"
	"github.com/dovetail-sdk/dovetail/internal/engine/compile"
	"github.com/dovetail-sdk/dovetail/internal/engine/model"
	"github.com/dovetail-sdk/dovetail/internal/engine/pack"
	"github.com/dovetail-sdk/dovetail/provisioning/progress"
)

// trial is a solution, and the attempt that it came of.
type trial struct {
	plan    *Solution
	attempt *attempt.Attempt
}

// try makes the solution that comes of an attempt and what is learnt from it.
func try(ctx context.Context, p *compile.Problem, s *attempt.Attempt) (trial, error) {
	s, result, err := packAndLearn(ctx, p, s)
	if err != nil {
		return trial{}, err
	}
	t := trial{assemble(p, s, result), s}
	came(ctx, p, model.CellsAsFound, t.plan)
	return t, nil
}

// maxAttempts bounds how often domains are assigned anew, as the packer found
// less room somewhere than thought.
const maxAttempts = 6

// packAndLearn packs an attempt and, where that shows that its domains were assigned on
// wrong assumptions, attempts made of what was learnt.
func packAndLearn(ctx context.Context, p *compile.Problem, s *attempt.Attempt) (*attempt.Attempt, *pack.Result, error) {
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
		return s.Pack(ctx, 1)
	}
	return s.Pack(ctx, p.Opts.MaxSteps)
}

// came tells the trace what a strategy came to, and who waits for the solution how good it
// is by now.
func came(ctx context.Context, p *compile.Problem, name string, plan *Solution) {
	if report := progress.From(ctx); report != nil {
		report(progress.Event{Work: pack.Work, Stage: "search", Detail: plan.detail(name)})
	}
	if t := p.Opts.Trace; t != nil && t.After != nil {
		t.After(name, model.Score{Left: len(plan.Unplaced), Cost: plan.Cost})
	}
}
