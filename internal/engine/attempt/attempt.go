package attempt

import (
	"cmp"
	"slices"

	"github.com/dovetail-sdk/dovetail/internal/engine/compile"
	"github.com/dovetail-sdk/dovetail/internal/engine/pack"
	"github.com/dovetail-sdk/dovetail/internal/engine/topology"
	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
)

// Attempt is a problem with its domains assigned: each class is divided into parts, one for each
// cell, and parts that are equal to the packer form an item.
type Attempt struct {
	Hints
	levels   []int32 // distinct priorities, descending; only if pods of higher priority are packed first
	Units    []unit  // pods that need domains, in the order of assignment
	Problem  *topology.Problem
	Assigned *topology.Result
	Bundler  *bundler
	kinds    map[int32]int32 // by compile.Admission.Kind: the pack.Class.Kind

	Parts       []part  // single parts first, then those of bundles and pinned pods
	single      int     // number of parts at the beginning of Parts, without bundles and pinned pods
	BundleParts [][]int // by bundle: its parts
	PinnedParts []int   // by pinned pods: their part, -1 if no cell takes them
	Items       []Item
	lowered     *pack.Problem // what Packer solves, with the items as classes
	Packer      *pack.Packer
}

// part is the pods of a class that go to one cell, or to any.
type part struct {
	Class int
	Unit  int // index in Attempt.Units, -1 for pods that may go to any cell
	Cell  int // index in Cells of the unit
	Count int
	pin   requirements.Set
}

// Item is a group of pods that is one class to the packer.
type Item struct {
	Parts   []int
	Units   []int              // for a bundle: by part, the number of its pods in one bundle
	content int32              // equal for items with equal requests and variants
	Sources []requirements.Set // by variant: the requirements of its pods, whichever of its alternatives applies
}

// Hints are the results of earlier attempts.
type Hints struct {
	// Rooms limits, by unit and cell, how many pods go to a cell; nil means no limits.
	Rooms [][]int
	// Relaxed are the classes whose preferences are given up because pods of them found no place.
	Relaxed map[int]bool
	// OverBudget are the classes whose preferences are given up because they would cost too much.
	OverBudget map[int]bool
	// PriorityFirst packs pods of higher priority first, whatever that costs.
	PriorityFirst bool
	// Absent are the classes whose pods are deferred until all others have their place.
	Absent map[int]bool
	// Aside is, by class, how many of its last pods are set aside because no place is known for
	// them. They take no part in the search and get the room that it leaves. Nil means none.
	Aside []int
	// Coarse packs once, as Options.Quick does.
	Coarse bool
	// Known has the packings made earlier in the same search; nil if they are not needed.
	Known *Known
}

// Again returns the hints for another attempt with the same pods, preferences and order.
func (o *Hints) Again() Hints {
	return Hints{OverBudget: o.OverBudget, PriorityFirst: o.PriorityFirst, Absent: o.Absent, Coarse: o.Coarse, Known: o.Known}
}

// Begun returns a copy of an attempt with which a search starts: no packing is known yet.
func (s *Attempt) Begun() *Attempt {
	out := *s
	out.Known = &Known{}
	return &out
}

func (o *Hints) asideOf(c int) int {
	if o.Aside == nil {
		return 0
	}
	return o.Aside[c]
}

// Sought lists the pods of a class that take part in the search.
func (o *Hints) Sought(p *compile.Problem, c int) []int32 {
	pods := p.Classes[c].Pods
	return pods[:len(pods)-o.asideOf(c)]
}

// GivesUp says whether the preferences of a class are given up because they would cost too much.
func (o *Hints) GivesUp(c int) bool { return o.OverBudget[c] }

// New assigns domains and prepares the problem for the packer.
func New(p *compile.Problem, o Hints) *Attempt {
	s := &Attempt{Hints: o, kinds: map[int32]int32{}}
	if s.PriorityFirst {
		s.levels = Levels(p)
	}
	left := make([]int, len(p.Classes))
	for c := range p.Classes {
		if p.Classes[c].Refusal == nil && !o.Absent[c] && !p.Apart.Has(c) {
			left[c] = len(p.Classes[c].Pods) - o.asideOf(c)
		}
	}
	s.Bundler = newBundler(p, left)
	s.Units = units(p, s.Bundler, left, o)
	if s.Problem = s.state(p); len(s.Units) > 0 {
		s.Assigned = topology.Assign(s.Problem)
	}
	s.split(p, left)
	s.lower(p)
	return s
}

// split divides classes into parts. Pods with a cell are in a part for the cell, pods without
// constraints in a part for any cell, and pods that no cell takes are in no part.
func (s *Attempt) split(p *compile.Problem, left []int) {
	for u := range s.Units {
		if s.Units[u].Bundle < 0 && s.Units[u].Pinned < 0 {
			left[s.Units[u].Members[0].Class] -= s.Units[u].Count
			if s.Units[u].Leads {
				left[s.Units[u].Members[0].Class] += s.Assigned.Blocked[u]
			}
			s.Parts = append(s.Parts, s.partsOf(p, u)...)
		}
	}
	for c, n := range left {
		if n > 0 {
			s.Parts = append(s.Parts, part{Class: c, Unit: -1, Count: n})
		}
	}
	slices.SortStableFunc(s.Parts, func(a, b part) int { return cmp.Compare(a.Class, b.Class) })
	s.single = len(s.Parts)
	s.addBundles(p)
	s.addPinned(p)
}

// partsOf lists the parts of a unit: for each cell that takes some of its pods, one part for each
// class.
func (s *Attempt) partsOf(p *compile.Problem, u int) []part {
	var out []part
	for cell, n := range s.Assigned.Placed[u] {
		if n == 0 {
			continue
		}
		pin := s.pin(p, u, cell)
		for _, m := range s.Units[u].Members {
			out = append(out, part{Class: m.Class, Unit: u, Cell: cell, Count: n * m.Count, pin: pin})
		}
	}
	return out
}

// addBundles adds the parts of bundles.
func (s *Attempt) addBundles(p *compile.Problem) {
	unit := slices.Repeat([]int{-1}, len(s.Bundler.Bundles))
	for u := range s.Units {
		if i := s.Units[u].Bundle; i >= 0 {
			unit[i] = u
		}
	}
	s.BundleParts = make([][]int, len(unit))
	for i, u := range unit {
		var parts []part
		if u >= 0 {
			parts = s.partsOf(p, u)
		} else {
			for _, m := range s.Bundler.Bundles[i].members {
				parts = append(parts, part{Class: m.Class, Unit: -1, Count: m.Count})
			}
		}
		for _, part := range parts {
			s.BundleParts[i] = append(s.BundleParts[i], len(s.Parts))
			s.Parts = append(s.Parts, part)
		}
	}
}

// addPinned adds the parts of pinned pods, which can go to one node only.
func (s *Attempt) addPinned(p *compile.Problem) {
	s.PinnedParts = slices.Repeat([]int{-1}, len(s.Bundler.Pinned))
	for i, f := range s.Bundler.Pinned {
		parts := []part{{Class: f.Class, Unit: -1, Count: f.count}}
		for u := range s.Units {
			if s.Units[u].Pinned == i {
				parts = s.partsOf(p, u)
			}
		}
		refused := f.count
		for _, part := range parts {
			s.PinnedParts[i] = len(s.Parts)
			s.Parts = append(s.Parts, part)
			refused -= part.Count
		}
		for r, n := range p.Takes(f.Class, s.Bundler.has[f.Node]) {
			s.Bundler.free[f.Node][r] += n * int64(refused)
		}
	}
}

// pin returns the cell of a unit as requirements.
func (s *Attempt) pin(p *compile.Problem, u, cell int) requirements.Set {
	class := &s.Problem.Classes[u]
	return PinOf(p, class.Keys, class.Cells[cell].At)
}

// PinOf returns domains as requirements.
func PinOf(p *compile.Problem, keys, at []int) requirements.Set {
	out := requirements.Set{}
	for i, k := range keys {
		key := p.Vocabulary.NormalizeKey(p.Table.Keys[k])
		r := requirements.DoesNotExist(key)
		if d := at[i]; d != topology.None {
			r = requirements.In(key, p.Table.Values[k][d])
		}
		out = out.Intersect(requirements.NewSet(r)) // two keys may be names of the same label
	}
	return out
}

// ChoseBefore says whether pods were assigned to a domain, or to existing nodes, before new nodes
// were packed.
func (s *Attempt) ChoseBefore(p *compile.Problem) bool { return len(s.Units)+len(p.Nodes) > 0 }
