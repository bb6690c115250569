package observe

import (
	"cmp"
	"slices"
	"sync"
	"time"
)

// Tally counts calls. Its method Sink is a sink for Wrap. The zero Tally is
// ready to use, by any number of goroutines. It must not be copied.
type Tally struct {
	mu      sync.Mutex
	running map[Op]int
	ended   map[tallyKey]Count
}

type tallyKey struct {
	op      Op
	outcome string
}

// Count is how calls of one operation ended in one way.
type Count struct {
	// Op and Outcome say which; see Ended.Outcome.
	Op      Op
	Outcome string
	// Calls is how many.
	Calls int
	// Total and Longest are the sum of their durations and the greatest.
	Total, Longest time.Duration
}

// Sink counts an event.
func (t *Tally) Sink(e Event) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.ended == nil {
		t.running, t.ended = map[Op]int{}, map[tallyKey]Count{}
	}
	switch e := e.(type) {
	case Started:
		t.running[e.Op]++
	case Ended:
		t.running[e.Op]--
		k := tallyKey{e.Op, e.Outcome()}
		c := t.ended[k]
		c.Op, c.Outcome = k.op, k.outcome
		c.Calls++
		c.Total += e.Duration
		c.Longest = max(c.Longest, e.Duration)
		t.ended[k] = c
	}
}

// Counts returns what was counted so far, sorted by operation and outcome. The
// slice is the caller's.
func (t *Tally) Counts() []Count {
	t.mu.Lock()
	defer t.mu.Unlock()
	out := make([]Count, 0, len(t.ended))
	for _, c := range t.ended {
		out = append(out, c)
	}
	slices.SortFunc(out, func(a, b Count) int { return cmp.Or(cmp.Compare(a.Op, b.Op), cmp.Compare(a.Outcome, b.Outcome)) })
	return out
}

// Running returns how many calls of the operation have begun and not ended.
func (t *Tally) Running(op Op) int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.running[op]
}
