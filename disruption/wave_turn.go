package disruption

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"time"
)

// WaveState is what became of a node so far.
type WaveState string

// The states. A node of which nothing is said is pending.
const (
	// WavePending: nothing was begun.
	WavePending WaveState = "pending"
	// WaveReplacing: its replacement was begun.
	WaveReplacing WaveState = "replacing"
	// WaveDone: it is replaced, or gone for another reason.
	WaveDone WaveState = "done"
)

// WaveStatus is what became of a node so far.
type WaveStatus struct {
	// Node is its name.
	Node string
	// State is how far it is.
	State WaveState
	// Ended is when it was done.
	Ended time.Time
}

// WaveHold says why no node of a pool may begin.
type WaveHold string

// The holds.
const (
	// WaveFree: nodes may begin.
	WaveFree WaveHold = ""
	// WaveHalted: too many replacements failed one after the other. It ends
	// when one succeeds, or the caller drops the attempts.
	WaveHalted WaveHold = "halted"
	// WaveBackingOff: a replacement has failed a short time ago.
	WaveBackingOff WaveHold = "backing-off"
	// WaveSoaking: the wave before is done, and is being watched.
	WaveSoaking WaveHold = "soaking"
	// WaveRunning: all nodes of the wave have begun and not all are done.
	WaveRunning WaveHold = "running"
	// WaveOver: all nodes of the pool are done.
	WaveOver WaveHold = "over"
)

// WaveTurn is what a pool may do now.
type WaveTurn struct {
	// NodePool is the pool.
	NodePool string
	// Wave is the number of the wave that it is in, the last one when all is
	// over.
	Wave int
	// Begin are the nodes that may begin, as far as budgets let them, in order.
	// Those whose replacement failed are among them: they are pending again.
	Begin []string
	// Hold is why there are none.
	Hold WaveHold
	// Until is when the hold ends by time alone, zero if it does not.
	Until time.Time
}

// WaveInput is a rollout under way.
type WaveInput struct {
	// Waves are what PlanWaves returned, in any order.
	Waves []Wave
	// Status says what became of nodes so far, in any order.
	Status []WaveStatus
	// Attempts has for each pool the replacements that came to an end, those
	// that failed and those that did not, in any order.
	Attempts map[string][]WaveAttempt
}

// NextWaves says for each pool which nodes may begin now. Turns are sorted by
// pool.
//
// The wave that a pool is in is the first that has a node which is not done.
// What holds it, the first that applies: too many failures in a row, back-off,
// the soak time after the wave before. The soak time counts from the last Ended
// of the earlier waves.
//
// The error joins all faults: of the options, a node in two waves, waves out of
// order, and a status for a node that is in none or has two.
func NextWaves(now time.Time, in WaveInput, opts *WaveOptions) ([]WaveTurn, error) {
	o := opts.settle()
	by, errs := indexWaves(in.Waves, in.Status)
	if err := errors.Join(append(o.validate(), errs...)...); err != nil {
		return nil, err
	}
	sorted := slices.Clone(in.Waves)
	slices.SortFunc(sorted, func(a, b Wave) int {
		return cmp.Or(cmp.Compare(a.NodePool, b.NodePool), cmp.Compare(a.Number, b.Number))
	})
	var out []WaveTurn
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
func (o *WaveOptions) turn(now time.Time, waves []Wave, by map[string]WaveStatus, attempts []WaveAttempt) WaveTurn {
	t := WaveTurn{NodePool: waves[0].NodePool, Hold: WaveOver}
	var ended time.Time
	running := false
	for _, w := range waves {
		t.Wave = w.Number
		var last time.Time
		for _, name := range w.Nodes {
			switch s := by[name]; s.State {
			case WaveDone:
				if s.Ended.After(last) {
					last = s.Ended
				}
			case WaveReplacing:
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
		t.Hold = WaveRunning
	case len(t.Begin) == 0:
	case o.MaxFailures > 0 && waveFailures(attempts) >= o.MaxFailures:
		t.Hold = WaveHalted
	case now.Before(until):
		t.Hold, t.Until = WaveBackingOff, until
	case !ended.IsZero() && now.Before(soaked):
		t.Hold, t.Until = WaveSoaking, soaked
	default:
		t.Hold = WaveFree
	}
	if t.Hold != WaveFree {
		t.Begin = nil
	}
	return t
}

// indexWaves is the status by node.
func indexWaves(waves []Wave, status []WaveStatus) (map[string]WaveStatus, []error) {
	var errs []error
	in := map[string]bool{}
	numbers := map[string]map[int]bool{}
	for i, w := range waves {
		if numbers[w.NodePool] == nil {
			numbers[w.NodePool] = map[int]bool{}
		}
		if w.Number < 1 || numbers[w.NodePool][w.Number] {
			errs = append(errs, fmt.Errorf("waves[%d].number: %d is not positive, or pool %q has it twice; use what PlanWaves returned", i, w.Number, w.NodePool))
		}
		numbers[w.NodePool][w.Number] = true
		for _, name := range w.Nodes {
			if in[name] {
				errs = append(errs, fmt.Errorf("waves[%d].nodes: %q is in two places; use what PlanWaves returned", i, name))
			}
			in[name] = true
		}
	}
	by := make(map[string]WaveStatus, len(status))
	for i, s := range status {
		_, twice := by[s.Node]
		switch s.State {
		case "", WavePending, WaveReplacing, WaveDone:
		default:
			errs = append(errs, fmt.Errorf("status[%d].state: %q is not known; use %s, %s or %s", i, s.State, WavePending, WaveReplacing, WaveDone))
		}
		if twice || !in[s.Node] {
			errs = append(errs, fmt.Errorf("status[%d].node: %q is in no wave or listed twice; plan the waves anew, or list it once", i, s.Node))
		}
		by[s.Node] = s
	}
	return by, errs
}
