package disruption

import "time"

// required is what an action on some nodes must save at least, in USD per hour:
// the most that Options asks for.
func (f *Fleet) required(targets []*member, totals map[string]poolTotals) float64 {
	units, score := evictionUnits(0), 0.0
	for _, m := range targets {
		units += oneEviction + m.cost
		score += f.opts.MinimumScore * totals[m.poolName].unit * (oneEviction + m.cost).float()
	}
	return max(f.opts.MinimumSaving, f.opts.MinimumShare*priceOf(targets), f.opts.DisruptionPrice*units.float(), score)
}

// young is when a node becomes old enough to be removed to save money, zero if it
// is.
func (f *Fleet) young(m *member) time.Time {
	if f.opts.MinimumAge <= 0 || m.NodeClaim == nil {
		return time.Time{}
	}
	if old := m.NodeClaim.CreationTimestamp.Add(f.opts.MinimumAge); old.After(f.now) {
		return old
	}
	return time.Time{}
}

// shortagesEnd is when the first of the shortages ceases to count.
func (f *Fleet) shortagesEnd() time.Time {
	var first time.Time
	for _, s := range f.in.Shortages {
		if end := s.At.Add(f.opts.ShortageHold); end.After(f.now) {
			first = sooner(first, end)
		}
	}
	return first
}
