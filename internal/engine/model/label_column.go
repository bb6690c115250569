package model

import (
	"maps"
	"slices"
)

// LabelColumn is the values of a label on all nodes, by number.
type LabelColumn struct {
	Values []string // by number: those of nodes, and a few that were
	Of     []int32  // by node; NoValue if it has not got the label

	numbers map[string]int32
}

// NoValue is the number of no value.
const NoValue = -1

// manyValues is how many values a label may have for them to be kept from one problem to
// the next: a label with more tells nodes apart, and most of its values go with the nodes.
const manyValues = 256

// Column returns the values of a label. What is known from the problem before, which may be
// nil, is copied.
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
		for _, i := range r.Read {
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

// read notes the value on a node. Numbers that are shared with the problem before are
// copied before one is added.
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

// Present are the values that some node has, by number.
func (c *LabelColumn) Present() []bool {
	out := make([]bool, len(c.Values))
	for _, number := range c.Of {
		if number != NoValue {
			out[number] = true
		}
	}
	return out
}
