package repair

import (
	"github.com/dovetail-sdk/dovetail/internal/engine/attempt"
	"github.com/dovetail-sdk/dovetail/internal/engine/bitset"
	"github.com/dovetail-sdk/dovetail/internal/engine/ledger"
	"github.com/dovetail-sdk/dovetail/internal/engine/pack"
	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
)

// Comparing requirements takes far longer than trying a node, and passes ask about the same few
// classes again and again. So the State keeps what is computed for a class.

// forms is how the packer sees the pods of a class on new nodes.
type forms struct {
	anywhere *lowered // without restriction to a cell
	cells    []cell   // the cells in which the pods may be; one cell without bounds if no domains are assigned
}

// cell is a cell in which new nodes for pods of a class may be. Fields are nil until they are
// needed.
type cell struct {
	pin   requirements.Set
	alone *lowered // a pod on a node of its own there, with its preferences
	plain *lowered // a pod there, without its preferences
}

// lowered is how the packer sees the pods of a class.
type lowered struct {
	class pack.Class
	item  attempt.Item
	asks  []*ask // by pool and variant: requirements of a node for one pod alone; nil until needed
}

// ask has the requirements of a node of a pool that is launched for one pod alone.
type ask struct {
	of    requirements.Set
	never bool // the requirements contradict each other
}

// formsOf returns the forms of a class.
func (st *State) formsOf(c int) *forms {
	known := st.forms[c]
	if known == nil {
		known = &forms{}
		st.forms[c] = known
	}
	return known
}

// anywhere returns how the packer sees pods of a class on new nodes in any cell, without
// preferences.
func (st *State) anywhere(c int) *lowered {
	f := st.formsOf(c)
	if f.anywhere == nil {
		f.anywhere = st.lower(c, requirements.Set{}, nil)
	}
	return f.anywhere
}

// cells returns the cells of a class.
func (st *State) cells(c int) []cell {
	f := st.formsOf(c)
	if f.cells != nil {
		return f.cells
	}
	f.cells = []cell{{}}
	if spans := st.p.Rules.ByClass[c].Spans; len(spans) > 0 {
		keys := st.p.Table.Numbers(spans)
		f.cells = make([]cell, len(st.p.Cells[c]))
		for i := range f.cells {
			f.cells[i].pin = attempt.PinOf(st.p, keys, st.p.Cells[c][i].At)
		}
	}
	return f.cells
}

// aloneIn returns how the packer sees a pod of a class on a node of its own in a cell.
func (st *State) aloneIn(c int, in *cell) *lowered {
	if in.alone == nil {
		in.alone = st.lower(c, in.pin, st.preference(c))
	}
	return in.alone
}

// plainIn returns how the packer sees a pod of a class in a cell, without preferences.
func (st *State) plainIn(c int, in *cell) *lowered {
	if in.plain == nil {
		in.plain = st.lower(c, in.pin, nil)
	}
	return in.plain
}

func (st *State) lower(c int, pin requirements.Set, preferred bitset.Set) *lowered {
	class, item := attempt.Lower(st.p.Admission, c, pin, preferred, map[int32]int32{})
	return &lowered{class: class, item: item}
}

// ask returns the requirements of a node of a pool for one variant of a pod alone.
func (st *State) ask(low *lowered, pool, variant int) *ask {
	if low.asks == nil {
		low.asks = make([]*ask, len(st.p.Pools)*len(low.class.Variants))
	}
	at := &low.asks[pool*len(low.class.Variants)+variant]
	if *at == nil {
		of := ledger.Unnamed(st.p.Pools[pool].Template.Intersect(low.item.Sources[variant]))
		*at = &ask{of: of, never: of.Impossible()}
	}
	return *at
}

// preference returns the options that a class prefers where any of these options will do, nil if it
// prefers none.
func (st *State) preference(c int) bitset.Set {
	if st.s.GivesUp(c) {
		return st.p.Preferences[c].Steady
	}
	return st.p.Preferences[c].Options
}
