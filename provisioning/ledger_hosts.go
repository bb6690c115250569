package provisioning

import (
	"math"
	"slices"

	"github.com/dovetail-sdk/dovetail/provisioning/internal/pack"
)

// hostLedger counts the pods of a plan for topology spread constraints over the
// name of the node. What nobody asked about is not counted.
type hostLedger struct {
	spreads     []hostSpread
	index       map[domainRuleKey]int
	ofClass     map[int][]int // by class: its constraints
	bySelection map[int][]int
	key         podKey
}

// hostSpread is how such a constraint stands.
type hostSpread struct {
	rule  domainRule
	there []int       // by bin: pods that it counts
	looks []look      // by bin
	tally map[int]int // how many nodes that it may look at have so many
	sure  int         // how many nodes it is sure to look at

	// leant says that some pod was let in only as no node is empty that the
	// constraint looks at. From then on no further such node may come.
	leant bool
}

// hostsOf lists the constraints of a class.
func (l *ledger) hostsOf(class int) []int {
	h := &l.hosts
	if known, ok := h.ofClass[class]; ok {
		return known
	}
	var out []int
	for _, t := range l.p.classes[class].hostSpreads() {
		id := domainRuleKey{term: t, filter: spreadFilter(l.p, class, t, &h.key)}
		n, ok := h.index[id]
		if !ok {
			n = len(h.spreads)
			h.index[id] = n
			h.bySelection[t.pods] = append(h.bySelection[t.pods], n)
			h.spreads = append(h.spreads, l.newHostSpread(class, t))
		}
		out = append(out, n)
	}
	h.ofClass[class] = out
	return out
}

// newHostSpread counts all that is there for a constraint of a class.
func (l *ledger) newHostSpread(class int, t term) hostSpread {
	out := hostSpread{rule: domainRule{like: class, spans: spreadKeys(l.p.classes[class].terms), term: t}, tally: map[int]int{}}
	for _, s := range l.bins {
		there := l.p.boundOnHost(t, s)
		for _, m := range s.pods {
			if l.p.isMember(m.class, t.pods) {
				there += m.count
			}
		}
		l.addBin(&out, s, there)
	}
	for i := range l.p.gone {
		g := &l.p.gone[i]
		if l.p.looksAt(&out.rule, &g.existing) {
			out.tally[l.p.membersOf(t, g.parts)]++
			out.sure++
		}
	}
	return out
}

// addBin adds a node with so many pods that count.
func (l *ledger) addBin(h *hostSpread, s *bin, there int) {
	h.there = append(h.there, there)
	h.looks = append(h.looks, look{})
	l.look(h, s)
}

// look notes how a constraint sees a bin.
func (l *ledger) look(h *hostSpread, s *bin) {
	before := h.looks[s.number]
	seen := look{known: true}
	if s.shut {
	} else if s.node < 0 {
		seen = l.p.looksAtBinType(&h.rule, s.binType)
	} else if l.p.looksAt(&h.rule, &l.p.nodes[s.node]) {
		seen.may, seen.sure = true, true
	}
	h.looks[s.number] = seen
	if seen.may != before.may {
		h.add(h.there[s.number], seen.may)
	}
	switch {
	case seen.sure && !before.sure:
		h.sure++
	case before.sure && !seen.sure:
		h.sure--
	}
}

// add adds a node with so many pods to the tally, or takes it out.
func (h *hostSpread) add(there int, in bool) {
	if in {
		h.tally[there]++
	} else if h.tally[there]--; h.tally[there] == 0 {
		delete(h.tally, there)
	}
}

// emptiest is the least that a constraint finds on any node.
func (h *hostSpread) emptiest() int {
	if h.sure < h.rule.term.minDomains {
		return 0
	}
	least := math.MaxInt
	for n := range h.tally {
		least = min(least, n)
	}
	return least
}

// leastThere is the least that a constraint finds on the nodes that exist, 0 if it
// looks at none of them.
func (l *ledger) leastThere(h *hostSpread) int {
	least := math.MaxInt
	for i, s := range l.bins {
		if s.node >= 0 && h.looks[i].may {
			least = min(least, h.there[i])
		}
	}
	for i := range l.p.gone {
		if g := &l.p.gone[i]; l.p.looksAt(&h.rule, &g.existing) {
			least = min(least, l.p.membersOf(h.rule.term, g.parts))
		}
	}
	if least == math.MaxInt {
		return 0
	}
	return least
}

// shut takes a new node without pods out of the count: it will not be launched.
func (l *ledger) shut(s *bin) {
	s.shut = true
	l.reshaped(s)
}

// lean notes which constraints let a pod of a class come to a bin only as no node
// is empty.
func (l *ledger) lean(class int, s *bin) {
	if l.p.classes[class].headroom {
		return
	}
	for _, i := range l.hostsOf(class) {
		if h := &l.hosts.spreads[i]; h.there[s.number]+1 > h.rule.term.skew {
			h.leant = true
		}
	}
}

// leantRules adds the rules over nodes of constraints that some pod was let in by
// only as no node was empty.
func (l *ledger) leantRules(to []int) []int {
	for i := range l.hosts.spreads {
		h := &l.hosts.spreads[i]
		if rule := l.p.hostRule(h.rule.term); h.leant && !slices.Contains(to, rule) {
			to = append(to, rule)
		}
	}
	return to
}

// hostRule is the rule over nodes that a topology spread over the name of the node
// is put as.
func (p *Problem) hostRule(t term) int {
	return p.rules.nodeIndex[nodeRuleKey{pack.AtMost, t.pods, t.skew, t.minDomains}]
}

// leanAll notes so for all pods that are counted, whenever they came.
func (l *ledger) leanAll() {
	for _, s := range l.bins {
		for _, m := range s.pods {
			if l.p.classes[m.class].headroom {
				continue
			}
			for _, i := range l.hostsOf(m.class) {
				h := &l.hosts.spreads[i]
				h.leant = h.leant || h.there[s.number] > h.rule.term.skew
			}
		}
	}
}

// openHost adds a node without pods.
func (l *ledger) openHost(s *bin) {
	for i := range l.hosts.spreads {
		h := &l.hosts.spreads[i]
		l.addBin(h, s, l.p.boundOnHost(h.rule.term, s))
	}
}

// countHost counts n pods of a class on a bin.
func (l *ledger) countHost(class, n int, s *bin) {
	if len(l.hosts.spreads) == 0 || l.p.classes[class].headroom {
		return
	}
	for selection := range l.p.classes[class].selected.All() {
		for _, i := range l.hosts.bySelection[selection] {
			h := &l.hosts.spreads[i]
			if h.looks[s.number].may {
				h.add(h.there[s.number], false)
				h.add(h.there[s.number]+n, true)
			}
			h.there[s.number] += n
		}
	}
}

// reshaped notes that a new node has become another.
func (l *ledger) reshaped(s *bin) {
	for i := range l.hosts.spreads {
		l.look(&l.hosts.spreads[i], s)
	}
}

// hostsAllow says whether the topology spread constraints of a class over the
// name of the node let one of its pods come to a bin.
func (l *ledger) hostsAllow(class int, s *bin) bool {
	if l.p.classes[class].headroom {
		return true
	}
	for _, i := range l.hostsOf(class) {
		h := &l.hosts.spreads[i]
		t, there, own := &h.rule.term, 0, 0
		if s.number >= 0 {
			there = h.there[s.number]
		}
		if l.p.classes[class].selected.Has(t.pods) {
			own = 1
		}
		if there+own > t.skew && there+own-min(there, h.emptiest()) > t.skew {
			return false
		}
	}
	return true
}

// fillsFirst says whether a further new node would be one to be filled first, by a
// constraint of pods that are where they are only as no node was empty.
func (l *ledger) fillsFirst(s *bin) bool {
	for i := range l.hosts.spreads {
		h := &l.hosts.spreads[i]
		if h.leant && l.p.looksAtBinType(&h.rule, s.binType).may {
			return true
		}
	}
	return false
}

// boundOnHost counts the pods that run on a bin that a spread over the name of
// the node is about.
func (p *Problem) boundOnHost(t term, s *bin) int {
	if s.node < 0 {
		return 0
	}
	return p.membersOf(t, p.nodeParts[s.node])
}

// membersOf counts the members of a spread over the name of the node among what
// the pods of a node count for.
func (p *Problem) membersOf(t term, parts []pack.Membership) int {
	rule := p.hostRule(t)
	for _, part := range parts {
		if part.Rule == rule {
			return part.Members
		}
	}
	return 0
}
