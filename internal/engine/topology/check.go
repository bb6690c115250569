package topology

import "math"

// admits says whether the rules allow a pod of a class in a cell.
func (s *state) admits(c *Class, cell int) bool {
	for _, own := range c.Owns {
		if own.Weight > 0 {
			continue
		}
		r := own.Rule
		rule := &s.p.Rules[r]
		d := c.at(cell, rule.Key)
		switch rule.Kind {
		case Spread:
			if d == None || s.skew(c, r, d) > rule.Skew {
				return false
			}
		case Together:
			if d == None || s.rules[r].members[d] == 0 && !s.first(c, rule.Group) {
				return false
			}
		case Apart:
			if d != None && (s.rules[r].members[d] > 0 || !apartAlone(own, c.join(r))) {
				return false
			}
		}
	}
	for _, j := range c.Joins {
		rule := &s.p.Rules[j.Rule]
		if rule.Kind != Apart {
			continue
		}
		if d := c.at(cell, rule.Key); d != None && s.rules[j.Rule].owners[d] > 0 {
			return false
		}
	}
	return true
}

// apartAlone says whether the pods that one pod of a class stands for can be in one domain under an
// Apart rule.
func apartAlone(own Own, join Join) bool {
	return join.Count == 0 || own.Count == 1 && join.Count == 1 && join.Both == 1
}

// skew returns how far a domain of a cell would be above the least domain with one more pod of a
// class. If that pod stands for several pods, they are placed one after the other: when the last
// one is checked, the domain already has all but one of them.
func (s *state) skew(c *Class, r, d int) int {
	rule, count, join := &s.p.Rules[r], &s.rules[r], c.join(r)
	before, sure := 0, count.sureDomains
	if join.Count > 1 {
		before = join.Count - 1
		if !count.sure[d] {
			sure++
		}
	}
	least := math.MaxInt
	for i, counted := range rule.Counted {
		switch {
		case !counted:
		case i == d:
			least = min(least, count.members[i]+before)
		default:
			least = min(least, count.members[i])
		}
	}
	if least == math.MaxInt || sure < rule.MinDomains {
		least = 0
	}
	return count.members[d] + join.Count - least
}

// first says whether a pod of a class may be the first pod of all its affinities in a group: no
// existing pod matches any of them, and the pod itself matches all of them.
func (s *state) first(c *Class, group int) bool {
	for _, own := range c.Owns {
		r := own.Rule
		if own.Weight == 0 && s.p.Rules[r].Kind == Together && s.p.Rules[r].Group == group && (s.rules[r].any || c.join(r).Count == 0) {
			return false
		}
	}
	return true
}
