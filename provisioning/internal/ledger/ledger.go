package ledger

import (
	"slices"

	"github.com/dovetail-sdk/dovetail/provisioning/internal/attempt"
	"github.com/dovetail-sdk/dovetail/provisioning/internal/compile"
	"github.com/dovetail-sdk/dovetail/provisioning/internal/topology"
)

// Ledger counts the pods of a plan as kube-scheduler would once they are bound,
// node by node. Where a new node leaves open in which domain it will be, what
// counts is the worst case.
type Ledger struct {
	P      *compile.Problem
	Bins   []*Bin
	Counts []ledgerCount // by domain rule
	There  []int         // by class: pods of the plan

	Hosts hostLedger

	journal journal

	// Home is the bin that the pod whose place is looked for leaves, nil for none. A topology
	// spread constraint has let it come there, in the turn that it has among all pods: in
	// the same domain it need not hold after all others as well.
	Home *Bin

	// trusting takes it that spreads over domains of which new nodes leave some
	// open hold: the assignment of domains has seen to them.
	Trusting bool
}

// ledgerCount is how a domain rule stands.
type ledgerCount struct {
	Most, least, Owners []int  // by domain
	Is, May             []bool // by domain: it is one to be spread over, or may be
	Node                []bool // by domain: there is sure to be a node
	sure                int    // how many have one
	elsewhere           bool   // a member is where no domain of the rule is
	Leant               bool   // some of the pods that have the rule may have been let in only as no domain was empty: no further one may come
	unsure              []*Bin // that may be in a domain of a spread, or in another, or be overlooked
}

// any says whether a member is in some domain.
func (c *ledgerCount) any() bool {
	return c.elsewhere || slices.ContainsFunc(c.Most, func(n int) bool { return n > 0 })
}

// exists notes that there is a node in a domain.
func (c *ledgerCount) exists(d int) {
	c.Is[d] = true
	if !c.Node[d] {
		c.Node[d] = true
		c.sure++
	}
}

// New counts the pods of the bins.
func New(p *compile.Problem, bins []*Bin) *Ledger {
	l := &Ledger{P: p, Bins: make([]*Bin, 0, len(bins)+1), Counts: make([]ledgerCount, len(p.Rules.Domain)), There: make([]int, len(p.Classes))}
	l.Hosts.ofClass = make([][]int, len(p.Classes))
	domains := 0
	for i := range p.Rules.Domain {
		domains += len(p.Rules.Domain[i].Members)
	}
	numbers, facts := make(copies[int], 0, 3*domains), make(copies[bool], 0, 3*domains)
	for i := range l.Counts {
		rule, c := &p.Rules.Domain[i], &l.Counts[i]
		if rule.Rule.Key < 0 {
			continue
		}
		c.Most, c.least, c.Owners = numbers.of(rule.Members), numbers.of(rule.Members), numbers.of(rule.Owners)
		c.Is, c.May, c.Node = facts.of(rule.Counted), facts.of(rule.Counted), facts.of(rule.Sure)
		c.elsewhere = rule.Elsewhere
		for d := range c.Most {
			if c.Node[d] {
				c.sure++
			}
		}
	}
	for _, s := range bins {
		l.Open(s)
	}
	for _, s := range bins {
		for _, m := range s.Pods {
			l.Count(m.Class, m.Count, s)
		}
	}
	for _, s := range bins {
		for _, m := range s.Pods {
			l.leanOnDomains(m.Class, s, true) // whenever they came
		}
	}
	return l
}

// copies are of small slices, and lie in one piece of memory.
type copies[T any] []T

// of copies a slice. What is made first has room for all that is to come.
func (c *copies[T]) of(s []T) []T {
	n := len(*c)
	*c = append(*c, s...)
	return (*c)[n:len(*c):len(*c)]
}

// Open adds a node, with no pods so far.
func (l *Ledger) Open(s *Bin) {
	s.Number = len(l.Bins)
	l.Bins = append(l.Bins, s)
	l.openHost(s)
	if s.Node >= 0 {
		return // the baseline has counted its domains
	}
	for i := range l.Counts {
		rule, c := &l.P.Rules.Domain[i], &l.Counts[i]
		if rule.Rule.Key < 0 || rule.Kind != topology.Spread {
			continue
		}
		may, sure := l.Looked(i, s)
		if !may {
			continue
		}
		at := &s.At[rule.Rule.Key]
		for _, d := range l.domainsOf(i, s) {
			c.May[d] = true
		}
		if d, certain := at.Sure(); certain && sure {
			c.exists(d)
		} else {
			c.unsure = append(c.unsure, s)
		}
	}
}

// leave takes a new node without pods out of the domains: one in which no other node is or may
// be is none any more.
func (l *Ledger) leave(s *Bin) {
	for i := range l.Counts {
		rule, c := &l.P.Rules.Domain[i], &l.Counts[i]
		if rule.Rule.Key < 0 || rule.Kind != topology.Spread {
			continue
		}
		if may, _ := l.Looked(i, s); !may {
			continue
		}
		c.unsure = slices.DeleteFunc(c.unsure, func(o *Bin) bool { return o == s })
		for _, d := range l.domainsOf(i, s) {
			if rule.Sure[d] {
				continue
			}
			is, may := l.inDomain(i, d, s)
			if c.Node[d] && !is {
				c.Node[d] = false
				c.sure--
			}
			c.Is[d], c.May[d] = is || rule.Counted[d], may || rule.Counted[d]
		}
	}
}

// inDomain says whether some new node but one is in a domain of a spread rule for certain, or
// may be.
func (l *Ledger) inDomain(rule, domain int, but *Bin) (is, may bool) {
	key := l.P.Rules.Domain[rule].Rule.Key
	for _, s := range l.Bins {
		if s == but || s.Node >= 0 || s.Shut {
			continue
		}
		looks, sure := l.Looked(rule, s)
		if !looks || !slices.Contains(l.domainsOf(rule, s), domain) {
			continue
		}
		may = true
		if d, certain := s.At[key].Sure(); certain && sure && d == domain {
			return true, true
		}
	}
	return false, may
}

// Become makes a new node another that is nowhere where it could not be before, and counts
// its pods where they are then.
func (l *Ledger) Become(s *Bin, as *BinType) {
	l.Save(s)
	for _, m := range s.Pods {
		l.Count(m.Class, -m.Count, s)
	}
	s.BinType, s.At = as, BinTypeLocations(l.P, as)
	l.lookAgain(s)
	for _, m := range s.Pods {
		l.Count(m.Class, m.Count, s)
	}
	for i := range l.Counts {
		rule, c := &l.P.Rules.Domain[i], &l.Counts[i]
		at := slices.Index(c.unsure, s)
		if at < 0 {
			continue
		}
		d, certain := s.At[rule.Rule.Key].Sure()
		may, sure := l.Looked(i, s)
		if !may || certain && sure {
			c.unsure = slices.Delete(c.unsure, at, at+1)
		}
		if may && certain && sure {
			c.exists(d)
		}
	}
}

// Looked says whether a spread rule may look at a bin, and whether it is sure
// to.
func (l *Ledger) Looked(rule int, s *Bin) (may, sure bool) {
	r := &l.P.Rules.Domain[rule]
	if s.Node >= 0 {
		looks := l.P.LooksAt(r, &l.P.Nodes[s.Node])
		return looks, looks
	}
	f := s.BinType.facts
	if f.looks == nil {
		f.looks = make([]look, len(l.Counts))
	}
	known := &f.looks[rule]
	if !known.known {
		*known = LooksAtBinType(l.P, r, s.BinType)
		known.in = lookedIn(l.P, r, s.BinType)
		known.May = known.May && (len(known.in) > 0 || len(BinTypeLocations(l.P, s.BinType)[r.Rule.Key].Domains) == 0)
	}
	return known.May, known.Sure
}

// domainsOf lists the domains that a bin may be in and where a rule may look at
// it.
func (l *Ledger) domainsOf(rule int, s *Bin) []int {
	r := &l.P.Rules.Domain[rule]
	if s.Node >= 0 || r.Kind != topology.Spread {
		return s.At[r.Rule.Key].Domains
	}
	l.Looked(rule, s)
	return s.BinType.facts.looks[rule].in
}

// lookedIn lists the domains that new nodes of a bin type may be in and where a spread
// rule may look at them: what its owners may not use is left out of it.
func lookedIn(p *compile.Problem, r *compile.DomainRule, s *BinType) []int {
	domains := BinTypeLocations(p, s)[r.Rule.Key].Domains
	if len(domains) < 2 {
		return domains
	}
	looked := p.LookedAt(r, false).Both(s.Options)
	var out []int
	for _, d := range domains {
		if looked.Overlaps(p.InPlace(r.Rule.Key, d)) {
			out = append(out, d)
		}
	}
	return out
}

// Count counts n pods of a class on a bin.
func (l *Ledger) Count(class, n int, s *Bin) {
	l.There[class] += n
	l.countHost(class, n, s)
	d := &l.P.Rules.Duties[class]
	for _, r := range d.Owns {
		rule, c := &l.P.Rules.Domain[r], &l.Counts[r]
		if rule.Kind == topology.Apart {
			for _, at := range s.At[rule.Rule.Key].Domains {
				c.Owners[at] += n
			}
		}
	}
	for _, r := range d.Joins {
		rule, c := &l.P.Rules.Domain[r], &l.Counts[r]
		if rule.Rule.Key < 0 || rule.Kind != topology.Apart && l.P.Classes[class].Headroom {
			continue // pods that do not exist are nobody to spread from or to follow
		}
		may, sure := true, true
		if rule.Kind == topology.Spread {
			may, sure = l.Looked(r, s)
		}
		at, domains := &s.At[rule.Rule.Key], l.domainsOf(r, s)
		if !may || len(domains) == 0 {
			continue
		}
		for _, at := range domains {
			c.Most[at] += n
		}
		if at, certain := at.Sure(); certain && sure {
			c.least[at] += n
		}
	}
}

// Allows says whether the constraints between pods let a pod of a class come to
// a bin after all that are counted.
func (l *Ledger) Allows(class int, s *Bin) bool {
	return NodeAllows(l.P.Rules, class, s.Apart) && l.HostsAllow(class, s) && l.DomainsAllow(class, s)
}

// DomainsAllow says so as far as constraints over domains and affinity have a
// say.
func (l *Ledger) DomainsAllow(class int, s *Bin) bool {
	d := &l.P.Rules.Duties[class]
	for _, r := range d.Owns {
		rule := &l.P.Rules.Domain[r]
		at := &s.At[rule.Rule.Key]
		if rule.Kind != topology.Apart && (at.Lacks || len(at.Domains) == 0) {
			return false
		}
		for _, domain := range at.Domains {
			if !l.RuleAllows(class, r, domain, s) {
				return false
			}
		}
	}
	for _, r := range d.Joins {
		rule := &l.P.Rules.Domain[r]
		if rule.Rule.Key < 0 || rule.Kind != topology.Apart {
			continue
		}
		for _, domain := range s.At[rule.Rule.Key].Domains {
			if l.Counts[r].Owners[domain] > 0 {
				return false
			}
		}
	}
	for _, t := range d.With {
		if !l.beside(t.Pods, s) && !l.first(class, t.Pods) {
			return false
		}
	}
	return true
}

// RuleAllows says whether a domain rule that pods of a class have lets one into
// a domain where a bin may be.
func (l *Ledger) RuleAllows(class, r, domain int, s *Bin) bool {
	rule, c := &l.P.Rules.Domain[r], &l.Counts[r]
	switch rule.Kind {
	case topology.Spread:
		return l.atHome(rule.Rule.Key, domain) || !l.tooFar(r, domain, l.own(class, rule.Pods), s)
	case topology.Together:
		return c.least[domain] > 0 || l.beside(rule.Pods, s) || l.first(class, rule.Pods)
	}
	return c.Most[domain] == 0
}

// atHome says whether the pod whose place is looked for stays in a domain.
func (l *Ledger) atHome(key, domain int) bool {
	if l.Home == nil {
		return false
	}
	d, certain := l.Home.At[key].Sure()
	return certain && d == domain
}

// tooFar says whether a domain may be further above some other than a spread
// lets it be, with a number of pods more. A domain that is only there if a new
// node turns out to be in it is there with the pods of that node.
func (l *Ledger) tooFar(r, domain, more int, s *Bin) bool {
	rule, c := &l.P.Rules.Domain[r], &l.Counts[r]
	sure := c.sure
	if !c.Node[domain] {
		sure++
	}
	if l.Trusting && len(c.unsure) > 0 {
		return false
	}
	if sure < rule.MinDomains {
		return c.Most[domain]+more > rule.Skew
	}
	for d, may := range c.May {
		if may && d != domain && c.Is[d] && c.Most[domain]+more-c.least[d] > rule.Skew {
			return true
		}
	}
	for _, maker := range c.unsure {
		at := l.domainsOf(r, maker)
		if maker == s || len(at) == 1 && (at[0] == domain || c.Is[at[0]]) {
			continue
		}
		here, most := 0, c.Most[domain]
		for _, m := range maker.Pods {
			if l.P.IsMember(m.Class, rule.Pods) {
				here += m.Count
			}
		}
		if slices.Contains(at, domain) {
			most -= here
		}
		if most+more-here > rule.Skew && slices.ContainsFunc(at, func(d int) bool { return d != domain && !c.Is[d] }) {
			return true
		}
	}
	return false
}

// beside says whether a pod of a selection is on a bin.
func (l *Ledger) beside(selection int, s *Bin) bool {
	if s.Node >= 0 && l.P.Beside[selection] != nil && l.P.Beside[selection][s.Node] {
		return true
	}
	return slices.ContainsFunc(s.Pods, func(m attempt.Bundled) bool { return l.P.IsMember(m.Class, selection) })
}

// first says whether a pod of a class may be the first that an affinity is for:
// nobody matches it yet in any domain of any of its terms.
func (l *Ledger) first(class, selection int) bool {
	if !l.P.Classes[class].Selected.Has(selection) {
		return false
	}
	for _, r := range l.P.Rules.Duties[class].Owns {
		if rule := &l.P.Rules.Domain[r]; rule.Kind == topology.Together && rule.Pods == selection && l.Counts[r].any() {
			return false
		}
	}
	if !attempt.Wants(l.P, class, selection) {
		return true
	}
	if l.P.Running[selection] {
		return false
	}
	for c, n := range l.There {
		if n > 0 && l.P.IsMember(c, selection) {
			return false
		}
	}
	return true
}
