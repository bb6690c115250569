package rollout

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"time"
)

// State is what became of a node so far.
type State string

// The states. A node of which nothing is said is pending.
const (
	// Pending: nothing was begun.
	Pending State = "pending"
	// Replacing: its replacement was begun.
	Replacing State = "replacing"
	// Done: it is replaced, or gone for another reason.
	Done State = "done"
)

// Status is what became of a node so far.
type Status struct {
	// Node is its name.
	Node string
	// State is how far it is.
	State State
	// Ended is when it was done.
	Ended time.Time
}

// Hold says why no node of a pool may begin.
type Hold string

// The holds.
const (
	// Free: nodes may begin.
	Free Hold = ""
	// Halted: too many replacements failed one after the other. It ends
	// when one succeeds, or the caller drops the attempts.
	Halted Hold = "halted"
	// BackingOff: a replacement has failed a short time ago.
	BackingOff Hold = "backing-off"
	// Soaking: the wave before is done, and is being watched.
	Soaking Hold = "soaking"
	// Running: all nodes of the wave have begun and not all are done.
	Running Hold = "running"
	// Over: all nodes of the pool are done.
	Over Hold = "over"
)

// Turn is what a pool may do now.
type Turn struct {
	// NodePool is the pool.
	NodePool string
	// Wave is the number of the wave that it is in, the last one when all is
	// over.
	Wave int
	// Begin are the nodes that may begin, as far as budgets let them, in order.
	// Those whose replacement failed are among them: they are pending again.
	Begin []string
	// Hold is why there are none.
	Hold Hold
	// Until is when the hold ends by time alone, zero if it does not.
	Until time.Time
}

// Input is a rollout under way.
type Input struct {
	// Waves are what Waves returned, in any order.
	Waves []Wave
	// Status says what became of nodes so far, in any order.
	Status []Status
	// Attempts has for each pool the replacements that came to an end, those
	// that failed and those that did not, in any order.
	Attempts map[string][]Attempt
}

// Next says for each pool which nodes may begin now. Turns are sorted by
// pool.
//
// The wave that a pool is in is the first that has a node which is not done.
// What holds it, the first that applies: too many failures in a row, back-off,
// the soak time after the wave before. The soak time counts from the last Ended
// of the earlier waves.
//
// The error joins all faults: of the options, a node in two waves, waves out of
// order, and a status for a node that is in none or has two.
func Next(now time.Time, in Input, opts *Options) ([]Turn, error) {
	o := opts.settle()
	by, errs := index(in.Waves, in.Status)
	if err := errors.Join(append(o.validate(), errs...)...); err != nil {
		return nil, err
	}
	sorted := slices.Clone(in.Waves)
	slices.SortFunc(sorted, func(a, b Wave) int {
		return cmp.Or(cmp.Compare(a.NodePool, b.NodePool), cmp.Compare(a.Number, b.Number))
	})
	var out []Turn
	for len(sorted) > 0 {
		n := slices.IndexFunc(sorted, func(w Wave) bool { return w.NodePool != sorted[0].NodePool })
		if n < 0 {
			n = len(sorted)
		}
		out = append(out, o.turn(now, sorted[:n], by, in.Attempts[sorted[0].NodePool]))
		sorted = sorted[n:]
	}
	return out, nil
}

// turn is what a pool may do.
func (o *Options) turn(now time.Time, waves []Wave, by map[string]Status, attempts []Attempt) Turn {
	t := Turn{NodePool: waves[0].NodePool, Hold: Over}
	var ended time.Time
	running := false
	for _, w := range waves {
		t.Wave = w.Number
		var last time.Time
		for _, name := range w.Nodes {
			switch s := by[name]; s.State {
			case Done:
				if s.Ended.After(last) {
					last = s.Ended
				}
			case Replacing:
				running = true
			default:
				t.Begin = append(t.Begin, name)
			}
		}
		if running || len(t.Begin) > 0 {
			break
		}
		if last.After(ended) {
			ended = last
		}
	}
	until, _ := o.Backoff.Until(t.NodePool, attempts)
	soaked := ended.Add(o.Soak)
	switch {
	case len(t.Begin) == 0 && running:
		t.Hold = Running
	case len(t.Begin) == 0:
	case o.MaxFailures > 0 && failuresInARow(attempts) >= o.MaxFailures:
		t.Hold = Halted
	case now.Before(until):
		t.Hold, t.Until = BackingOff, until
	case !ended.IsZero() && now.Before(soaked):
		t.Hold, t.Until = Soaking, soaked
	default:
		t.Hold = Free
	}
	if t.Hold != Free {
		t.Begin = nil
	}
	return t
}

// index is the status by node.
func index(waves []Wave, status []Status) (map[string]Status, []error) {
	var errs []error
	in := map[string]bool{}
	numbers := map[string]map[int]bool{}
	for i, w := range waves {
		if numbers[w.NodePool] == nil {
			numbers[w.NodePool] = map[int]bool{}
		}
		if w.Number < 1 || numbers[w.NodePool][w.Number] {
			errs = append(errs, fmt.Errorf("waves[%d].number: %d is not positive, or pool %q has it twice; use what Waves returned", i, w.Number, w.NodePool))
		}
		numbers[w.NodePool][w.Number] = true
		for _, name := range w.Nodes {
			if in[name] {
				errs = append(errs, fmt.Errorf("waves[%d].nodes: %q is in two places; use what Waves returned", i, name))
			}
			in[name] = true
		}
	}
	by := make(map[string]Status, len(status))
	for i, s := range status {
		_, twice := by[s.Node]
		switch s.State {
		case "", Pending, Replacing, Done:
		default:
			errs = append(errs, fmt.Errorf("status[%d].state: %q is not known; use %s, %s or %s", i, s.State, Pending, Replacing, Done))
		}
		if twice || !in[s.Node] {
			errs = append(errs, fmt.Errorf("status[%d].node: %q is in no wave or listed twice; plan the waves anew, or list it once", i, s.Node))
		}
		by[s.Node] = s
	}
	return by, errs
}
