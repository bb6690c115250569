package repair

import (
	"github.com/dovetail-sdk/dovetail/internal/engine/attempt"
	"github.com/dovetail-sdk/dovetail/internal/engine/bitset"
	"github.com/dovetail-sdk/dovetail/internal/engine/ledger"
	"github.com/dovetail-sdk/dovetail/internal/engine/pack"
	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
)

// To compare requirements takes far longer than to look at a node, and passes ask about the
// same few classes again and again: what is worked out of one is kept in the State.

// forms are what the pods of a class are to the packer on new nodes.
type forms struct {
	anywhere *lowered // wherever these are
	cells    []cell   // those that they may be in; one without bounds if pods are sent to none
}

// cell is one of those in which new nodes for pods of a class may be. What is nil was not
// asked for so far.
type cell struct {
	pin   requirements.Set
	alone *lowered // what a pod is there, with what it prefers, on a node of its own
	plain *lowered // whatever it prefers
}

// lowered is what pods of a class are to the packer.
type lowered struct {
	class pack.Class
	item  attempt.Item
	asks  []*ask // of a node for one pod alone, by pool and then by variant; nil until asked for
}

// ask is what a node of a pool is asked for that is launched for a pod alone.
type ask struct {
	of    requirements.Set
	never bool // nothing can be that
}

// formsOf returns what is known of a class.
func (st *State) formsOf(c int) *forms {
	known := st.forms[c]
	if known == nil {
		known = &forms{}
		st.forms[c] = known
	}
	return known
}

// anywhere is what pods of a class are wherever new nodes are and whatever they prefer.
func (st *State) anywhere(c int) *lowered {
	f := st.formsOf(c)
	if f.anywhere == nil {
		f.anywhere = st.lower(c, requirements.Set{}, nil)
	}
	return f.anywhere
}

// cells lists the cells of a class.
func (st *State) cells(c int) []cell {
	f := st.formsOf(c)
	if f.cells != nil {
		return f.cells
	}
	f.cells = []cell{{}}
	if spans := st.p.Rules.Duties[c].Spans; len(spans) > 0 {
		keys := st.p.Table.Numbers(spans)
		f.cells = make([]cell, len(st.p.Cells[c]))
		for i := range f.cells {
			f.cells[i].pin = attempt.PinOf(st.p, keys, st.p.Cells[c][i].At)
		}
	}
	return f.cells
}

// aloneIn is what a pod of a class is on a node of its own in a cell.
func (st *State) aloneIn(c int, in *cell) *lowered {
	if in.alone == nil {
		in.alone = st.lower(c, in.pin, st.preference(c))
		in.alone.asks = make([]*ask, len(st.p.Pools)*len(in.alone.class.Variants))
	}
	return in.alone
}

// plainIn is what a pod of a class is in a cell whatever it prefers.
func (st *State) plainIn(c int, in *cell) *lowered {
	if in.plain == nil {
		in.plain = st.lower(c, in.pin, nil)
	}
	return in.plain
}

func (st *State) lower(c int, pin requirements.Set, preferred bitset.Set) *lowered {
	class, item := attempt.LowerWith(st.p.Admission, c, pin, preferred, map[int32]int32{})
	return &lowered{class: class, item: item}
}

// ask is what a node of a pool is asked for by a variant of a pod alone.
func (st *State) ask(low *lowered, pool, variant int) *ask {
	at := &low.asks[pool*len(low.class.Variants)+variant]
	if *at == nil {
		of := ledger.Unnamed(st.p.Pools[pool].Template.Intersect(low.item.Sources[variant]))
		*at = &ask{of: of, never: of.Impossible()}
	}
	return *at
}

// preference are the options that a class is to have where some of them will do, nil if
// all are alike.
func (st *State) preference(c int) bitset.Set {
	if st.s.GivesUp(c) {
		return st.p.Preferences[c].Steady
	}
	return st.p.Preferences[c].Options
}
