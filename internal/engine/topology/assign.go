package topology

// Assign serves all classes. Among the cells that the rules allow, a pod takes the cell with the
// fewest members of spreads that only other classes have, so that these classes find room; then the
// one that misses least of the pod's preferences; then the one into which most pods could follow;
// then the cheapest; then the one with most pods; then the first. So a skew is a bound and not a
// goal.
//
// A pod that no cell takes is tried again after others have been placed, because a domain that was
// too full may then admit it. Assign takes O(pods x cells x (rules of the class + domains)) time.
func Assign(p *Problem) *Result {
	s := newState(p)
	waiting := make([]int, len(p.Classes))
	for c := range p.Classes {
		waiting[c] = p.Classes[c].Count
	}
	for again := true; again; {
		again = false
		for c := range p.Classes {
			if waiting[c] == 0 {
				continue
			}
			served := s.serve(c, waiting[c])
			waiting[c] -= served
			again = again || served > 0
		}
	}
	s.out.Blocked = waiting
	return s.out
}

// state is the mutable state of one call of Assign.
type state struct {
	p     *Problem
	rules []count
	load  [][]int // by key and domain: pods placed there
	out   *Result
}

// count is the state of a rule.
type count struct {
	members     []int // by domain
	owners      []int
	any         bool   // the rule has a member in some domain or elsewhere
	sure        []bool // by domain: it certainly has a node
	sureDomains int
	follow      []int // by domain: pods whose affinity could lead them there, for Together
}

func newState(p *Problem) *state {
	s := &state{p: p, rules: make([]count, len(p.Rules)), load: make([][]int, len(p.Domains))}
	for k, n := range p.Domains {
		s.load[k] = make([]int, n)
	}
	for r := range p.Rules {
		if k := p.Rules[r].Key; k >= 0 {
			s.rules[r] = newCount(&p.Rules[r], p.Domains[k])
		}
	}
	for c := range p.Classes {
		s.addFollowers(&p.Classes[c])
	}
	s.out = &Result{Placed: make([][]int, len(p.Classes))}
	for c := range p.Classes {
		s.out.Placed[c] = make([]int, len(p.Classes[c].Cells))
	}
	return s
}

func newCount(r *Rule, domains int) count {
	c := count{
		members: make([]int, domains), owners: make([]int, domains), sure: make([]bool, domains), any: r.Elsewhere,
	}
	copy(c.members, r.Members)
	copy(c.owners, r.Owners)
	copy(c.sure, r.Sure)
	for d := range domains {
		c.any = c.any || c.members[d] > 0
		if c.sure[d] {
			c.sureDomains++
		}
	}
	return c
}

// addFollowers counts, by domain, the pods of a class that could follow members there because of
// their affinity.
func (s *state) addFollowers(c *Class) {
	for _, own := range c.Owns {
		rule := &s.p.Rules[own.Rule]
		if rule.Kind != Together || own.Weight > 0 {
			continue
		}
		count := &s.rules[own.Rule]
		if count.follow == nil {
			count.follow = make([]int, len(count.members))
		}
		seen := make([]bool, len(count.members))
		for i := range c.Cells {
			if d := c.at(i, rule.Key); d != None && !seen[d] {
				seen[d] = true
				count.follow[d] += c.Count
			}
		}
	}
}

// at returns the domain of a cell for a key, None if the cells of the class are not divided by the
// key.
func (c *Class) at(cell, key int) int {
	for i, k := range c.Keys {
		if k == key {
			return c.Cells[cell].At[i]
		}
	}
	return None
}

// join returns the membership of a class in a rule; its Count is 0 if the rule does not count the
// class.
func (c *Class) join(rule int) Join {
	for _, j := range c.Joins {
		if j.Rule == rule {
			return j
		}
	}
	return Join{Rule: rule}
}

// owns says whether the pods of a class have a rule, required or preferred.
func (c *Class) owns(rule int) bool {
	for _, own := range c.Owns {
		if own.Rule == rule {
			return true
		}
	}
	return false
}

// serve places up to n pods of a class and returns the number placed.
func (s *state) serve(c, n int) int {
	for i := range n {
		cell := s.choose(c)
		if cell < 0 {
			return i
		}
		s.place(c, cell)
	}
	return n
}

// merit is the value of a cell for a pod. Fields are compared in order.
type merit struct {
	crowd  int // members of rules that only other classes have; fewer is better
	regret int // weight of the missed preferences; less is better
	follow int // pods that could follow; more is better
	cost   float64
	load   int // pods there; more is better, because nodes fill up
}

func (m merit) better(than merit) bool {
	switch {
	case m.crowd != than.crowd:
		return m.crowd < than.crowd
	case m.regret != than.regret:
		return m.regret < than.regret
	case m.follow != than.follow:
		return m.follow > than.follow
	case m.cost != than.cost:
		return m.cost < than.cost
	}
	return m.load > than.load
}

// choose returns the best cell for one more pod of a class, -1 if no cell takes it.
func (s *state) choose(c int) int {
	class := &s.p.Classes[c]
	best, bestMerit := -1, merit{}
	for i := range class.Cells {
		if s.out.Placed[c][i] >= class.Cells[i].Room || !s.admits(class, i) {
			continue
		}
		if m := s.merit(class, i, s.out.Placed[c][i]); best < 0 || m.better(bestMerit) {
			best, bestMerit = i, m
		}
	}
	return best
}

func (s *state) merit(c *Class, cell, placed int) merit {
	m := merit{cost: c.Cells[cell].Cost}
	if placed < c.Cells[cell].Free {
		m.cost = 0
	}
	for _, own := range c.Owns {
		rule := &s.p.Rules[own.Rule]
		d := c.at(cell, rule.Key)
		if own.Weight > 0 {
			m.regret += s.regret(own, rule, d)
		}
	}
	for _, j := range c.Joins {
		rule := &s.p.Rules[j.Rule]
		d := c.at(cell, rule.Key)
		switch {
		case d < 0:
		case rule.Kind == Spread && !c.owns(j.Rule):
			m.crowd += s.rules[j.Rule].members[d]
		case rule.Kind == Together && s.rules[j.Rule].follow != nil:
			m.follow += s.rules[j.Rule].follow[d]
		}
	}
	for i, k := range c.Keys {
		if d := c.Cells[cell].At[i]; d >= 0 {
			m.load += s.load[k][d]
		}
	}
	return m
}

// regret returns how far a domain is from satisfying a preference, times its weight.
func (s *state) regret(own Own, rule *Rule, d int) int {
	members := 0
	if d >= 0 {
		members = s.rules[own.Rule].members[d]
	}
	if rule.Kind == Together {
		if members > 0 {
			return 0
		}
		return own.Weight
	}
	return own.Weight * members
}

// place counts one more pod of a class in a cell.
func (s *state) place(c, cell int) {
	class := &s.p.Classes[c]
	for _, own := range class.Owns {
		if d := class.at(cell, s.p.Rules[own.Rule].Key); d >= 0 && own.Weight == 0 {
			s.rules[own.Rule].owners[d] += own.Count
		}
	}
	for _, j := range class.Joins {
		count := &s.rules[j.Rule]
		d := class.at(cell, s.p.Rules[j.Rule].Key)
		if d == None {
			continue
		}
		count.members[d] += j.Count
		count.any = true
		if !count.sure[d] {
			count.sure[d] = true
			count.sureDomains++
		}
	}
	for i, k := range class.Keys {
		if d := class.Cells[cell].At[i]; d != None {
			s.load[k][d]++
		}
	}
	s.out.Placed[c][cell]++
	if last := len(s.out.Events) - 1; last >= 0 && s.out.Events[last].Class == c && s.out.Events[last].Cell == cell {
		s.out.Events[last].Count++
		return
	}
	s.out.Events = append(s.out.Events, Event{Class: c, Cell: cell, Count: 1})
}
