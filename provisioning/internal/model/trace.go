package model

// A plan comes of strategies, each of which is another try at the problem, and of
// passes, each of which changes a plan that is being made. The names below are all that
// may be left out: the plan is valid without any of them, though it may be dearer or
// leave more pods over.

// Strategies, in the order in which they are tried.
const (
	CellsAsFound    = "cells-as-found"    // domains assigned anew, with what cells turned out to hold
	GivenUp         = "given-up"          // without the preferences of pods that are left over
	PriorityFirst   = "priority-first"    // pods of higher priority before others
	NoIncidental    = "no-incidental"     // new nodes keep out of domains that they would only bring along
	EvenCells       = "even-cells"        // domains in even shares
	WithoutAny      = "without-any"       // without any preferences
	Coarsely        = "coarsely"          // packed as Options.Quick does
	PriorityAlone   = "priority-alone"    // pods of lower priority wait
	PreferenceShare = "preference-budget" // with fewer preferences, if they cost too much
	ClaimOwner      = "claim-owner"       // claims for one pod only go to another pod
)

// Passes, in the order in which they come.
const (
	Slots        = "slots"         // constraints over nodes as a dimension
	SharedFirst  = "shared-first"  // pods go where the volumes that they share are attached
	SharedWhole  = "shared-whole"  // pods with volumes in common are packed as one
	LeadersOnly  = "leaders-only"  // of pods that are only followed one in each cell is assigned
	SetAside     = "set-aside"     // pods without any place have no part in the search
	InsertLeft   = "insert"        // pods left over are placed one by one
	EjectOthers  = "eject"         // pods of the plan make room for those left over
	Eliminate    = "eliminate"     // new nodes are emptied onto others
	FillLighter  = "fill-lighter"  // so are those of heavier pools onto lighter ones that are launched anyway
	EjectOne     = "eject-one"     // one pod makes room for one of a node that is emptied
	CheaperAlone = "cheaper-alone" // a pod of a node that is emptied gets a cheaper node of its own
	Exchange     = "exchange"      // pods of nodes that exist and of new nodes change places at once
	Rebuild      = "rebuild"       // all pods are placed anew, one by one, those first that found no place
	SwapPods     = "swap"          // pods change places for soft constraints
	InsertAgain  = "insert-again"  // pods left over are placed one by one, after others went away
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
		Slots, SharedFirst, SharedWhole, LeadersOnly, SetAside,
		InsertLeft, EjectOthers, Eliminate, FillLighter, EjectOne, CheaperAlone, Exchange, Rebuild, SwapPods, InsertAgain,
		CellsAsFound, GivenUp, PriorityFirst, NoIncidental, EvenCells,
		WithoutAny, Coarsely, PriorityAlone, PreferenceShare, ClaimOwner,
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
