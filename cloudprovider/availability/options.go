package availability

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"time"
)

// Options tune a Cache. The zero value, and nil, mean the
// defaults.
type Options struct {
	// TTL is how long a mark lasts. Default and zero: 3 minutes. Shorter finds
	// returning stock sooner and fails more often; longer launches dearer
	// machines for longer. Not negative.
	TTL time.Duration

	// TTLByReason is how long marks for certain reasons last, such as an hour for a quota that only
	// a person can raise. Other reasons have TTL. A time below TTL does not grow: it is for facts
	// that the cloud soon reports itself, such as the free count of a reservation. Above zero. The
	// map is copied.
	TTLByReason map[string]time.Duration

	// MaxTTL bounds the growth of marks. Each time that a scope is refused again while it is
	// remembered (see ForgetAfter), its mark lasts twice as long as the last one, and at most this
	// long; a longer TTL stays as it is. Default and zero: marks do not grow. Not below TTL.
	MaxTTL time.Duration

	// ForgetAfter is how long after the end of its mark a refused scope is
	// remembered, so that its next mark is longer. Of no use without MaxTTL.
	// Default and zero: the longer of MaxTTL and ten times TTL. Not negative.
	ForgetAfter time.Duration

	// MaxMarks is how many scopes are marked or remembered at most. Beyond it, the one that would
	// be forgotten first is dropped; of several with the same time, the first by Scope. Default and
	// zero: 10,000.
	MaxMarks int
}

const (
	defaultTTL      = 3 * time.Minute
	defaultMaxMarks = 10_000
	// rememberedTTLs is how many times TTL a refusal is remembered by default.
	rememberedTTLs = 10
)

// faults collects what is wrong with options.
type faults struct{ errs []error }

func (f *faults) add(format string, args ...any) {
	f.errs = append(f.errs, fmt.Errorf("availability: "+format, args...))
}

func (f *faults) options(o *Options) {
	if o.TTL < 0 {
		f.add("ttl: %v; use a time above zero, or zero for the default", o.TTL)
	}
	for _, reason := range slices.Sorted(maps.Keys(o.TTLByReason)) {
		if ttl := o.TTLByReason[reason]; ttl <= 0 {
			f.add("ttlByReason: %s: %v; use a time above zero", reason, ttl)
		}
	}
	if ttl := cmp.Or(o.TTL, defaultTTL); o.MaxTTL != 0 && o.MaxTTL < ttl {
		f.add("maxTTL: %v; use a time of at least ttl, %v, or zero for marks that do not grow", o.MaxTTL, ttl)
	}
	if o.ForgetAfter < 0 {
		f.add("forgetAfter: %v; use a time above zero, or zero for the default", o.ForgetAfter)
	}
	if o.MaxMarks < 0 {
		f.add("maxMarks: %d; use a number above zero, or zero for the default", o.MaxMarks)
	}
}

// complete fills in the defaults of valid options, and copies the map.
func (o *Options) complete() {
	o.TTL = cmp.Or(o.TTL, defaultTTL)
	o.MaxMarks = cmp.Or(o.MaxMarks, defaultMaxMarks)
	o.TTLByReason = maps.Clone(o.TTLByReason)
	o.ForgetAfter = cmp.Or(o.ForgetAfter, max(o.MaxTTL, product(o.TTL, rememberedTTLs)))
}

// ttl returns how long a mark for the reason lasts after this number of doublings.
func (o *Options) ttl(reason string, doublings int) time.Duration {
	ttl, found := o.TTLByReason[reason]
	switch {
	case !found:
		ttl = o.TTL
	case ttl < o.TTL:
		return ttl
	}
	for ; doublings > 0 && ttl < o.MaxTTL; doublings-- {
		ttl = min(product(ttl, 2), o.MaxTTL)
	}
	return ttl
}

// product returns d times n, or the longest duration if that is shorter.
func product(d time.Duration, n int64) time.Duration {
	if d > math.MaxInt64/time.Duration(n) {
		return math.MaxInt64
	}
	return d * time.Duration(n)
}
