package compile

import (
	"slices"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/internal/engine/bitset"
	"github.com/dovetail-sdk/dovetail/internal/engine/pack"
)

// setFlexible converts Options.SpotFlexibility for the packer.
func (p *Problem) setFlexible() {
	if p.Opts.SpotFlexibility < 2 {
		return
	}
	f := &pack.Flexible{Need: p.Opts.SpotFlexibility, Options: bitset.New(p.Admission.Domains.Total)}
	number := map[*cloudprovider.InstanceType]int32{}
	for i := range p.Pools {
		for j := range p.Pools[i].Options {
			o := &p.Pools[i].Options[j]
			if _, known := number[o.InstanceType]; !known {
				number[o.InstanceType] = int32(len(number))
			}
			f.Kinds = append(f.Kinds, number[o.InstanceType])
			if o.Offering.CapacityType == v1.CapacityTypeSpot {
				f.Options.Add(p.Pools[i].First + j)
			}
		}
	}
	f.Count = len(number)
	p.Flexible = f
}

// A node is launched by the heaviest pools that can serve one of its pods. A node that is to be
// launched anyway is room like any other: pods that heavier pools could serve may fill it, so that
// these pools need not launch nodes for them. That applies to nodes of pods that no heavier pool
// can take in any plan.

// tiers say which tiers pods use.
type tiers struct {
	// Heaviest is, by class, the tier of the heaviest pools with options for its pods, whatever
	// limits leave; -1 if there are none.
	Heaviest []int
	// Anyway are the options of nodes that are launched for pods that no heavier pool can take.
	Anyway bitset.Set
	// Fill says that some pods could be on such nodes as well as on nodes of heavier pools.
	Fill bool
}

// findTiers computes the tiers that pods use.
func (p *Problem) findTiers() {
	t := &p.Tiers
	t.Heaviest, t.Anyway = make([]int, len(p.Classes)), bitset.New(len(p.LowOptions))
	if len(p.LowPools) == 0 || p.LowPools[len(p.LowPools)-1].Tier == 0 {
		return
	}
	asked := map[int32]int{} // by ask: the first class with it
	for c := range p.Classes {
		first, ok := asked[p.Admission.asks[c]]
		if ok {
			t.Heaviest[c] = t.Heaviest[first] // refusals are equal too, because an ask includes them
			continue
		}
		asked[p.Admission.asks[c]], t.Heaviest[c] = c, -1
		if p.Classes[c].Refusal != nil {
			continue
		}
		lowered := p.Admission.Lowered(c)
		for i := range p.Pools {
			here, tier := p.Pools[i].All(), p.LowPools[i].Tier
			here.And(p.Pools[i].Window(lowered))
			if here.Empty() {
				continue
			}
			if t.Heaviest[c] >= 0 && t.Heaviest[c] < tier {
				break
			}
			t.Heaviest[c] = tier
			p.Pools[i].Window(t.Anyway).Or(here)
		}
	}
	for i := range p.Pools {
		anyway := p.Pools[i].All()
		anyway.And(p.Pools[i].Window(t.Anyway))
		for _, c := range asked {
			if t.Heaviest[c] >= 0 && p.LowPools[i].Tier > t.Heaviest[c] && anyway.Overlaps(p.Pools[i].Window(p.Admission.Lowered(c))) {
				t.Fill = true
				return
			}
		}
	}
}

// KeepHeaviest removes from options those of lighter pools if a heavier pool can always launch one of
// the usable options: the pool has no limits, and the offering needs no reservation.
func (p *Problem) KeepHeaviest(options, usable bitset.Set) {
	last := -1
	for i := range p.LowPools {
		low := &p.LowPools[i]
		if last >= 0 && low.Tier > last {
			for o := low.First; o < low.Last; o++ {
				options.Remove(o)
			}
			continue
		}
		for o := low.First; o < low.Last && low.Limits == nil && last < 0; o++ {
			if usable.Has(o) && p.LowOptions[o].Reservation == 0 {
				last = low.Tier
			}
		}
	}
}

// When a new node is bought, what the bought option uses of its pool's limits is reserved. Options
// that use more would need a larger reserve, and none might be left for other nodes. So nodes keep
// to their reserve until all have been bought. Then they share what is left of the limits, and get
// back the options that it allows.

// bindable says whether the new nodes of a pool can exceed its limits: whether one node for each pod
// would exceed them if each node used as much as the largest option.
func (p *Problem) bindable(i int) bool {
	most := p.Catalog.MostUses[i]
	for r, left := range p.Pools[i].Remaining {
		if r < len(most) && most[r] > 0 && left/most[r] < int64(len(p.Pods)) {
			return true
		}
	}
	return false
}

// WithinLimits returns the options of a pool, except those of reservations, that its limits allow in
// addition to new nodes that use planned of each limit.
func (p *Problem) WithinLimits(pool int, planned []int64) bitset.Set {
	low, out := &p.LowPools[pool], bitset.New(len(p.LowOptions))
	left := slices.Clone(low.Limits)
	for l := range left {
		left[l] -= planned[l]
	}
	for o := low.First; o < low.Last; o++ {
		if p.LowOptions[o].Reservation == 0 && (left == nil || Within(low.Uses[o-low.First], left)) {
			out.Add(o)
		}
	}
	return out
}
