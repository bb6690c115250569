package provisioning

import (
	"slices"

	"github.com/dovetail-sdk/dovetail/provisioning/internal/topology"
)

// ledger counts the pods of a plan as kube-scheduler would once they are bound,
// node by node. Where a new node leaves open in which domain it will be, what
// counts is the worst case. Unlike the assignment of domains, which comes before
// it is known what is launched, it counts no domain without a node.
type ledger struct {
	p      *Problem
	bins   []*bin
	counts []ledgerCount // by domain rule
	there  []int         // by class: pods of the plan

	hosts hostLedger

	// trusting takes it that spreads over domains of which new nodes leave some
	// open hold: the assignment of domains has seen to them.
	trusting bool
}

// ledgerCount is how a domain rule stands.
type ledgerCount struct {
	most, least, owners []int  // by domain
	is, may             []bool // by domain: it is one to be spread over, or may be
	sure                int    // how many are
	any                 bool   // a member is in some domain
	placed              bool   // the plan places pods that have the rule
	unsure              []*bin // that may be in a domain of a spread, or in another, or be overlooked
}

func newLedger(p *Problem, bins []*bin) *ledger {
	l := &ledger{p: p, counts: make([]ledgerCount, len(p.rules.domain)), there: make([]int, len(p.classes))}
	l.hosts = hostLedger{index: map[domainRuleKey]int{}, ofClass: map[int][]int{}, bySelection: map[int][]int{}}
	for i := range l.counts {
		rule, c := &p.rules.domain[i], &l.counts[i]
		if rule.Rule.Key < 0 {
			continue
		}
		c.most, c.least, c.owners = slices.Clone(rule.Members), slices.Clone(rule.Members), slices.Clone(rule.Owners)
		c.is, c.may = slices.Clone(rule.Counted), slices.Clone(rule.Counted)
		c.any = rule.Elsewhere
		for d := range c.most {
			c.any = c.any || c.most[d] > 0
			if c.is[d] {
				c.sure++
			}
		}
	}
	for _, s := range bins {
		l.open(s)
	}
	for _, s := range bins {
		for _, m := range s.pods {
			l.count(m.class, m.count, s)
		}
	}
	return l
}

// open adds a node, with no pods so far.
func (l *ledger) open(s *bin) {
	s.number = len(l.bins)
	l.bins = append(l.bins, s)
	l.openHost(s)
	if s.node >= 0 {
		return // the baseline has counted its domains
	}
	for i := range l.counts {
		rule, c := &l.p.rules.domain[i], &l.counts[i]
		if rule.Rule.Key < 0 || rule.Kind != topology.Spread {
			continue
		}
		may, sure := l.looked(i, s)
		if !may {
			continue
		}
		at := &s.at[rule.Rule.Key]
		for _, d := range l.domainsOf(i, s) {
			c.may[d] = true
		}
		switch d, certain := at.sure(); {
		case !certain || !sure:
			c.unsure = append(c.unsure, s)
		case !c.is[d]:
			c.is[d] = true
			c.sure++
		}
	}
}

// looked says whether a spread rule may look at a bin, and whether it is sure
// to.
func (l *ledger) looked(rule int, s *bin) (may, sure bool) {
	r := &l.p.rules.domain[rule]
	if s.node >= 0 {
		looks := l.p.looksAt(r, &l.p.nodes[s.node])
		return looks, looks
	}
	if s.binType.looks == nil {
		s.binType.looks = make([]look, len(l.counts))
	}
	known := &s.binType.looks[rule]
	if !known.known {
		*known = l.p.looksAtBinType(r, s.binType)
		known.in = l.p.lookedIn(r, s.binType)
		known.may = known.may && (len(known.in) > 0 || len(l.p.binTypeLocations(s.binType)[r.Rule.Key].domains) == 0)
	}
	return known.may, known.sure
}

// domainsOf lists the domains that a bin may be in and where a rule may look at
// it.
func (l *ledger) domainsOf(rule int, s *bin) []int {
	r := &l.p.rules.domain[rule]
	if s.node >= 0 || r.Kind != topology.Spread {
		return s.at[r.Rule.Key].domains
	}
	l.looked(rule, s)
	return s.binType.looks[rule].in
}

// lookedIn lists the domains that new nodes of a bin type may be in and where a spread
// rule may look at them: what its owners may not use is left out of it.
func (p *Problem) lookedIn(r *domainRule, s *binType) []int {
	domains := p.binTypeLocations(s)[r.Rule.Key].domains
	if len(domains) < 2 {
		return domains
	}
	looked := p.lookedAt(r, false).Clone()
	looked.And(s.options)
	var out []int
	for _, d := range domains {
		if looked.Overlaps(p.inPlace(r.Rule.Key, d)) {
			out = append(out, d)
		}
	}
	return out
}

// count counts n pods of a class on a bin.
func (l *ledger) count(class, n int, s *bin) {
	l.there[class] += n
	l.countHost(class, n, s)
	d := &l.p.rules.duties[class]
	for _, r := range d.owns {
		rule, c := &l.p.rules.domain[r], &l.counts[r]
		c.placed = true
		if rule.Kind == topology.Apart {
			for _, at := range s.at[rule.Rule.Key].domains {
				c.owners[at] += n
			}
		}
	}
	for _, r := range d.joins {
		rule, c := &l.p.rules.domain[r], &l.counts[r]
		if rule.Rule.Key < 0 || rule.Kind != topology.Apart && l.p.classes[class].headroom {
			continue // pods that do not exist are nobody to spread from or to follow
		}
		may, sure := true, true
		if rule.Kind == topology.Spread {
			may, sure = l.looked(r, s)
		}
		at, domains := &s.at[rule.Rule.Key], l.domainsOf(r, s)
		if !may || len(domains) == 0 {
			continue
		}
		c.any = true
		for _, at := range domains {
			c.most[at] += n
		}
		if at, certain := at.sure(); certain && sure {
			c.least[at] += n
		}
	}
}

// allows says whether the constraints between pods let a pod of a class come to
// a bin after all that are counted.
func (l *ledger) allows(class int, s *bin) bool {
	return l.p.rules.apartAllow(class, s.apart) && l.hostsAllow(class, s) && l.domainsAllow(class, s)
}

// domainsAllow says so as far as constraints over domains and affinity have a
// say.
func (l *ledger) domainsAllow(class int, s *bin) bool {
	d := &l.p.rules.duties[class]
	for _, r := range d.owns {
		rule := &l.p.rules.domain[r]
		at := &s.at[rule.Rule.Key]
		if rule.Kind != topology.Apart && (at.lacks || len(at.domains) == 0) {
			return false
		}
		for _, domain := range at.domains {
			if !l.ruleAllows(class, r, domain, s) {
				return false
			}
		}
	}
	for _, r := range d.joins {
		rule := &l.p.rules.domain[r]
		if rule.Rule.Key < 0 || rule.Kind != topology.Apart {
			continue
		}
		for _, domain := range s.at[rule.Rule.Key].domains {
			if l.counts[r].owners[domain] > 0 {
				return false
			}
		}
	}
	for _, t := range d.with {
		if !l.beside(t.pods, s) && !l.first(class, t.pods) {
			return false
		}
	}
	return true
}

// ruleAllows says whether a domain rule that pods of a class have lets one into
// a domain where a bin may be.
func (l *ledger) ruleAllows(class, r, domain int, s *bin) bool {
	rule, c := &l.p.rules.domain[r], &l.counts[r]
	switch rule.Kind {
	case topology.Spread:
		own := 0
		if l.p.classes[class].selected.Has(rule.pods) {
			own = 1
		}
		return !l.tooFar(r, domain, own, s)
	case topology.Together:
		return c.least[domain] > 0 || l.beside(rule.pods, s) || l.first(class, rule.pods)
	}
	return c.most[domain] == 0
}

// tooFar says whether a domain may be further above some other than a spread
// lets it be, with a number of pods more. A domain that is only there if a new
// node turns out to be in it is there with the pods of that node.
func (l *ledger) tooFar(r, domain, more int, s *bin) bool {
	rule, c := &l.p.rules.domain[r], &l.counts[r]
	sure := c.sure
	if !c.is[domain] {
		sure++
	}
	if l.trusting && len(c.unsure) > 0 {
		return false
	}
	if sure < rule.MinDomains {
		return c.most[domain]+more > rule.Skew
	}
	for d, may := range c.may {
		if may && d != domain && c.is[d] && c.most[domain]+more-c.least[d] > rule.Skew {
			return true
		}
	}
	for _, maker := range c.unsure {
		at := l.domainsOf(r, maker)
		if maker == s || len(at) == 1 && (at[0] == domain || c.is[at[0]]) {
			continue
		}
		here, most := 0, c.most[domain]
		for _, m := range maker.pods {
			if l.p.isMember(m.class, rule.pods) {
				here += m.count
			}
		}
		if slices.Contains(at, domain) {
			most -= here
		}
		if most+more-here > rule.Skew && slices.ContainsFunc(at, func(d int) bool { return d != domain && !c.is[d] }) {
			return true
		}
	}
	return false
}

// beside says whether a pod of a selection is on a bin.
func (l *ledger) beside(selection int, s *bin) bool {
	if s.node >= 0 && l.p.beside[selection] != nil && l.p.beside[selection][s.node] {
		return true
	}
	return slices.ContainsFunc(s.pods, func(m bundled) bool { return l.p.isMember(m.class, selection) })
}

// isMember says whether the pods of a class exist and are in a selection.
func (p *Problem) isMember(class, selection int) bool {
	return p.classes[class].selected.Has(selection) && !p.classes[class].headroom
}

// first says whether a pod of a class may be the first that an affinity is for:
// nobody matches it yet in any domain of any of its terms.
func (l *ledger) first(class, selection int) bool {
	if !l.p.classes[class].selected.Has(selection) {
		return false
	}
	for _, r := range l.p.rules.duties[class].owns {
		if rule := &l.p.rules.domain[r]; rule.Kind == topology.Together && rule.pods == selection && l.counts[r].any {
			return false
		}
	}
	if !l.p.wants(class, selection) {
		return true
	}
	if l.p.running[selection] {
		return false
	}
	for c, n := range l.there {
		if n > 0 && l.p.isMember(c, selection) {
			return false
		}
	}
	return true
}
