package provisioning

import "github.com/dovetail-sdk/dovetail/provisioning/internal/bitset"

// keepOffSpot takes the spot options off new nodes that have others too, where
// Options want that: nodes with pods that are to come on other capacity, and nodes
// that name too few instance types to count on spot. The packer sees to both while
// it has a choice; this is for pods that found their place when it had none.
func (a *assembler) keepOffSpot() {
	p := a.p
	if p.opts.CapacityMix == nil && p.flexible == nil {
		return
	}
	a.findClasses()
	few, steady := map[*shape]bool{}, map[*shape]*shape{}
	for _, s := range a.new {
		tooFew, ok := few[s.shape]
		if !ok {
			tooFew = p.tooFewKinds(s.shape.options)
			few[s.shape] = tooFew
		}
		if !tooFew && !a.avoidsSpot(s) {
			continue
		}
		known, ok := steady[s.shape]
		if !ok {
			known = a.withoutSpot(s.shape)
			steady[s.shape] = known
		}
		s.shape = known
	}
}

// spared are those of some options of a pool that a new node may name: if they are
// of too few instance types to count on spot, those that are none, where there are
// any.
func (p *Problem) spared(pool int, options bitset.Set) bitset.Set {
	if len(p.minValues[pool]) > 0 || !p.tooFewKinds(options) {
		return options
	}
	if rest := p.steadyOptions(options); !rest.Empty() {
		return rest
	}
	return options
}

// avoidsSpot says whether a pod on a new node is to come on other capacity.
func (a *assembler) avoidsSpot(s *site) bool {
	for _, rank := range s.ranks {
		if a.p.classes[a.classOf[rank]].noSpot {
			return true
		}
	}
	return false
}

// tooFewKinds says whether spot options are of fewer instance types than are to be
// named.
func (p *Problem) tooFewKinds(options bitset.Set) bool {
	if p.flexible == nil {
		return false
	}
	kinds := map[int32]bool{}
	for o := range options.All() {
		if p.flexible.Options.Has(o) {
			kinds[p.flexible.Kinds[o]] = true
		}
	}
	return len(kinds) > 0 && len(kinds) < p.flexible.Need
}

// withoutSpot returns a shape without its spot options, or the shape itself if it
// has no others, or too few for the minValues of its pool.
func (a *assembler) withoutSpot(s *shape) *shape {
	rest := a.p.steadyOptions(s.options)
	if rest.Empty() || rest.Equal(s.options) || !s.relaxed && !a.p.choice(s.pool, rest, s.trait) {
		return s
	}
	return a.newShape(s.pool, rest, s.trait, s.asked, s.relaxed)
}
