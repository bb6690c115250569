package model

// A plan comes of strategies, each of which is another try at the problem, and of
// passes, each of which changes a plan that is being made. The names below are all that
// may be left out: the plan is valid without any of them, though it may be dearer or
// leave more pods over.

// Strategies, in the order in which they are tried.
const (
	CellsAsFound    = "cells-as-found"    // domains assigned anew, with what cells turned out to hold
	GivenUp         = "given-up"          // without the preferences of pods that are left over
	Coarsely        = "coarsely"          // packed as Options.Quick does
	PriorityAlone   = "priority-alone"    // pods of lower priority wait
	Aside           = "aside"             // pods that are left over have no part from the start
	PreferenceShare = "preference-budget" // with fewer preferences, if they cost too much
)

// Passes, in the order in which they come.
const (
	Slots       = "slots"        // constraints over nodes as a dimension
	SharedWhole = "shared-whole" // pods with volumes in common are packed as one
	InsertLeft  = "insert"       // pods left over are placed one by one
	EjectOthers = "eject"        // pods of the plan make room for those left over
	Search      = "search"       // pods are taken off some nodes and placed anew, where that costs less
	InsertAgain = "insert-again" // pods left over are placed one by one, after others went away
	SwapPods    = "swap"         // pods change places for soft constraints
)

// Passes that cannot be left out: without them a plan may not be valid.
const (
	Replay       = "replay"        // pods are bound one by one, and those that cannot be are taken off
	LettingIn    = "letting-in"    // pods that waited for all others are placed
	CapacityType = "capacity-type" // nodes that are to keep off spot do
)

// LeftOut lists the strategies and passes, in order.
func LeftOut() []string {
	return []string{
		Slots, SharedWhole,
		InsertLeft, EjectOthers, Search, SwapPods, InsertAgain,
		CellsAsFound, GivenUp,
		Coarsely, PriorityAlone, Aside, PreferenceShare,
	}
}

// Trace is told what each strategy and pass comes to, and may leave any out. It is nil
// outside tests.
type Trace struct {
	Off   map[string]bool            // names of what is left out
	Asked func(name string)          // it is about to begin
	After func(name string, s Score) // it has ended, and this is the plan now
}

// Score is how good a plan is.
type Score struct {
	Left int // pods left over, those for buffers too
	Cost float64
}

// Skips says whether a strategy or pass is left out, where it would begin.
func (t *Trace) Skips(name string) bool {
	if t == nil {
		return false
	}
	if t.Asked != nil {
		t.Asked(name)
	}
	return t.Off[name]
}
