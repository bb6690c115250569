package provisioning

// A plan comes of strategies, each of which is another try at the problem, and of
// passes, each of which changes a plan that is being made. The names below are all that
// may be left out: the plan is valid without any of them, though it may be dearer or
// leave more pods over.

// Strategies, in the order in which they are tried.
const (
	cellsAsFound    = "cells-as-found"    // domains assigned anew, with what cells turned out to hold
	givenUp         = "given-up"          // without the preferences of pods that are left over
	priorityFirst   = "priority-first"    // pods of higher priority before others
	cellsInUse      = "cells-in-use"      // without the cells that nobody went to
	noIncidental    = "no-incidental"     // new nodes keep out of domains that they would only bring along
	evenNodes       = "even-nodes"        // several nodes with the same number of pods of a spread
	evenCells       = "even-cells"        // domains in even shares
	withoutAny      = "without-any"       // without any preferences
	coarsely        = "coarsely"          // packed as Options.Quick does
	priorityAlone   = "priority-alone"    // pods of lower priority wait
	preferenceShare = "preference-budget" // with fewer preferences, if they cost too much
	claimOwner      = "claim-owner"       // claims for one pod only go to another pod
)

// Passes, in the order in which they come.
const (
	slots        = "slots"         // constraints over nodes as a dimension
	lookedAtCaps = "looked-at"     // limits on what a node has lifted where no new node is looked at
	openLabels   = "open-labels"   // labels that a node may come to have are none where nobody minds
	sharedFirst  = "shared-first"  // pods go where the volumes that they share are attached
	sharedWhole  = "shared-whole"  // pods with volumes in common are packed as one
	leadersOnly  = "leaders-only"  // of pods that are only followed one in each cell is assigned
	setAside     = "set-aside"     // pods without any place have no part in the search
	insertLeft   = "insert"        // pods left over are placed one by one
	ejectOthers  = "eject"         // pods of the plan make room for those left over
	eliminate    = "eliminate"     // new nodes are emptied onto others
	fillLighter  = "fill-lighter"  // so are those of heavier pools onto lighter ones that are launched anyway
	ejectOne     = "eject-one"     // one pod makes room for one of a node that is emptied
	cheaperAlone = "cheaper-alone" // a pod of a node that is emptied gets a cheaper node of its own
	swapPods     = "swap"          // pods change places for soft constraints
	insertAgain  = "insert-again"  // pods left over are placed one by one, after others went away
)

// Passes that cannot be left out: without them a plan may not be valid.
const (
	replay       = "replay"        // pods are bound one by one, and those that cannot be are taken off
	lettingIn    = "letting-in"    // pods that waited for all others are placed
	capacityType = "capacity-type" // nodes that are to keep off spot do
)

// leftOut lists the strategies and passes, in order.
func leftOut() []string {
	return []string{
		slots, lookedAtCaps, openLabels, sharedFirst, sharedWhole, leadersOnly, setAside,
		insertLeft, ejectOthers, eliminate, fillLighter, ejectOne, cheaperAlone, swapPods, insertAgain,
		cellsAsFound, givenUp, priorityFirst, cellsInUse, noIncidental, evenNodes, evenCells,
		withoutAny, coarsely, priorityAlone, preferenceShare, claimOwner,
	}
}

// trace is told what each strategy and pass comes to, and may leave any out. It is nil
// outside tests.
type trace struct {
	off   map[string]bool            // names of what is left out
	asked func(name string)          // it is about to begin
	after func(name string, s score) // it has ended, and this is the plan now
}

// score is how good a plan is.
type score struct {
	left int // pods left over, those for buffers too
	cost float64
}

// skips says whether a strategy or pass is left out, where it would begin.
func (t *trace) skips(name string) bool {
	if t == nil {
		return false
	}
	if t.asked != nil {
		t.asked(name)
	}
	return t.off[name]
}

// skips says whether a strategy or pass is left out.
func (p *Problem) skips(name string) bool { return p.opts.trace.skips(name) }

// came tells the trace what a strategy came to.
func (p *Problem) came(name string, plan *Plan) {
	if t := p.opts.trace; t != nil && t.after != nil {
		t.after(name, score{len(plan.Unplaced), plan.Cost})
	}
}

// came tells the trace what a pass came to.
func (a *assembler) came(name string) {
	t := a.p.opts.trace
	if t == nil || t.after == nil {
		return
	}
	s := score{}
	for _, placed := range a.placed {
		if !placed {
			s.left++
		}
	}
	for _, n := range a.new {
		s.cost += n.binType.price()
	}
	t.after(name, s)
}
