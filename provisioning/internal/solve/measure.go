package solve

import "context"

// What tests hold a solution against.

// WithoutPreferences is the solution that Solve holds its own against: with no
// preference followed. The share is how much more that one may cost; there is none if no
// preference is worth its price on paper.
func (s *Solver) WithoutPreferences(ctx context.Context) (*Solution, float64, error) {
	if len(s.p.Preferred.Classes) == 0 {
		return nil, 0, nil
	}
	a, result, err := settle(ctx, s.p, without(s.p, s.first, 0))
	if err != nil {
		return nil, 0, err
	}
	return assemble(s.p, a, result), s.p.Preferred.Share, nil
}

// Once packs the problem once, and returns the solution with and without a look at
// nodes that can be taken out of it again.
func (s *Solver) Once(ctx context.Context) (closed, open *Solution, err error) {
	a, result, err := settle(ctx, s.p, s.first)
	if err != nil {
		return nil, nil, err
	}
	closed = assemble(s.p, a, result)
	spent := *result
	spent.Steps = s.p.Opts.MaxSteps
	return closed, assemble(s.p, a, &spent), nil
}
