package budgets

import (
	"fmt"
	"strings"
	"time"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
)

// blocksTogether finds budgets of which none blocks all the time, but which do
// so together, such as one for weekends and one for working days. It plays a
// leap year through, which every schedule of days and weeks repeats.
func (l *linter) blocksTogether() {
	c := &Compiled{}
	for i := range l.constraints {
		k := &l.constraints[i]
		if !l.live(i) || k.value.n > 0 {
			continue
		}
		if k.scope.all && l.constant(i) {
			return // has been said
		}
		c.constraints = append(c.constraints, *k)
	}
	// Reasons that the same budgets block make one finding.
	var order []string
	reasons := map[string][]string{}
	last := map[string]int{}
	for _, r := range v1.DisruptionReasons() {
		by, blocks := c.blockers(r)
		if !blocks || l.saidAlready(r) {
			continue
		}
		names := make([]string, len(by))
		for i, index := range by {
			names[i] = fmt.Sprintf("budgets[%d]", index)
		}
		key := strings.Join(names, " and ")
		if reasons[key] == nil {
			order = append(order, key)
		}
		reasons[key] = append(reasons[key], string(r))
		last[key] = by[len(by)-1]
	}
	for _, key := range order {
		which := strings.Join(reasons[key], ", ")
		if len(reasons[key]) == len(v1.DisruptionReasons()) {
			which = "any reason"
		}
		l.add(last[key], BlocksForever, "schedule", fmt.Sprintf("%s together allow no node at any time for %s", key, which),
			"shorten one of them, so that there is a time for disruption")
	}
}

// saidAlready reports whether one budget alone blocks a reason for ever.
func (l *linter) saidAlready(r Reason) bool {
	for i := range l.constraints {
		if k := &l.constraints[i]; l.live(i) && k.value.n == 0 && l.constant(i) && k.scope.has(r) {
			return true
		}
	}
	return false
}

// blockers are the budgets that decide in turn, in order, if there is no time
// at which none is in force.
func (c *Compiled) blockers(r Reason) (by []int, blocks bool) {
	from := time.Date(2028, 1, 1, 0, 0, 0, 0, time.UTC)
	seen := map[int]bool{}
	for w := range c.Windows(from, from.AddDate(1, 0, 0), Counts{Nodes: 1}, r) {
		if w.Unlimited {
			return nil, false
		}
		seen[w.Binding.Index] = true
	}
	for i := range c.constraints {
		if index := c.constraints[i].binding.Index; seen[index] {
			by = append(by, index)
		}
	}
	return by, len(by) > 0
}
