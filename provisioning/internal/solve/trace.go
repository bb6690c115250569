package solve

import (
	"github.com/dovetail-sdk/dovetail/provisioning/internal/compile"
	"github.com/dovetail-sdk/dovetail/provisioning/internal/model"
)

// came tells the trace what a strategy came to.
func came(p *compile.Problem, name string, plan *Solution) {
	if t := p.Opts.Trace; t != nil && t.After != nil {
		t.After(name, model.Score{Left: len(plan.Unplaced), Cost: plan.Cost})
	}
}

// came tells the trace what a pass came to.
func (a *assembler) came(name string) {
	t := a.p.Opts.Trace
	if t == nil || t.After == nil {
		return
	}
	s := model.Score{}
	for _, placed := range a.placed {
		if !placed {
			s.Left++
		}
	}
	for _, n := range a.new {
		s.Cost += n.BinType.Price()
	}
	t.After(name, s)
}
