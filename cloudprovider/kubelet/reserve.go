package kubelet

import (
	"math"
	"math/bits"
)

// whole is the share of 100%.
const whole = 10_000

// Tier is one step of a Curve.
type Tier struct {
	// UpTo is the end of the tier, in the unit of the resource: 4 GiB of memory, 1000 milli-CPU.
	// Zero means no end, and is for the last tier.
	UpTo int64
	// Share is the reserved part of the amount within the tier, of 10,000.
	Share int64
}

// Curve reserves shares of an amount that change with its size: each tier reserves its share of the
// part of the amount within the tier. The tiers are in the order of UpTo. Beyond the last one
// nothing is reserved. The zero Curve reserves nothing.
type Curve []Tier

// Of returns the sum over the tiers, each rounded down to a whole unit.
func (c Curve) Of(amount int64) int64 {
	var total, from int64
	for _, t := range c {
		to := amount
		if t.UpTo > 0 {
			to = min(amount, t.UpTo)
		}
		total = plus(total, share(to-from, t.Share, whole, false))
		from = max(from, to)
	}
	return total
}

// Reserve is the rule for the reserved amount of one resource, in the unit of the resource:
// milli-CPU or bytes. The zero Reserve reserves nothing.
type Reserve struct {
	// Flat is reserved on every node.
	Flat int64
	// PerPod is reserved for each pod that the node may run.
	PerPod int64
	// Curve is reserved in addition, by the capacity of the node.
	Curve Curve

	// Max bounds the sum. Zero is no bound.
	Max int64
	// MaxShare bounds the sum by a part of the capacity, of 10,000, rounded
	// down. Zero is no bound.
	MaxShare int64

	// Small is the whole reserve on nodes with a capacity below SmallBelow.
	Small, SmallBelow int64
}

// Of returns the reserve of a node with this capacity and number of pods:
//
//  1. Small, if capacity is below SmallBelow;
//  2. else Flat, and PerPod for each pod, and Curve of the capacity,
//  3. at most Max and MaxShare of the capacity, where they are set.
func (r Reserve) Of(capacity, pods int64) int64 {
	capacity, pods = max(capacity, 0), max(pods, 0)
	if capacity < r.SmallBelow {
		return max(r.Small, 0)
	}
	kept := plus(max(r.Flat, 0), times(r.PerPod, pods))
	kept = plus(kept, r.Curve.Of(capacity))
	if r.Max > 0 {
		kept = min(kept, r.Max)
	}
	if r.MaxShare > 0 {
		kept = min(kept, share(capacity, r.MaxShare, whole, false))
	}
	return kept
}

// share returns amount*num/den without intermediate overflow. Amounts and shares below zero count
// as zero.
func share(amount, num, den int64, up bool) int64 {
	if amount <= 0 || num <= 0 {
		return 0
	}
	hi, lo := bits.Mul64(uint64(amount), uint64(num))
	if hi >= uint64(den) {
		return math.MaxInt64
	}
	quotient, rest := bits.Div64(hi, lo, uint64(den))
	if up && rest > 0 {
		quotient++
	}
	return int64(min(quotient, math.MaxInt64))
}

// plus adds two amounts that are not negative.
func plus(a, b int64) int64 {
	if a > math.MaxInt64-b {
		return math.MaxInt64
	}
	return a + b
}

// times multiplies two amounts; negative ones count as zero.
func times(a, b int64) int64 { return share(a, b, 1, false) }
