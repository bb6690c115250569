package provisioning

import (
	"context"
	"slices"

	"github.com/dovetail-sdk/dovetail/internal/engine/bitset"
	"github.com/dovetail-sdk/dovetail/internal/engine/compile"
	"github.com/dovetail-sdk/dovetail/internal/engine/model"
)

// SolveWithoutPreferences returns the plan that Solve holds its own against: with no
// preference followed. The share is how much more that one may cost; 0 if no
// preference is worth its price on paper.
func (p *Problem) SolveWithoutPreferences(ctx context.Context) (plan *Plan, share float64, err error) {
	s, share, err := p.solver.WithoutPreferences(ctx)
	if s == nil || err != nil {
		return nil, 0, err
	}
	return p.publish(s), share, nil
}

// SolveOnce packs the problem once, and returns the plan with and without a look at
// nodes that can be taken out of it again.
func (p *Problem) SolveOnce(ctx context.Context) (closed, open *Plan, err error) {
	c, o, err := p.solver.Once(ctx)
	if err != nil {
		return nil, nil, err
	}
	return p.publish(c), p.publish(o), nil
}

// LeftOut lists the strategies and passes that SolveWithout can leave out.
func LeftOut() []string { return model.LeftOut() }

// SolveWithout is Solve with some strategies and passes left out. It returns the names
// of those that it came to, and those that said what they came to.
func SolveWithout(ctx context.Context, in Input, opts *Options, names ...string) (plan *Plan, asked, after map[string]bool, err error) {
	asked, after = map[string]bool{}, map[string]bool{}
	t := &model.Trace{Off: map[string]bool{}, Asked: func(name string) { asked[name] = true }, After: func(name string, _ model.Score) { after[name] = true }}
	for _, name := range names {
		t.Off[name] = true
	}
	o := Options{}
	if opts != nil {
		o = *opts
	}
	o.trace = t
	plan, err = Solve(ctx, in, &o)
	return plan, asked, after, err
}

// CompareFilters calls options, for each class and pool, with the options that the filters leave for
// explanations, and with those that the packer gets for a pod alone; and node, for each class and
// existing node, with the cause for which the node excludes the class and whether admission admits it.
func (p *Problem) CompareFilters(options func(class, pool int, explained, packed []int), node func(class int, node, cause string, admits bool)) {
	of := p.compiled
	for c := range of.Classes {
		class := &of.Classes[c]
		if class.Refusal != nil {
			continue
		}
		for i := range of.Pools {
			if len(of.Pools[i].Options) == 0 {
				continue
			}
			explained := bitset.New(len(of.LowOptions))
			for _, alt := range class.Alternatives {
				ask := compile.Ask{Alternative: alt, Tolerations: class.Tolerations, Class: c, Request: of.OfResources(of.Requests[c])}
				if n := of.Narrow(i, &ask); n.Filter == compile.Admitted {
					explained.Or(n.Options)
				}
			}
			packed := bitset.New(len(of.LowOptions))
			packed.AddRange(of.Pools[i].First, of.Pools[i].Last())
			packed.And(of.Admission.Lowered(c))
			options(c, i, slices.Collect(explained.All()), slices.Collect(packed.All()))
		}
		for i := range of.Nodes {
			n := &of.Nodes[i]
			node(c, n.Name(), string(of.Excluded(c, n)), of.Admits(c, n))
		}
	}
}
