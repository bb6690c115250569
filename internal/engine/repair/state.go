package repair

import (
	"slices"

	"github.com/dovetail-sdk/dovetail/internal/engine/attempt"
	"github.com/dovetail-sdk/dovetail/internal/engine/compile"
	"github.com/dovetail-sdk/dovetail/internal/engine/ledger"
)

// State is a solution that is being made: who is on which node. Passes change it.
type State struct {
	p *compile.Problem
	s *attempt.Attempt

	Placed []bool        // by pod
	Bound  [][]int32     // by node that exists: its pods
	New    []*ledger.Bin // with the pods of the plan
	Done                 // by passes

	steps    int                   // of the packing that it comes of
	sets     map[string]*optionSet // by their keys
	key      []byte                // of the last set asked for
	forms    map[int]*forms        // by class, once asked for
	at       [][]ledger.Location   // by node that exists, likewise
	binTypes int                   // that new nodes have been given so far
	relies   bool                  // some pod was let in only as no node was empty
	swapped  bool                  // pods changed places for soft constraints
	last     bool                  // the classes that wait for all others come in now
}

// Done is what passes did that those after them, and strategies, have to know of.
type Done struct {
	Closed bool // pods were taken off their nodes again, and nodes out of it; see search
}

// New is the state of a problem before any pod has a place, given an attempt, and how
// many steps its packing took.
func New(p *compile.Problem, s *attempt.Attempt, steps int) *State {
	return &State{
		p: p, s: s, steps: steps, sets: map[string]*optionSet{}, forms: map[int]*forms{},
		Placed: make([]bool, len(p.Pods)), Bound: make([][]int32, len(p.Nodes)),
	}
}

// Bins lists the nodes of the plan with what is on them: those that exist in
// the order of the problem, then the new ones.
func (st *State) Bins() []*ledger.Bin { return st.binsOf(false) }

// UsedBins lists the nodes of the plan that get pods, in the order of Bins.
func (st *State) UsedBins() []*ledger.Bin { return st.binsOf(true) }

// binsOf lists the nodes of the plan, or only those that get pods.
func (st *State) binsOf(used bool) []*ledger.Bin {
	n := len(st.Bound)
	if used {
		n = 0
		for _, podIDs := range st.Bound {
			if len(podIDs) > 0 {
				n++
			}
		}
	}
	out := make([]*ledger.Bin, 0, n+len(st.New))
	nodes := make([]ledger.Bin, n)
	for i := range st.Bound {
		if used && len(st.Bound[i]) == 0 {
			continue
		}
		s := &nodes[len(out)]
		s.Node, s.At = i, st.locations(i)
		ledger.Hold(st.p, s, st.Bound[i])
		out = append(out, s)
	}
	for _, s := range st.New {
		s.At = ledger.BinTypeLocations(st.p, s.BinType)
		ledger.Hold(st.p, s, s.PodIDs)
		out = append(out, s)
	}
	return out
}

// Frozen is the state as it is now, whatever becomes of st.
func (st *State) Frozen() *State {
	out := *st
	out.Placed, out.Bound, out.New = slices.Clone(st.Placed), slices.Clone(st.Bound), make([]*ledger.Bin, len(st.New))
	for i, podIDs := range out.Bound {
		out.Bound[i] = slices.Clone(podIDs)
	}
	for i, s := range st.New {
		now := *s
		now.PodIDs = slices.Clone(s.PodIDs)
		out.New[i] = &now
	}
	return &out
}

// locations is where a node that exists may be.
func (st *State) locations(node int) []ledger.Location {
	if st.at == nil {
		st.at = make([][]ledger.Location, len(st.p.Nodes))
	}
	if st.at[node] == nil {
		st.at[node] = ledger.NodeLocations(st.p, &st.p.Nodes[node])
	}
	return st.at[node]
}

// sought lists the pods of a class that are to get a place now: those that were set aside come
// last.
func (st *State) sought(c int) []int32 {
	if st.last {
		return st.p.Classes[c].Pods
	}
	return st.s.Sought(st.p, c)
}

// waits says whether a pod has no place so far.
func (st *State) waits(podID int32) bool { return !st.Placed[podID] }

// leavesSome says whether some pod that exists has no place.
func (st *State) leavesSome() bool {
	for podID, placed := range st.Placed {
		if !placed && !st.p.Headroom[st.p.Pods[podID]] {
			return true
		}
	}
	return false
}

// Planned is what the new nodes take of the limits of each pool, each the most that
// it may be launched with.
func (st *State) Planned() [][]int64 {
	out := make([][]int64, len(st.p.LowPools))
	for i := range out {
		out[i] = make([]int64, len(st.p.LowPools[i].Limits))
	}
	for _, s := range st.New {
		pool := s.BinType.Pool
		for l, n := range mostUses(&st.p.LowPools[pool], s.BinType.Options) {
			out[pool][l] += n
		}
	}
	return out
}
