package device

import (
	"fmt"
	"slices"
	"strings"
)

// Demand is the requests of claims, with one subrequest chosen for each request. The zero value
// asks for nothing.
type Demand struct {
	some  []wanted // by set
	whole []whole  // by name
	// tried are the sets of the subrequests before the chosen ones, by name. If kube-scheduler
	// cannot evaluate one of them it gives up and does not try the chosen one.
	tried []*selectorSet
}

// wanted is a number of devices of a selector set.
type wanted struct {
	set   *selectorSet
	count int64
}

// whole asks for all devices of a node that some sets match, at least one for each set, for one
// claim that takes others more devices.
type whole struct {
	sets   []*selectorSet // by name
	others int64
}

// name is unique among different wholes. The number of further devices is part of it, because a
// claim can hold a limited number.
func (w *whole) name() string {
	var names []string
	for _, s := range w.sets {
		names = append(names, s.name)
	}
	text := strings.Join(names, " and of class ")
	if w.others > 0 {
		text += fmt.Sprintf(" beside %d more", w.others)
	}
	return text
}

func (d Demand) empty() bool { return len(d.some)+len(d.whole) == 0 }

// plus returns the sum of two demands.
func (d Demand) plus(e Demand) Demand {
	out := Demand{some: slices.Clone(d.some), whole: slices.Concat(d.whole, e.whole)}
	for _, w := range e.some {
		i, found := slices.BinarySearchFunc(out.some, w.set.name, func(o wanted, name string) int { return strings.Compare(o.set.name, name) })
		if found {
			out.some[i].count = saturatedSum(out.some[i].count, w.count)
		} else {
			out.some = slices.Insert(out.some, i, w)
		}
	}
	out.tried = slices.Concat(d.tried, e.tried)
	slices.SortFunc(out.tried, func(a, b *selectorSet) int { return strings.Compare(a.name, b.name) })
	out.tried = slices.CompactFunc(out.tried, func(a, b *selectorSet) bool { return a.name == b.name })
	slices.SortStableFunc(out.whole, func(a, b whole) int { return strings.Compare(a.name(), b.name()) })
	return out
}

// sets returns the sets of all devices that the demand asks for.
func (d Demand) sets() (all []*selectorSet) {
	for _, w := range d.some {
		all = append(all, w.set)
	}
	for _, w := range d.whole {
		all = append(all, w.sets...)
	}
	return all
}

// joined combines the wholes of a claim into one.
func (d Demand) joined(others int64) Demand {
	if len(d.whole) == 0 {
		return d
	}
	var one whole
	for _, w := range d.whole {
		one.sets = append(one.sets, w.sets...)
	}
	one.others = others
	return Demand{some: d.some, whole: []whole{one}, tried: d.tried}
}

// text returns a key that is equal for equal demands only.
func (d Demand) text() string {
	var b strings.Builder
	for _, w := range d.some {
		fmt.Fprintf(&b, "%d of %s;", w.count, w.set.name)
	}
	for _, w := range d.whole {
		fmt.Fprintf(&b, "all of %s;", w.name())
	}
	for _, s := range d.tried {
		fmt.Fprintf(&b, "not %s;", s.name)
	}
	return b.String()
}

// product returns the sums of each of a with each of b, without duplicates, those of the first of a
// first. It is nil if there are more than maxWays.
func product(a, b []Demand) []Demand {
	var out []Demand
	known := map[string]bool{}
	for _, d := range a {
		for _, e := range b {
			sum := d.plus(e)
			text := sum.text()
			if known[text] {
				continue
			}
			if len(out) == maxWays {
				return nil
			}
			known[text] = true
			out = append(out, sum)
		}
	}
	return out
}

// most is more devices than any node has; sums stop here.
const most = int64(1) << 40

func saturatedSum(a, b int64) int64 {
	if a > most-min(b, most) {
		return most
	}
	return a + b
}
