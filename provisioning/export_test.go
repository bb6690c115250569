package provisioning

import "context"

// SolveWithoutPreferences is the plan that Solve holds its own against: with no
// preference followed. The share is how much more that one may cost; 0 if no
// preference is worth its price on paper.
func (p *Problem) SolveWithoutPreferences(ctx context.Context) (plan *Plan, share float64, err error) {
	if len(p.preferred.classes) == 0 {
		return nil, 0, nil
	}
	s, result, err := p.settle(ctx, p.without(p.first, 0))
	if err != nil {
		return nil, 0, err
	}
	return p.assemble(s, result), p.preferred.share, nil
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

// LeftOut lists the strategies and passes that SolveWithout can leave out.
func LeftOut() []string { return leftOut() }

// SolveWithout is Solve with some strategies and passes left out. It returns the names
// of those that it came to, and those that said what they came to.
func SolveWithout(ctx context.Context, in Input, opts *Options, names ...string) (plan *Plan, asked, after map[string]bool, err error) {
	asked, after = map[string]bool{}, map[string]bool{}
	t := &trace{off: map[string]bool{}, asked: func(name string) { asked[name] = true }, after: func(name string, _ score) { after[name] = true }}
	for _, name := range names {
		t.off[name] = true
	}
	o := Options{}
	if opts != nil {
		o = *opts
	}
	o.trace = t
	plan, err = Solve(ctx, in, &o)
	return plan, asked, after, err
}
