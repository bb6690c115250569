package provisioning

import "context"

// SolveWithoutWishes is the plan that Solve holds its own against: with no
// preference followed. The share is how much more that one may cost; 0 if no
// preference is worth its price on paper.
func (p *Problem) SolveWithoutWishes(ctx context.Context) (plan *Plan, share float64, err error) {
	if len(p.wished.classes) == 0 {
		return nil, 0, nil
	}
	s, result, err := p.settle(ctx, p.without(p.first, 0))
	if err != nil {
		return nil, 0, err
	}
	return p.assemble(s, result), p.wished.share, nil
}

// SolveOnce packs the problem once, and returns the plan with and without a look at
// nodes that can be taken out of it again.
func (p *Problem) SolveOnce(ctx context.Context) (closed, open *Plan, err error) {
	s, result, err := p.settle(ctx, p.first)
	if err != nil {
		return nil, nil, err
	}
	closed = p.assemble(s, result)
	spent := *result
	spent.Steps = p.opts.MaxSteps
	return closed, p.assemble(s, &spent), nil
}
