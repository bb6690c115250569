package retry

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"time"

	"github.com/dovetail-sdk/dovetail/cloudprovider"
)

// Rule says what to do about failures of one kind. The zero Rule repeats at
// once, for ever.
type Rule struct {
	// GiveUp says not to repeat at all.
	GiveUp bool
	// Base is the pause after the first failure. It doubles with each further
	// attempt.
	Base time.Duration
	// Max bounds the pause, before jitter. Zero is no bound but the greatest
	// Duration.
	Max time.Duration
	// Attempts is how many attempts to make in all. Zero is no bound.
	Attempts int
}

// Policy says when to repeat what failed. It is a value; callers may change the
// copy that Default returns. The zero Policy never repeats.
type Policy struct {
	// Rules are the rules by kind. A kind that is missing has the rule of
	// cloudprovider.KindUnknown; if that is missing too, it is given up.
	Rules map[cloudprovider.Kind]Rule
	// Jitter lengthens each pause by up to this fraction of it, so that calls
	// which failed together are not repeated together. From 0 to 1.
	Jitter float64
	// Seed sets the jitter apart; see For.
	Seed uint64
}

// Default returns a policy that follows what each kind asks for:
//
//	NotFound, Denied, Unsupported   give up: it will not work
//	InsufficientCapacity            give up: mark the offerings and decide anew
//	NotReady                        5 s, doubling to 1 min
//	Throttled                       1 s, doubling to 1 min
//	unknown                         500 ms, doubling to 30 s
//
// with a jitter of 0.2 and no bound on attempts. The map is the caller's.
func Default() Policy {
	return Policy{
		Rules: map[cloudprovider.Kind]Rule{
			cloudprovider.KindUnknown:              {Base: 500 * time.Millisecond, Max: 30 * time.Second},
			cloudprovider.KindNotFound:             {GiveUp: true},
			cloudprovider.KindInsufficientCapacity: {GiveUp: true},
			cloudprovider.KindNotReady:             {Base: 5 * time.Second, Max: time.Minute},
			cloudprovider.KindDenied:               {GiveUp: true},
			cloudprovider.KindThrottled:            {Base: time.Second, Max: time.Minute},
			cloudprovider.KindUnsupported:          {GiveUp: true},
		},
		Jitter: 0.2,
	}
}

// For returns p with the token mixed into the seed: the token of a
// LaunchRequest, the ID of an instance. Calls with different tokens have
// different jitter.
func (p Policy) For(token string) Policy {
	// FNV-1a, over the seed that was there.
	sum := p.Seed ^ 14695981039346656037
	for i := range len(token) {
		sum = (sum ^ uint64(token[i])) * 1099511628211
	}
	p.Seed = sum
	return p
}

// Next says what to do after an attempt that failed with err. Attempts count
// from 1; anything below is taken for 1. In this order:
//
//  1. A nil err, or one that wraps context.Canceled, is given up: there is
//     nothing to repeat, or nobody who waits.
//  2. The rule of cloudprovider.KindOf(err) may say to give up, at once or
//     after so many attempts.
//  3. Otherwise delay is Base, doubled for each attempt before this one, at the
//     most Max; or what the cloud asks for (cloudprovider.RetryAfter), if that
//     is longer; plus jitter.
//
// When giveUp is true, delay is zero.
func (p Policy) Next(attempt int, err error) (delay time.Duration, giveUp bool) {
	if err == nil || errors.Is(err, context.Canceled) {
		return 0, true
	}
	attempt = max(attempt, 1)
	rule, found := p.Rules[cloudprovider.KindOf(err)]
	if !found {
		rule, found = p.Rules[cloudprovider.KindUnknown]
	}
	if !found || rule.GiveUp || rule.Attempts > 0 && attempt >= rule.Attempts {
		return 0, true
	}
	delay = max(rule.pause(attempt), cloudprovider.RetryAfter(err))
	return p.jittered(delay, attempt), false
}

// pause returns Base doubled for each attempt but the first, up to Max.
func (r Rule) pause(attempt int) time.Duration {
	limit := r.Max
	if limit <= 0 {
		limit = math.MaxInt64
	}
	pause := min(max(r.Base, 0), limit)
	for ; attempt > 1 && pause > 0 && pause < limit; attempt-- {
		if pause > limit/2 {
			return limit
		}
		pause *= 2
	}
	return pause
}

// jittered lengthens a pause.
func (p Policy) jittered(d time.Duration, attempt int) time.Duration {
	if !(p.Jitter > 0 && p.Jitter <= 1) {
		return d
	}
	// One step of SplitMix64, whose outputs are spread evenly over close
	// inputs. The upper 53 bits make a number from 0 up to 1.
	z := p.Seed + uint64(attempt)*0x9e3779b97f4a7c15
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	z ^= z >> 31
	share := float64(z>>11) / (1 << 53)
	extra := float64(d) * p.Jitter * share
	if extra >= float64(math.MaxInt64-d) {
		return math.MaxInt64
	}
	return d + time.Duration(extra)
}

// Validate returns nil if the policy can be used, and otherwise an error that
// lists every fault, the rules by kind.
func (p Policy) Validate() error {
	var faults []error
	fault := func(format string, args ...any) {
		faults = append(faults, fmt.Errorf("retry policy: "+format, args...))
	}
	for _, kind := range slices.Sorted(maps.Keys(p.Rules)) {
		r := p.Rules[kind]
		if r.Base < 0 {
			fault("%s: base: %v; use zero or more", kind, r.Base)
		}
		if r.Max < 0 || r.Max > 0 && r.Max < r.Base {
			fault("%s: max: %v; use at least base, %v, or zero for no bound", kind, r.Max, r.Base)
		}
		if r.Attempts < 0 {
			fault("%s: attempts: %d; use a number above zero, or zero for no bound", kind, r.Attempts)
		}
	}
	if !(p.Jitter >= 0 && p.Jitter <= 1) {
		fault("jitter: %v; use a fraction from 0 to 1", p.Jitter)
	}
	return errors.Join(faults...)
}
