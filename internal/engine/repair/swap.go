package repair

import (
	"math"
	"slices"

	"github.com/dovetail-sdk/dovetail/internal/engine/attempt"
	"github.com/dovetail-sdk/dovetail/internal/engine/compile"
	"github.com/dovetail-sdk/dovetail/internal/engine/ledger"
	"github.com/dovetail-sdk/dovetail/internal/engine/model"
	"github.com/dovetail-sdk/dovetail/internal/engine/topology"
	"github.com/dovetail-sdk/dovetail/internal/engine/workload"
)

// mover moves single pods between the nodes of a plan, or exchanges two, where that satisfies more
// preferences of the moved pods and their neighbours. The options of nodes and their cost do not
// change.
type mover struct {
	st     *State
	p      *compile.Problem
	bins   []*ledger.Bin
	ledger *ledger.Ledger
	looks  int   // how many more comparisons it may make
	stuck  []int // by class: the score from which no better place was found
	near   map[classNode]int
}

type classNode struct{ class, node int }

const (
	// looksForSoftScore is the number of comparisons of two nodes for a pod that one call may make.
	looksForSoftScore = 50_000
	// binsForExchange is the largest number of nodes for which pods are exchanged: an exchange
	// compares each class of every node.
	binsForExchange = 64
	// roundsForSoftScore is how often the pods of all nodes are tried.
	roundsForSoftScore = 3
)

// swapBySoftScore moves pods that prefer other nodes of the plan, and says whether it moved any. It
// moves only pods whose place matters to no required constraint.
func (st *State) swapBySoftScore() bool {
	if !st.p.SoftScores.Some || st.p.Skips(model.SwapPods) {
		return false
	}
	m := &mover{st: st, p: st.p, bins: st.Bins(), looks: looksForSoftScore, near: map[classNode]int{}}
	if len(m.bins) < 2 {
		return false
	}
	m.ledger = ledger.New(m.p, m.bins)
	some := false
	for range roundsForSoftScore {
		moved := false
		m.stuck = slices.Repeat([]int{math.MaxInt}, len(m.p.Classes))
		for _, s := range m.bins {
			for _, c := range m.classesOn(s) {
				for m.moveOne(c, s) {
					moved = true
				}
			}
		}
		if !moved {
			break
		}
		some = true
	}
	for i := range st.Bound {
		st.Bound[i] = m.bins[i].PodIDs
	}
	return some
}

// classesOn lists the classes of pods of the plan on a bin that could have a better place.
func (m *mover) classesOn(s *ledger.Bin) []int {
	var out []int
	for _, on := range s.Pods {
		if t := &m.p.SoftScores.By[on.Class]; t.Free && m.mayGain(on.Class, s) {
			out = append(out, on.Class)
		}
	}
	slices.Sort(out)
	return out
}

// mayGain says whether a pod of a class may have a better place than on a bin.
func (m *mover) mayGain(c int, s *ledger.Bin) bool {
	t := &m.p.SoftScores.By[c]
	if m.neighbourScore(c, s, c) < 0 || slices.ContainsFunc(t.Hosts, func(h workload.Term) bool { return h.Kind == topology.Together }) {
		return true
	}
	return s.Node >= 0 && (t.Terms != nil || len(t.Domains) > 0 || len(m.p.Nodes[s.Node].SoftTaints) > 0)
}

// moveOne moves one pod of a class off a bin to where the score rises most, and says whether there
// was such a place.
func (m *mover) moveOne(c int, s *ledger.Bin) bool {
	if !slices.ContainsFunc(s.Pods, func(on attempt.Bundled) bool { return on.Class == c }) {
		return false
	}
	var best *ledger.Bin
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
		room := m.hasRoom(t, m.p.Requests[c], nil)
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

// exchange returns the class of the pod on t that is best exchanged for a pod of class c on s, and
// the gain; -1 if no exchange gains more than most.
func (m *mover) exchange(c int, s, t *ledger.Bin, here, most int) (best, gain int) {
	best = -1
	for _, on := range t.Pods {
		d := on.Class
		if d == c || !m.p.SoftScores.By[d].Free || !m.comparable(d, t, s) {
			continue
		}
		sum := m.score(c, t, d) - here + m.score(d, s, c) - m.score(d, t, d)
		if sum > most && m.mayExchange(c, s, d, t) {
			best, most = d, sum
		}
	}
	return best, most
}

// comparable says whether the scores of pods of a class on two bins can be compared, and no
// required constraint depends on which of the two bins they are on.
func (m *mover) comparable(c int, s, t *ledger.Bin) bool {
	softScore := &m.p.SoftScores.By[c]
	if s.Node >= 0 && t.Node >= 0 {
		return !softScore.Alike && (m.p.Nodes[t.Node].Ready || !m.p.Nodes[s.Node].Ready)
	}
	if s.Node >= 0 || t.Node >= 0 {
		return false
	}
	class := &m.p.Classes[c]
	picky := softScore.Alike || class.NoSpot || len(class.Preferences)+len(softScore.Domains) > 0 || m.p.Preferences[c].Options != nil || len(m.p.Preferences[c].Spans) > 0
	if s.BinType.Pool != t.BinType.Pool || picky && !s.BinType.Alike(t.BinType) {
		return false
	}
	if !softScore.Alike {
		return true
	}
	d := &m.p.Rules.ByClass[c]
	for _, list := range [][]int{d.Owns, d.Joins} {
		for _, r := range list {
			if rule := &m.p.Rules.Domain[r]; rule.Term.Weight == 0 && rule.Key >= 0 {
				if _, sure := s.At[rule.Key].Sure(); !sure {
					return false
				}
			}
		}
	}
	return true
}

// score returns how well a bin suits a pod of a class, given the pods there except one pod of class
// without.
func (m *mover) score(c int, s *ledger.Bin, without int) int {
	sum := m.neighbourScore(c, s, without)
	if s.Node < 0 {
		return sum
	}
	if m.p.SoftScores.By[c].Terms != nil || len(m.p.Nodes[s.Node].SoftTaints) > 0 {
		key := classNode{c, s.Node}
		own, ok := m.near[key]
		if !ok {
			own = m.p.NodeScore(c, s.Node)
			m.near[key] = own
		}
		sum += own
	}
	return sum + m.inDomains(c, s, without)
}

// neighbourScore returns how well a pod of a class and the pods of a node suit each other, except
// one pod of class without.
func (m *mover) neighbourScore(c int, s *ledger.Bin, without int) int {
	sum := 0
	for _, on := range s.Pods {
		n := on.Count
		if on.Class == without {
			n--
		}
		if n > 0 {
			sum += n * (m.p.Pull(c, on.Class) + m.p.Pull(on.Class, c))
		}
	}
	if s.Node >= 0 {
		for _, t := range m.p.SoftScores.By[c].Hosts {
			sum += compile.Draw(&t) * m.p.SoftScores.Bound[t.Pods][s.Node]
		}
	}
	return sum
}

// inDomains returns how well the domains of an existing node suit a pod of a class, by its soft
// constraints over other labels than the hostname.
func (m *mover) inDomains(c int, s *ledger.Bin, without int) int {
	sum := 0
	for _, r := range m.p.SoftScores.By[c].Domains {
		rule := &m.p.Rules.Domain[r]
		if rule.Key < 0 {
			continue
		}
		d, sure := s.At[rule.Key].Sure()
		if !sure {
			continue
		}
		n := m.ledger.Counts[r].Least[d]
		if without >= 0 && m.p.IsMember(without, rule.Term.Pods) {
			n--
		}
		sum += compile.Draw(&rule.Term) * n
	}
	return sum
}

// move moves one pod of a class.
func (m *mover) move(c int, from, to *ledger.Bin) {
	podID := from.PodIDs[slices.IndexFunc(from.PodIDs, func(podID int32) bool { return m.p.ClassOf[podID] == c })]
	m.ledger.Take(from, func(other int32) bool { return other == podID })
	m.ledger.Place(podID, to)
}

// mayMove says whether a pod of a class may go to a bin, apart from room.
func (m *mover) mayMove(c int, from, to *ledger.Bin) bool {
	if from.Node < 0 && len(from.PodIDs) < 2 {
		return false // a new node must not become empty
	}
	return m.suits(c, to)
}

// mayExchange says whether a pod of class c on s and a pod of class d on t can be exchanged.
func (m *mover) mayExchange(c int, s *ledger.Bin, d int, t *ledger.Bin) bool {
	return m.suits(c, t) && m.suits(d, s) && m.hasRoom(t, m.p.Requests[c], m.p.Requests[d]) && m.hasRoom(s, m.p.Requests[d], m.p.Requests[c])
}

// hasRoom says whether a bin has room for one request more and another less, on every option of a
// new node.
func (m *mover) hasRoom(s *ledger.Bin, more, less []int64) bool {
	return s.HasRoom(m.p, (*ledger.BinType).Least, more, less)
}

// suits says whether the pods of a class may be on a bin with its current bin type, apart from
// room.
func (m *mover) suits(c int, s *ledger.Bin) bool {
	if s.Node >= 0 {
		return m.p.Admits(c, &m.p.Nodes[s.Node])
	}
	low := m.st.anywhere(c)
	for i, v := range low.class.Variants {
		if (v.Trait == 0 || v.Trait == s.BinType.Trait) && s.BinType.Options.SubsetOf(v.Options) && s.BinType.Asked.Intersect(low.item.Sources[i]).Equal(s.BinType.Asked) {
			return true
		}
	}
	return false
}
