package fake

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/dovetail-sdk/dovetail/cloudprovider"
)

// RateLimit is a bucket of tokens. Each call takes one; a call that finds none
// is turned away with KindThrottled, and with how long to wait for the next. The
// bucket fills by the cloud's clock.
type RateLimit struct {
	// Ops are the calls that share the bucket, such as OpCreate and OpDelete.
	// Empty is all.
	Ops []string
	// Burst is how many tokens the bucket holds; it is full at the start. Above
	// zero.
	Burst int
	// Every is how often a token is added. Above zero.
	Every time.Duration
}

func (r *RateLimit) check(where string) (errs []error) {
	for _, op := range r.Ops {
		if err := knownOp(op); err != nil {
			errs = append(errs, fmt.Errorf("%s.Ops: %w", where, err))
		}
	}
	if r.Burst < 1 {
		errs = append(errs, fmt.Errorf("%s.Burst: %d; use one or more", where, r.Burst))
	}
	if r.Every <= 0 {
		errs = append(errs, fmt.Errorf("%s.Every: %v; use more than zero", where, r.Every))
	}
	return errs
}

// bucket is a RateLimit at work.
type bucket struct {
	limit  RateLimit
	tokens int
	filled time.Time // when the last token was added, or the bucket was full
}

func (b *bucket) fill(now time.Time) {
	added := now.Sub(b.filled) / b.limit.Every
	if room := b.limit.Burst - b.tokens; added >= time.Duration(room) {
		b.tokens, b.filled = b.limit.Burst, now
		return
	}
	b.tokens += int(added)
	b.filled = b.filled.Add(added * b.limit.Every)
}

func (b *bucket) covers(op string) bool {
	return len(b.limit.Ops) == 0 || slices.ContainsFunc(b.limit.Ops, func(o string) bool { return strings.EqualFold(o, op) })
}

// throttle takes a token for a call from each bucket that it is subject to, or
// none and says how long to wait.
func (c *Cloud) throttle(in *call) error {
	wait := time.Duration(0)
	for i := range c.buckets {
		b := &c.buckets[i]
		if !b.covers(in.op) {
			continue
		}
		b.fill(c.now)
		if b.tokens == 0 {
			wait = max(wait, b.filled.Add(b.limit.Every).Sub(c.now))
		}
	}
	if wait > 0 {
		c.stats.Throttled++
		c.record(EventThrottled, in.method(), "%s", joinNonEmpty(in.object, fmt.Sprintf("for %v", wait)))
		return &cloudprovider.Error{Op: in.method(), Kind: cloudprovider.KindThrottled, Object: in.object,
			Reason: "RequestLimitExceeded", RetryAfter: wait, Err: errors.New("too many calls")}
	}
	for i := range c.buckets {
		if c.buckets[i].covers(in.op) {
			c.buckets[i].tokens--
		}
	}
	return nil
}
