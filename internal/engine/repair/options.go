package repair

import (
	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/internal/engine/bitset"
	"github.com/dovetail-sdk/dovetail/internal/engine/compile"
	"github.com/dovetail-sdk/dovetail/internal/engine/ledger"
	"github.com/dovetail-sdk/dovetail/internal/engine/pack"
)

// optionsIgnoringLimits returns the options that a new node could have with one more pod if there were no limits.
// suited are the options that suit the pod.
func optionsIgnoringLimits(p *compile.Problem, s *ledger.BinType, suited bitset.Set, trait int32) bitset.Set {
	if s.Wide == nil {
		return nil
	}
	out := s.Wide.Both(suited)
	p.Pools[s.Pool].Window(out).And(p.Traits.Options(s.Pool, trait))
	return out
}

// optionsAloneIgnoringLimits returns the options that a new node for one pod alone could have if there were no
// limits and reservations. suited are the options that suit the pod.
func optionsAloneIgnoringLimits(p *compile.Problem, pool int, suited bitset.Set) bitset.Set {
	low := &p.LowPools[pool]
	if low.Limits == nil {
		return nil
	}
	out := bitset.New(len(p.LowOptions))
	out.AddRange(low.First, low.Last)
	out.And(suited)
	for o := range out.All() {
		if p.LowOptions[o].Reservation != 0 {
			out.Remove(o)
		}
	}
	return out
}

// maySpot says whether any option is spot.
func maySpot(p *compile.Problem, options bitset.Set) bool {
	for o := range options.All() {
		if p.Option(o).Offering.CapacityType == v1.CapacityTypeSpot {
			return true
		}
	}
	return false
}

// withoutScarceSpot returns the options of a pool that a new node may have: without the spot options if these
// have too few instance types for spot, and if other options are left.
func withoutScarceSpot(p *compile.Problem, pool int, options bitset.Set) bitset.Set {
	if len(p.MinValues[pool]) > 0 || !tooFewKinds(p, options) {
		return options
	}
	if rest := p.SteadyOptions(options); !rest.Empty() {
		return rest
	}
	return options
}

// tooFewKinds says whether the spot options have fewer instance types than Options.SpotFlexibility
// requires.
func tooFewKinds(p *compile.Problem, options bitset.Set) bool {
	if p.Flexible == nil {
		return false
	}
	kinds := map[int32]bool{}
	for o := range options.All() {
		if p.Flexible.Options.Has(o) {
			kinds[p.Flexible.Kinds[o]] = true
		}
	}
	return len(kinds) > 0 && len(kinds) < p.Flexible.Need
}

// planned returns, by limit of a pool, what those of some bins use that are new nodes of the pool.
func planned(p *compile.Problem, pool int, bins []*ledger.Bin) []int64 {
	low := &p.LowPools[pool]
	sum := make([]int64, len(low.Limits))
	if len(sum) == 0 {
		return sum
	}
	for _, s := range bins {
		if s.Node >= 0 || s.BinType.Pool != pool || len(s.PodIDs) == 0 {
			continue
		}
		for l, n := range mostUses(low, s.BinType.Options) {
			sum[l] += n
		}
	}
	return sum
}

// mostUses returns, for each limit, the largest amount that the launch of one of the options uses.
func mostUses(pool *pack.Pool, options bitset.Set) []int64 {
	most := make([]int64, len(pool.Limits))
	if pool.Uses == nil {
		return most
	}
	for o := range options.All() {
		for r, n := range pool.Uses[o-pool.First] {
			most[r] = max(most[r], n)
		}
	}
	return most
}
