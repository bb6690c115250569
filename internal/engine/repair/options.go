package repair

import (
	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/internal/engine/bitset"
	"github.com/dovetail-sdk/dovetail/internal/engine/compile"
	"github.com/dovetail-sdk/dovetail/internal/engine/ledger"
	"github.com/dovetail-sdk/dovetail/internal/engine/pack"
)

// widest are the options that a new node which takes a pod as well could have but for
// limits, given those that suit the pod.
func widest(p *compile.Problem, s *ledger.BinType, suited bitset.Set, trait int32) bitset.Set {
	if s.Wide == nil {
		return nil
	}
	out := s.Wide.Both(suited)
	p.Pools[s.Pool].Window(out).And(p.Traits.Options(s.Pool, trait))
	return out
}

// widestAlone are the options that a new node for a pod alone could have but for
// limits and reservations, given those that suit the pod.
func widestAlone(p *compile.Problem, pool int, suited bitset.Set) bitset.Set {
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

// maySpot says whether some option is spot.
func maySpot(p *compile.Problem, options bitset.Set) bool {
	for o := range options.All() {
		if p.Option(o).Offering.CapacityType == v1.CapacityTypeSpot {
			return true
		}
	}
	return false
}

// spared are those of some options of a pool that a new node may name: if they are
// of too few instance types to count on spot, those that are none, where there are
// any.
func spared(p *compile.Problem, pool int, options bitset.Set) bitset.Set {
	if len(p.MinValues[pool]) > 0 || !tooFewKinds(p, options) {
		return options
	}
	if rest := p.SteadyOptions(options); !rest.Empty() {
		return rest
	}
	return options
}

// tooFewKinds says whether spot options are of fewer instance types than are to be
// named.
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

// mostUses is what a launch of the largest of some options takes of each limited
// resource.
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
