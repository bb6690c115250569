package pack

// effort is how much of a greedy run is search.
type effort struct {
	// awake is how many candidates are looked at while prices stay the same. Where
	// prices are duals every candidate worth buying has the same ceiling, so that
	// many more are near it than can be the best.
	awake int
	// repriceShare is the share of what is left after whose purchase prices are asked for
	// again, if that is at least the share called tail of what there was at first.
	repriceShare, tail float64
	// pivots bounds the simplex behind each asking; duals are near their optimum
	// long before.
	pivots int
	// sample is how many entries a fill weighs against each other.
	sample int
	// exchanges says whether fills are improved by exchanging pods.
	exchanges bool
}

// coarse is the search of a coarse problem. It was found by trying: with fewer
// candidates awake, or prices asked for less often, cost goes up faster than time goes
// down.
func coarse() effort {
	return effort{awake: 12, repriceShare: 0.35, tail: 0.02, pivots: 200, sample: 80}
}

// effort returns how much search a problem gets.
func (p *Problem) effort() effort {
	if p.Coarse {
		return coarse()
	}
	return effort{awake: 24, repriceShare: 0.16, tail: 0.02, pivots: maxPivots, sample: 160, exchanges: true}
}

// sampleFrom is the number of entries from which they are sampled.
func (e *effort) sampleFrom() int { return 2 * e.sample }
