package provisioning

import (
	"math"
	"slices"

	"github.com/dovetail-sdk/dovetail/provisioning/internal/topology"
)

// mover moves pods between the nodes of a plan, or exchanges two, where that is
// more to the taste of them and of those around them. What is launched, and what
// it costs, stays as it is.
type mover struct {
	a     *assembler
	p     *Problem
	bins  []*bin
	count []map[int]int // by soft rule over a label: pods of the plan by domain
	looks int           // that it may still take
	stuck []int         // by class: the score from which on no better place was found
	items map[int][]variantOf
	near  map[classNode]int
	ready []bool // by node that exists: it has started
	shun  []bool // by node that exists: it has taints that pods would rather not have
}

type classNode struct{ class, node int }

const (
	// looksForSoftScore bounds the work: comparisons of two nodes for a pod.
	looksForSoftScore = 50_000
	// binsForExchange is up to how many nodes pods are exchanged: that takes a look
	// at each class of every node.
	binsForExchange = 64
	// roundsForSoftScore is how often all pods are gone through.
	roundsForSoftScore = 3
)

// swapBySoftScore moves pods that prefer other nodes of the plan. It comes last, and
// concerns only pods of which it does not matter to any hard constraint where they
// are. It says whether it moved any.
func (a *assembler) swapBySoftScore() bool {
	if !a.p.softScores.some || a.p.skips(swapPods) {
		return false
	}
	m := &mover{a: a, p: a.p, bins: a.bins(), looks: looksForSoftScore, near: map[classNode]int{}}
	if len(m.bins) < 2 {
		return false
	}
	for i := range a.p.nodes {
		m.ready = append(m.ready, a.p.nodes[i].ready)
		m.shun = append(m.shun, len(a.p.nodes[i].softTaints()) > 0)
	}
	m.countDomains()
	some := false
	for range roundsForSoftScore {
		moved := false
		m.stuck = slices.Repeat([]int{math.MaxInt}, len(m.p.classes))
		for _, s := range m.bins {
			for _, c := range m.classesOn(s) {
				for m.settle(c, s) {
					moved = true
				}
			}
		}
		if !moved {
			break
		}
		some = true
	}
	for i := range a.bound {
		a.bound[i] = m.bins[i].podIDs
	}
	return some
}

// classesOn lists the classes of the pods that the plan puts on a bin and that
// could be happier elsewhere.
func (m *mover) classesOn(s *bin) []int {
	var out []int
	for _, on := range s.pods {
		if t := &m.p.softScores.by[on.class]; t.free && m.mayGain(on.class, s) {
			out = append(out, on.class)
		}
	}
	slices.Sort(out)
	return out
}

// mayGain says whether a pod of a class may have a better place than on a bin.
func (m *mover) mayGain(c int, s *bin) bool {
	t := &m.p.softScores.by[c]
	if m.company(c, s, c) < 0 || slices.ContainsFunc(t.hosts, func(h term) bool { return h.kind == topology.Together }) {
		return true
	}
	return s.node >= 0 && (t.terms != nil || len(t.domains) > 0 || m.shun[s.node])
}

// settle moves one pod of a class off a bin, to where it gains most, and says
// whether there was such a place.
func (m *mover) settle(c int, s *bin) bool {
	if !slices.ContainsFunc(s.pods, func(on bundled) bool { return on.class == c && on.count > 0 }) {
		return false
	}
	var best *bin
	other, most := -1, 0
	here := m.score(c, s, c)
	if here >= m.stuck[c] {
		return false
	}
	for _, t := range m.bins {
		if m.looks <= 0 {
			break
		}
		if t == s {
			continue
		}
		m.looks--
		room := m.hasRoom(t, m.p.requests[c], nil)
		if !room && len(m.bins) > binsForExchange || !m.comparable(c, s, t) {
			continue
		}
		if gain := m.score(c, t, -1) - here; room && gain > most && m.mayMove(c, s, t) {
			best, other, most = t, -1, gain
		} else if len(m.bins) <= binsForExchange {
			if d, gain := m.exchange(c, s, t, here, most); d >= 0 {
				best, other, most = t, d, gain
			}
		}
	}
	if best == nil {
		m.stuck[c] = here
		return false
	}
	m.move(c, s, best)
	if other >= 0 {
		m.move(other, best, s)
	}
	return true
}

// exchange returns the class of which a pod on t is best exchanged for one of class
// c on s, -1 if none gains more than most.
func (m *mover) exchange(c int, s, t *bin, here, most int) (best, gain int) {
	best = -1
	for _, on := range t.pods {
		d := on.class
		if d == c || on.count == 0 || !m.p.softScores.by[d].free || !m.comparable(d, t, s) {
			continue
		}
		sum := m.score(c, t, d) - here + m.score(d, s, c) - m.score(d, t, d)
		if sum > most && m.mayExchange(c, s, d, t) {
			best, most = d, sum
		}
	}
	return best, most
}

// comparable says whether it is known how the pods of a class like two bins, and
// of no concern to any hard constraint which of them they are on.
func (m *mover) comparable(c int, s, t *bin) bool {
	softScore := &m.p.softScores.by[c]
	if s.node >= 0 && t.node >= 0 {
		return !softScore.alike && (m.ready[t.node] || !m.ready[s.node])
	}
	if s.node >= 0 || t.node >= 0 {
		return false
	}
	class := &m.p.classes[c]
	picky := softScore.alike || class.noSpot || len(class.preferences)+len(softScore.domains) > 0 || m.p.preferences[c].options != nil || len(m.p.preferences[c].spans) > 0
	if s.binType.pool != t.binType.pool || picky && s.binType != t.binType {
		return false
	}
	if !softScore.alike {
		return true
	}
	d := &m.p.rules.duties[c]
	for _, list := range [][]int{d.owns, d.joins} {
		for _, r := range list {
			if rule := &m.p.rules.domain[r]; rule.term.weight == 0 && rule.Rule.Key >= 0 {
				if _, sure := s.at[rule.Rule.Key].sure(); !sure {
					return false
				}
			}
		}
	}
	return true
}

// score is how well a bin suits a pod of a class, beside all that are there but
// for one of class without.
func (m *mover) score(c int, s *bin, without int) int {
	sum := m.company(c, s, without)
	if s.node < 0 {
		return sum
	}
	if m.p.softScores.by[c].terms != nil || m.shun[s.node] {
		key := classNode{c, s.node}
		own, ok := m.near[key]
		if !ok {
			own = m.p.nodeScore(c, s.node)
			m.near[key] = own
		}
		sum += own
	}
	return sum + m.inDomains(c, s, without)
}

// company is how well the pods of a node suit one of a class, and it them.
func (m *mover) company(c int, s *bin, without int) int {
	sum := 0
	for _, on := range s.pods {
		n := on.count
		if on.class == without {
			n--
		}
		if n > 0 {
			sum += n * (m.p.pull(c, on.class) + m.p.pull(on.class, c))
		}
	}
	if s.node >= 0 {
		for _, t := range m.p.softScores.by[c].hosts {
			sum += t.draw() * m.p.softScores.bound[t.pods][s.node]
		}
	}
	return sum
}

// countDomains counts the pods of the plan for soft rules over other labels.
func (m *mover) countDomains() {
	m.count = make([]map[int]int, len(m.p.rules.domain))
	for _, s := range m.bins {
		for _, on := range s.pods {
			m.tally(on.class, on.count, s)
		}
	}
}

// tally counts n pods of a class on a bin.
func (m *mover) tally(c, n int, s *bin) {
	if m.p.classes[c].headroom {
		return
	}
	for _, r := range m.p.rules.duties[c].joins {
		rule := &m.p.rules.domain[r]
		if rule.term.weight == 0 || rule.Rule.Key < 0 {
			continue
		}
		if d, sure := s.at[rule.Rule.Key].sure(); sure {
			if m.count[r] == nil {
				m.count[r] = map[int]int{}
			}
			m.count[r][d] += n
		}
	}
}

// inDomains is how well the domains of a node that exists suit a pod of a class by
// its soft constraints over other labels than the name of the node.
func (m *mover) inDomains(c int, s *bin, without int) int {
	sum := 0
	for _, r := range m.p.softScores.by[c].domains {
		rule := &m.p.rules.domain[r]
		if rule.Rule.Key < 0 {
			continue
		}
		d, sure := s.at[rule.Rule.Key].sure()
		if !sure {
			continue
		}
		n := rule.Members[d] + m.count[r][d]
		if without >= 0 && m.p.isMember(without, rule.pods) {
			n--
		}
		sum += rule.term.draw() * n
	}
	return sum
}

// move moves one pod of a class.
func (m *mover) move(c int, from, to *bin) {
	i := slices.IndexFunc(from.podIDs, func(podID int32) bool { return m.a.classOf[podID] == c })
	podID := from.podIDs[i]
	from.podIDs = slices.Delete(from.podIDs, i, i+1)
	for j := range from.pods {
		if from.pods[j].class == c {
			from.pods[j].count--
		}
	}
	if from.node >= 0 {
		for r, n := range m.p.requests[c] {
			from.free[r] += n
		}
	} else {
		subtract(from.taken, m.p.requests[c])
	}
	m.tally(c, -1, from)
	m.p.addTo(to, c, podID)
	m.tally(c, 1, to)
	from.late, to.late = true, true
}
