package model

import (
	"maps"
	"slices"
)

// LabelColumn has the value of one label on every node, as a number.
type LabelColumn struct {
	Values []string // by number; some may no longer be on any node
	Of     []int32  // by node: number of its value, NoValue if it lacks the label

	numbers map[string]int32
}

// NoValue stands for the absence of the label.
const NoValue = -1

// manyValues is the number of values above which a column is not reused for the next problem: a
// label with more values identifies single nodes, and most of its values disappear with them.
const manyValues = 256

// Column returns the values of a label. It copies what the Rooms of the previous problem, before,
// already have; before may be nil.
func (r *Rooms) Column(key string, before *Rooms) *LabelColumn {
	if c := r.columns[key]; c != nil {
		return c
	}
	c := &LabelColumn{Of: make([]int32, len(r.Of))}
	var old *LabelColumn
	if before != nil {
		old = before.columns[key]
	}
	if old != nil && len(old.Values) <= manyValues {
		c.Values, c.numbers = slices.Clip(old.Values), old.numbers
		CarryOver(r, c.Of, old.Of, 1)
		shared := true
		for _, i := range r.Changed {
			c.read(i, r.Of[i], key, &shared)
		}
	} else {
		c.numbers = map[string]int32{}
		shared := false
		for i, room := range r.Of {
			c.read(i, room, key, &shared)
		}
	}
	if r.columns == nil {
		r.columns = map[string]*LabelColumn{}
	}
	r.columns[key] = c
	return c
}

// read records the value of the label on node i. If shared is set, the numbers belong to the
// previous problem too and are copied before one is added.
func (c *LabelColumn) read(i int, room *Room, key string, shared *bool) {
	value, has := room.Standing.Labels[key]
	if !has {
		c.Of[i] = NoValue
		return
	}
	number, known := c.numbers[value]
	if !known {
		if *shared {
			c.numbers, *shared = maps.Clone(c.numbers), false
		}
		number = int32(len(c.Values))
		c.Values, c.numbers[value] = append(c.Values, value), number
	}
	c.Of[i] = number
}

// Present says, by number, whether any node has the value.
func (c *LabelColumn) Present() []bool {
	out := make([]bool, len(c.Values))
	for _, number := range c.Of {
		if number != NoValue {
			out[number] = true
		}
	}
	return out
}
