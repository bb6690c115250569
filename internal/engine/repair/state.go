package repair

import (
	"slices"

	"github.com/dovetail-sdk/dovetail/internal/engine/attempt"
	"github.com/dovetail-sdk/dovetail/internal/engine/compile"
	"github.com/dovetail-sdk/dovetail/internal/engine/ledger"
)

// State is a solution that is being made: which pods are on which node. Passes change it.
type State struct {
	p *compile.Problem
	s *attempt.Attempt

	Placed []bool        // by pod: it has a place
	Bound  [][]int32     // by existing node: its pods of the plan
	New    []*ledger.Bin // new nodes with their pods
	Closed bool          // a search closed nodes or took pods off their nodes

	steps    int                   // of the packing that the solution started from
	sets     map[string]*optionSet // by their keys
	splits   map[string][]split    // by options and keys; see cellsOf
	key      []byte                // of the last set looked up
	forms    map[int]*forms        // by class; nil until needed
	at       [][]ledger.Location   // by existing node; nil until needed
	binTypes int                   // number of bin types of new nodes so far
	relies   bool                  // some pod was admitted only because no counted node was empty
	swapped  bool                  // pods were exchanged for soft constraints
	last     bool                  // deferred classes are being placed
}

// New returns the state of a problem before any pod has a place. steps is the number of steps that
// the packing of the attempt took.
func New(p *compile.Problem, s *attempt.Attempt, steps int) *State {
	return &State{
		p: p, s: s, steps: steps, sets: map[string]*optionSet{}, splits: map[string][]split{}, forms: map[int]*forms{},
		Placed: make([]bool, len(p.Pods)), Bound: make([][]int32, len(p.Nodes)),
	}
}

// Bins lists the nodes of the plan with their pods: the existing nodes in the order of the problem,
// then the new ones.
func (st *State) Bins() []*ledger.Bin { return st.binsOf(false) }

// UsedBins lists the nodes of the plan that have pods of the plan, in the order of Bins.
func (st *State) UsedBins() []*ledger.Bin { return st.binsOf(true) }

// binsOf lists the nodes of the plan; with used only those that have pods of the plan.
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

// Frozen returns a copy of the state that later changes of st do not affect.
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

// locations returns the domains in which an existing node may be.
func (st *State) locations(node int) []ledger.Location {
	if st.at == nil {
		st.at = make([][]ledger.Location, len(st.p.Nodes))
	}
	if st.at[node] == nil {
		st.at[node] = ledger.NodeLocations(st.p, &st.p.Nodes[node])
	}
	return st.at[node]
}

// sought lists the pods of a class that are to be placed now. Pods that were set aside are included
// only at the end.
func (st *State) sought(c int) []int32 {
	if st.last {
		return st.p.Classes[c].Pods
	}
	return st.s.Sought(st.p, c)
}

// waits says whether a pod is unplaced.
func (st *State) waits(podID int32) bool { return !st.Placed[podID] }

// leavesSome says whether any pod other than headroom is unplaced.
func (st *State) leavesSome() bool {
	for podID, placed := range st.Placed {
		if !placed && !st.p.Headroom[st.p.Pods[podID]] {
			return true
		}
	}
	return false
}

// Planned returns, by pool and limit, what the new nodes use: of each node the most that any of its
// options uses.
func (st *State) Planned() [][]int64 {
	out := make([][]int64, len(st.p.LowPools))
	for i := range out {
		out[i] = planned(st.p, i, st.New)
	}
	return out
}
