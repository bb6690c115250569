package model

// A plan is made by strategies, each of which is another attempt at the problem, and passes, each
// of which changes a plan. The names below are all that may be left out: the plan is valid without
// any of them, but it may cost more or leave more pods unplaced.

// Strategies, in the order in which they are tried.
const (
	CellsAsFound    = "cells-as-found"    // domains assigned anew, with the room that cells turned out to have
	GivenUp         = "given-up"          // without the preferences of unplaced pods
	Coarsely        = "coarsely"          // packed as Options.Quick does
	PriorityAlone   = "priority-alone"    // pods of lower priority are deferred
	Aside           = "aside"             // unplaced pods are set aside from the start
	PreferenceShare = "preference-budget" // with fewer preferences, if these cost too much
)

// Passes, in the order in which they run.
const (
	Slots       = "slots"        // constraints over nodes are counted as a resource
	SharedWhole = "shared-whole" // pods that share volumes are packed as one
	InsertLeft  = "insert"       // unplaced pods are placed one by one
	EjectOthers = "eject"        // pods of the plan are moved to make room for unplaced pods
	Search      = "search"       // the pods of some nodes are placed anew where that costs less
	InsertAgain = "insert-again" // unplaced pods are placed one by one, after other pods moved
	SwapPods    = "swap"         // pods are exchanged where that satisfies more soft constraints
)

// Passes that cannot be left out, because without them a plan may not be valid.
const (
	Replay       = "replay"        // pods are bound one by one, and pods that cannot be bound are taken off
	LettingIn    = "letting-in"    // deferred pods are placed
	CapacityType = "capacity-type" // nodes that must not be spot get another capacity type
)

// LeftOut lists the strategies and passes that may be left out, in order.
func LeftOut() []string {
	return []string{
		Slots, SharedWhole,
		InsertLeft, EjectOthers, Search, SwapPods, InsertAgain,
		CellsAsFound, GivenUp,
		Coarsely, PriorityAlone, Aside, PreferenceShare,
	}
}

// Trace receives the result of each strategy and pass, and may leave any of them out. It is nil
// outside tests.
type Trace struct {
	Off   map[string]bool            // names of strategies and passes to leave out
	Asked func(name string)          // called before one begins
	After func(name string, s Score) // called after one ends, with the score of the plan at that point
}

// Score is how good a plan is.
type Score struct {
	Left int // unplaced pods, including those of buffers
	Cost float64
}

// Skips says whether a strategy or pass is left out. It is called where the strategy or pass would
// begin.
func (t *Trace) Skips(name string) bool {
	if t == nil {
		return false
	}
	if t.Asked != nil {
		t.Asked(name)
	}
	return t.Off[name]
}
