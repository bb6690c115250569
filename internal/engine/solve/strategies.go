package solve

import (
	"context"

	"github.com/dovetail-sdk/dovetail/internal/engine/attempt"
	"github.com/dovetail-sdk/dovetail/internal/engine/compile"
	"github.com/dovetail-sdk/dovetail/internal/engine/model"
	"github.com/dovetail-sdk/dovetail/internal/engine/pack"
	"github.com/dovetail-sdk/dovetail/provisioning/progress"
)

// trial is a solution and the attempt that led to it.
type trial struct {
	plan    *Solution
	attempt *attempt.Attempt
}

// try solves an attempt, with its domains corrected by what packing shows.
func try(ctx context.Context, p *compile.Problem, s *attempt.Attempt) (trial, error) {
	s, result, err := packAndLearn(ctx, p, s)
	if err != nil {
		return trial{}, err
	}
	t := trial{assemble(p, s, result), s}
	reportResult(ctx, p, model.CellsAsFound, t.plan)
	return t, nil
}

// maxAttempts is how often domains are assigned anew because cells turned out to have less room
// than expected.
const maxAttempts = 6

// packAndLearn packs an attempt. If cells turn out to have less room than the assignment expected,
// it packs further attempts with better hints.
func packAndLearn(ctx context.Context, p *compile.Problem, s *attempt.Attempt) (*attempt.Attempt, *pack.Result, error) {
	for tries := 0; ; tries++ {
		steps := p.Opts.MaxSteps
		if s.Coarse {
			steps = 1
		}
		result, err := s.Pack(ctx, steps)
		if err != nil {
			return nil, nil, err
		}
		if tries == maxAttempts || p.Skips(model.CellsAsFound) {
			return s, result, nil
		}
		next := s.Next(p, result)
		if next == nil {
			return s, result, nil
		}
		s = next
	}
}

// reportResult reports the solution of a strategy to the trace, and to the progress report of ctx.
func reportResult(ctx context.Context, p *compile.Problem, name string, plan *Solution) {
	if report := progress.From(ctx); report != nil {
		report(progress.Event{Work: pack.Work, Stage: "search", Detail: plan.detail(name)})
	}
	if t := p.Opts.Trace; t != nil && t.After != nil {
		t.After(name, model.Score{Left: len(plan.Unplaced), Cost: plan.Cost})
	}
}
