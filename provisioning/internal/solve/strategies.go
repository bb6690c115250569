package solve

import (
	"context"

	"github.com/dovetail-sdk/dovetail/provisioning/internal/attempt"
	"github.com/dovetail-sdk/dovetail/provisioning/internal/compile"
	"github.com/dovetail-sdk/dovetail/provisioning/internal/model"
	"github.com/dovetail-sdk/dovetail/provisioning/internal/pack"
	"github.com/dovetail-sdk/dovetail/provisioning/progress"
)

// A strategy proposes another attempt from what came of one. The solution with the better
// score is kept.
type strategy struct {
	name string // as model.LeftOut has it
	// hints are those of the attempt to be tried, given an attempt, what was packed, and
	// the best solution so far; nil if there is none.
	hints func(p *compile.Problem, s *attempt.Attempt, r *pack.Result, best *Solution) *attempt.Hints
	// sameUnits passes over an attempt that divides pods otherwise than the first.
	sameUnits bool
}

// strategies are followed in this order, after an attempt has been packed, and packed anew
// with what was learnt. What comes after them, where pods are still left over or preferences cost too much,
// is in Solver.solve.
var strategies = []strategy{
	{name: model.NoIncidental, hints: noIncidental},            // new nodes keep out of domains that they would only bring along
	{name: model.EvenCells, hints: evenHints, sameUnits: true}, // domains in even shares
}

func noIncidental(p *compile.Problem, s *attempt.Attempt, _ *pack.Result, _ *Solution) *attempt.Hints {
	return s.WithoutIncidentalDomains(p)
}

// follow returns a solution, or a better one that a strategy leads to.
func (t strategy) follow(ctx context.Context, p *compile.Problem, s *attempt.Attempt, r *pack.Result, best *Solution) (*Solution, error) {
	if o := t.hints(p, s, r, best); o != nil && !p.Skips(t.name) {
		if next := attempt.New(p, *o); !t.sameUnits || len(next.Units) == len(s.Units) {
			next, result, err := packAndLearn(ctx, p, next)
			if err != nil {
				return nil, err
			}
			if other := assemble(p, next, result); other.score(p).betterThan(best.score(p)) {
				best = other
			}
		}
	}
	came(ctx, p, t.name, best)
	return best, nil
}

// trial is a solution, and the attempt that it came of.
type trial struct {
	plan    *Solution
	attempt *attempt.Attempt
}

// try makes the best solution that comes of an attempt and what is learnt from it.
func try(ctx context.Context, p *compile.Problem, s *attempt.Attempt) (trial, error) {
	t, result, err := once(ctx, p, s)
	if err != nil {
		return trial{}, err
	}
	came(ctx, p, model.CellsAsFound, t.plan)
	for _, next := range strategies {
		if t.plan, err = next.follow(ctx, p, t.attempt, result, t.plan); err != nil {
			return trial{}, err
		}
	}
	return t, nil
}

// once makes the solution that comes of an attempt, where those of higher priority may be
// put first, and returns what was packed.
func once(ctx context.Context, p *compile.Problem, s *attempt.Attempt) (trial, *pack.Result, error) {
	s, result, err := packAndLearn(ctx, p, s)
	if err == nil {
		s, result, err = solvePriorityFirst(ctx, p, s, result)
	}
	if err != nil {
		return trial{}, nil, err
	}
	return trial{assemble(p, s, result), s}, result, nil
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
