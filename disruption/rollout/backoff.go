package rollout

import (
	"cmp"
	"fmt"
	"hash/fnv"
	"slices"
	"strconv"
	"time"
)

// Backoff is how long a pool waits after a replacement has failed. It keeps
// one failing pool from being tried over and over while others wait. The zero
// value waits for about 1, 2, 4, 8 and then 10 minutes.
type Backoff struct {
	// Base is the first wait; each further one is twice as long. Default one
	// minute.
	Base time.Duration
	// Max is the longest wait. Default 10 minutes, or Base if that is longer.
	Max time.Duration
	// Exact turns jitter off. Otherwise a wait is between half of what it would
	// be and all of it, depending on the name of the pool and how often it has
	// failed, so that pools which failed together are not retried together.
	Exact bool
}

// settle returns the back-off with all defaults.
func (b Backoff) settle() Backoff {
	b.Base = cmp.Or(b.Base, time.Minute)
	b.Max = cmp.Or(b.Max, max(10*time.Minute, b.Base))
	return b
}

func (b *Backoff) validate() (errs []error) {
	if b.Base < 0 {
		errs = append(errs, fmt.Errorf("options.backoff.base: %s must not be negative; zero is 1m0s", b.Base))
	}
	if b.Max < b.Base {
		errs = append(errs, fmt.Errorf("options.backoff.max: %s must not be less than base, %s", b.Max, b.Base))
	}
	return errs
}

// Attempt is a replacement that came to an end.
type Attempt struct {
	// At is when that was known.
	At time.Time
	// Failed is whether it failed.
	Failed bool
}

// Wait is how long a pool waits after it has failed at a level, which counts
// from 1. Level 0 does not wait. Negative times of the back-off count as zero.
func (b Backoff) Wait(pool string, level int) time.Duration {
	if level <= 0 {
		return 0
	}
	b = b.settle()
	d := max(b.Base, 0)
	for ; level > 1 && d < b.Max; level-- {
		if d > b.Max/2 {
			d = b.Max
			break
		}
		d *= 2
	}
	d = max(min(d, b.Max), 0)
	if b.Exact {
		return d
	}
	h := fnv.New32a()
	_, _ = h.Write([]byte(pool + "\x00" + strconv.FormatInt(int64(d), 10))) // a hash takes all
	// In steps of 1/1024, to stay within 64 bits for centuries.
	return d/2 + d/2/1024*time.Duration(h.Sum32()%1025)
}

// Until is when a pool may be tried again after what became of it so far, and
// at which level it is. It is zero if the last attempt succeeded, or there was
// none; a time that has passed is no bound either.
//
// Attempts are taken by time, at the same time failures first. A success ends
// the back-off. A failure raises the level by one and begins a new wait, unless
// it comes while one lasts: replacements that failed together count as one.
func (b Backoff) Until(pool string, attempts []Attempt) (until time.Time, level int) {
	for _, a := range sortedAttempts(attempts) {
		switch {
		case !a.Failed:
			until, level = time.Time{}, 0
		case !a.At.Before(until):
			level++
			until = a.At.Add(b.Wait(pool, level))
		}
	}
	return until, level
}

// sortedAttempts are the attempts in the order in which they count.
func sortedAttempts(attempts []Attempt) []Attempt {
	sorted := slices.Clone(attempts)
	slices.SortFunc(sorted, func(a, b Attempt) int {
		if c := a.At.Compare(b.At); c != 0 || a.Failed == b.Failed {
			return c
		}
		if a.Failed {
			return -1
		}
		return 1
	})
	return sorted
}

// failuresInARow is how many attempts failed since the last that did not.
func failuresInARow(attempts []Attempt) (n int) {
	for _, a := range sortedAttempts(attempts) {
		if n++; !a.Failed {
			n = 0
		}
	}
	return n
}
