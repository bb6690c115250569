package cloudprovider

import (
	"maps"
	"math"
	"slices"
	"time"
)

// AvailabilityOptions tune an Availability. The zero value, and nil, mean the
// defaults.
type AvailabilityOptions struct {
	// TTL is how long a mark lasts. Default and zero: 3 minutes. Shorter finds
	// returning stock sooner and fails more often; longer launches dearer
	// machines for longer. Not negative.
	TTL time.Duration

	// TTLByReason is how long marks last that are made for certain reasons,
	// such as an hour for a quota that only a person can raise. A reason that
	// is missing has TTL. Above zero. The map is copied.
	TTLByReason map[string]time.Duration

	// Jitter lengthens each mark by a random share of up to this fraction, so
	// that offerings refused together are not tried again together. From 0,
	// the default, to 1.
	Jitter float64

	// Random is the source of jitter, asked once a mark for a number from 0 up
	// to but not including 1. *rand.Rand of math/rand and math/rand/v2 will do;
	// it is never called by two goroutines at once. Required if Jitter is not
	// zero.
	Random interface{ Float64() float64 }

	// MaxMarks bounds the memory. Beyond it, the mark that would end first is
	// dropped; of those that end together, the first by Scope. Default and
	// zero: 10,000, about 2 MB.
	MaxMarks int
}

const (
	defaultTTL      = 3 * time.Minute
	defaultMaxMarks = 10_000
)

func (f *faults) availabilityOptions(o *AvailabilityOptions) {
	if o.TTL < 0 {
		f.add("ttl: %v; use a time above zero, or zero for the default", o.TTL)
	}
	for _, reason := range slices.Sorted(maps.Keys(o.TTLByReason)) {
		if ttl := o.TTLByReason[reason]; ttl <= 0 {
			f.add("ttlByReason: %s: %v; use a time above zero", reason, ttl)
		}
	}
	switch {
	case !(o.Jitter >= 0 && o.Jitter <= 1): // also if it is not a number
		f.add("jitter: %v; use a fraction from 0 to 1", o.Jitter)
	case o.Jitter > 0 && o.Random == nil:
		f.add("random: nil; pass a source of random numbers, or set jitter to zero")
	}
	if o.MaxMarks < 0 {
		f.add("maxMarks: %d; use a number above zero, or zero for the default", o.MaxMarks)
	}
}

// ttl returns how long a mark for the reason lasts, jitter included.
func (o *AvailabilityOptions) ttl(reason string) time.Duration {
	ttl, found := o.TTLByReason[reason]
	if !found {
		ttl = o.TTL
	}
	if o.Jitter == 0 {
		return ttl
	}
	extra := float64(ttl) * o.Jitter * o.Random.Float64()
	if !(extra >= 0 && extra < math.MaxInt64-float64(ttl)) { // a source that breaks its promise
		return ttl
	}
	return ttl + time.Duration(extra)
}
