package ledger

import (
	"slices"

	"github.com/dovetail-sdk/dovetail/internal/engine/attempt"
	"github.com/dovetail-sdk/dovetail/internal/engine/compile"
	"github.com/dovetail-sdk/dovetail/internal/engine/topology"
	"github.com/dovetail-sdk/dovetail/internal/engine/workload"
)

// Ledger counts the pods of a plan node by node, as kube-scheduler counts them once they are bound,
// and the DaemonSet pods that new nodes add.
type Ledger struct {
	P      *compile.Problem
	Bins   []*Bin
	Counts []Count     // by domain rule
	ways   []nodeCount // by DomainRule.Way
	There  []int       // by class: pods of the plan
	Daemon []int       // by entry of ByDaemon: new nodes on which it runs
	block  block       // all counts above

	Hosts []hostSpread // by number in Rules.Host

	// Relied says, by domain rule and after these by number in Rules.Host, that a topology spread may
	// have allowed a pod only because no domain or node that it counts was empty: no empty one may be
	// added.
	Relied []bool

	journal journal
	keys    []int // the last result of KeysOfCell

	// Home is the bin that a pod leaves while a place for it is sought, nil for none. A topology
	// spread allowed the pod there at its position in the order of pods. Within the same domain the
	// spread need not hold after all other pods as well.
	Home *Bin
}

// Count has the counts of a domain rule. All slices are by domain.
type Count struct {
	Members []int // pods that the rule counts, on all nodes that may be in the domain
	Least   []int // pods that the rule counts on nodes that are certainly in the domain and certainly counted
	Owners  []int // pods that have the rule, for an anti-affinity
	spare   []int // headroom pods that a spread counts; only other headroom pods are spread over them

	elsewhere bool // the rule counts a pod on a node outside all of its domains
}

// nodeCount has the nodes that spread rules of one way count. All slices are by domain.
type nodeCount struct {
	sure    []bool // an existing node is certainly in the domain; shared with the problem
	certain []int  // new nodes that are certainly in the domain and counted
	may     []int  // new nodes that may be in the domain and may be counted; the last entry is for domains that the table does not list
}

// domains returns the number of domains in which an existing or new node certainly is, if the domain
// more, negative for none, gets a node too.
func (n *nodeCount) domains(more int) (sum int) {
	for d := range n.sure {
		if d == more || n.sure[d] || n.certain[d] > 0 {
			sum++
		}
	}
	return sum
}

// any says whether the rule counts a pod in any domain or elsewhere.
func (c *Count) any() bool {
	return c.elsewhere || slices.ContainsFunc(c.Members, func(n int) bool { return n > 0 })
}

// Domains returns the number of domains of a topology spread in which a node that it counts certainly
// is; 0 for other rules.
func (l *Ledger) Domains(rule int) int {
	if w := l.P.Rules.Domain[rule].Way; w >= 0 {
		return l.ways[w].domains(-1)
	}
	return 0
}

// Covers says whether a topology spread certainly counts a domain. It is false for other rules.
func (l *Ledger) Covers(rule, domain int) bool {
	r := &l.P.Rules.Domain[rule]
	return r.Way >= 0 && (r.Counted[domain] || l.ways[r.Way].certain[domain] > 0)
}

// New returns a ledger with the pods of the bins counted.
func New(p *compile.Problem, bins []*Bin) *Ledger {
	l := &Ledger{P: p, Bins: make([]*Bin, 0, len(bins)+1), Counts: make([]Count, len(p.Rules.Domain)), ways: make([]nodeCount, p.Rules.Ways())}
	l.Hosts, l.Relied = make([]hostSpread, len(p.Rules.Host)), make([]bool, len(p.Rules.Domain)+len(p.Rules.Host))
	size := len(p.Classes) + len(p.ByDaemon)
	for i := range p.Rules.Domain {
		size += 4 * len(p.Rules.Domain[i].Members)
	}
	for w := range l.ways {
		size += 2*len(p.Rules.OfWay(w).Sure) + 1
	}
	l.block = make(block, 0, size)
	l.There, l.Daemon = l.block.take(len(p.Classes)), l.block.take(len(p.ByDaemon))
	for i := range l.Counts {
		rule, c := &p.Rules.Domain[i], &l.Counts[i] // without a key the rule has no domains
		for _, counts := range []*[]int{&c.Members, &c.Least, &c.Owners, &c.spare} {
			*counts = l.block.take(len(rule.Members))
		}
		copy(c.Members, rule.Members)
		copy(c.Least, rule.Members)
		copy(c.Owners, rule.Owners)
		for d, n := range rule.Perhaps {
			c.Members[d] += n
		}
		c.elsewhere = rule.Elsewhere
	}
	for w := range l.ways {
		sure := p.Rules.OfWay(w).Sure
		l.ways[w] = nodeCount{sure: sure, certain: l.block.take(len(sure)), may: l.block.take(len(sure) + 1)}
	}
	for _, s := range bins {
		l.Open(s)
	}
	for _, s := range bins {
		l.countPods(s, 1)
	}
	l.RecordRelianceAnew(nil) // the order in which the pods were placed is not known
	return l
}

// block is the memory of many slices of counts, which Mark and Rewind copy as one.
type block []int

// take returns a slice of n zeros. The block must have the capacity for all of its slices.
func (b *block) take(n int) []int {
	at := len(*b)
	*b = (*b)[:at+n]
	return (*b)[at : at+n : at+n]
}

// Open adds a node without pods.
func (l *Ledger) Open(s *Bin) {
	s.Number = len(l.Bins)
	l.Bins = append(l.Bins, s)
	for i := range l.Hosts {
		if h := &l.Hosts[i]; h.Rule != nil {
			l.addBin(h, s, 0)
		}
	}
	if s.Node >= 0 && !l.P.Opts.Placed {
		return // the baseline counts its domains
	}
	l.countNode(s, 1)
}

// countNode adds n, 1 or -1, times a node that the baseline does not count: to the nodes in its
// domains, for topology spreads, and to the counts of its DaemonSet pods.
func (l *Ledger) countNode(s *Bin, n int) {
	for w := range l.ways {
		rule, c := l.P.Rules.OfWay(w), &l.ways[w]
		if rule.Key < 0 {
			continue
		}
		domains, sure := l.seen(rule, s)
		for _, d := range domains {
			c.may[d] += n
		}
		if l.seenBeyond(rule, s) {
			c.may[len(c.sure)] += n
		}
		if sure >= 0 {
			c.certain[sure] += n
		}
	}
	if s.Node >= 0 {
		return // the baseline counts its DaemonSet pods
	}
	for _, d := range s.BinType.DaemonsOn(l.P) {
		l.Daemon[d.Number] += n
		for _, r := range d.Rules.Owns {
			l.countOwner(r, n, s)
		}
		for _, r := range d.Rules.Joins {
			l.countMember(r, l.Counts[r].Members, n, s, d.Sure)
		}
	}
}

// Become changes the bin type of a new node to one with a subset of its locations, and moves the
// counts of its pods there.
func (l *Ledger) Become(s *Bin, as *BinType) {
	l.save(s)
	l.countPods(s, -1)
	l.countNode(s, -1)
	s.BinType, s.At = as, BinTypeLocations(l.P, as)
	l.lookAgain(s)
	l.countNode(s, 1)
	l.countPods(s, 1)
}

// Place puts a pod on a bin.
func (l *Ledger) Place(podID int32, s *Bin) {
	l.save(s)
	addTo(l.P, s, podID)
	l.Count(l.P.ClassOf[podID], 1, s)
	s.Late = true
}

// Take takes those pods off a bin for which gone returns true.
func (l *Ledger) Take(s *Bin, gone func(podID int32) bool) {
	l.saveForHold(s)
	l.countPods(s, -1)
	Hold(l.P, s, slices.DeleteFunc(slices.Clone(s.PodIDs), gone))
	l.countPods(s, 1)
	s.Late = true
}

// countPods adds n, 1 or -1, times the pods of the plan on a bin to the counts.
func (l *Ledger) countPods(s *Bin, n int) {
	for _, m := range s.Pods {
		l.Count(m.Class, n*m.Count, s)
	}
}

// looked says whether a spread rule may count the pods of a bin, and whether it certainly does.
func (l *Ledger) looked(r *compile.DomainRule, s *Bin) (may, sure bool) {
	if s.Node >= 0 {
		looks := l.P.LooksAt(r, &l.P.Nodes[s.Node])
		return looks, looks
	}
	return s.BinType.Looked(l.P, r)
}

// seen returns the domains in which a bin may be and a rule may count its pods, and the domain in
// which it certainly counts them, -1 if there is none.
func (l *Ledger) seen(r *compile.DomainRule, s *Bin) (domains []int, sure int) {
	at, may, looks := &s.At[r.Key], true, true
	domains = at.Domains
	if r.Kind == topology.Spread {
		if may, looks = l.looked(r, s); !may {
			return nil, -1
		}
		if s.Node < 0 {
			domains = s.BinType.look(l.P, r).in
		}
	}
	if d, certain := at.Sure(); certain && looks {
		return domains, d
	}
	return domains, -1
}

// seenBeyond says whether a topology spread may count a bin in a domain that the table does not list.
func (l *Ledger) seenBeyond(r *compile.DomainRule, s *Bin) bool {
	return s.Node < 0 && s.BinType.look(l.P, r).beyond
}

// lookedIn lists the domains in which new nodes of a bin type may be and a spread rule may count
// them. Options that the rule's owners may not use are left out.
func lookedIn(p *compile.Problem, r *compile.DomainRule, s *BinType) []int {
	domains := BinTypeLocations(p, s)[r.Key].Domains
	if len(domains) < 2 {
		return domains
	}
	looked := p.LookedAt(r, false).Both(s.Options)
	var out []int
	for _, d := range domains {
		if looked.Overlaps(p.InPlace(r.Key, d)) {
			out = append(out, d)
		}
	}
	return out
}

// Count adds n pods of a class on a bin to the counts; n may be negative.
func (l *Ledger) Count(class, n int, s *Bin) { l.count(class, n, s, true) }

// count is Count for pods of which there says whether they are certainly on the bin.
func (l *Ledger) count(class, n int, s *Bin, there bool) {
	l.There[class] += n
	l.countHost(class, n, s)
	d := &l.P.Rules.ByClass[class]
	for _, r := range d.Owns {
		if l.P.Rules.Domain[r].Kind == topology.Apart {
			l.countOwner(r, n, s)
		}
	}
	for _, r := range d.Joins {
		switch rule := &l.P.Rules.Domain[r]; {
		case !l.P.Classes[class].Headroom || rule.Kind == topology.Apart && rule.Term.Weight == 0:
			l.countMember(r, l.Counts[r].Members, n, s, there)
		case rule.Kind == topology.Spread: // headroom pods do not count for pods that exist
			l.countMember(r, l.Counts[r].spare, n, s, false)
		}
	}
}

// countOwner counts n pods on a bin that have an anti-affinity.
func (l *Ledger) countOwner(r, n int, s *Bin) {
	if k := l.P.Rules.Domain[r].Key; k >= 0 {
		for _, at := range s.At[k].Domains {
			l.Counts[r].Owners[at] += n
		}
	}
}

// countMember counts n pods on a bin for a rule in counts, Members or spare. there says whether the
// pods are certainly on the bin.
func (l *Ledger) countMember(r int, counts []int, n int, s *Bin, there bool) {
	rule := &l.P.Rules.Domain[r]
	if rule.Key < 0 {
		return
	}
	domains, sure := l.seen(rule, s)
	for _, d := range domains {
		counts[d] += n
	}
	if sure >= 0 && there {
		l.Counts[r].Least[sure] += n
	}
}

// Allows says whether the constraints between pods allow a pod of a class on a bin after all pods
// counted so far.
func (l *Ledger) Allows(class int, s *Bin) bool { return l.Excluder(class, s) == nil }

// Excluder returns the first constraint that excludes a pod of a class from a bin after all pods
// counted so far, nil if there is none. Its key is empty for a host port, a volume or a limit.
func (l *Ledger) Excluder(class int, s *Bin) *workload.Term {
	if t := l.P.Rules.NodeExcluder(class, s.Apart); t != nil {
		return t
	}
	if t := l.hostExcluder(class, s); t != nil {
		return t
	}
	return l.domainExcluder(class, s)
}

// AllowsAs says whether a new node may get another bin type, with a subset of its locations, and
// then take a pod of a class.
func (l *Ledger) AllowsAs(class int, s *Bin, as *BinType) bool {
	there := *s
	there.BinType, there.At = as, BinTypeLocations(l.P, as)
	if l.Extends(s, &there) {
		return false
	}
	if !slices.ContainsFunc(l.P.Rules.ByClass[class].Owns, func(r int) bool { return l.comesToCount(r, s, &there) }) {
		return l.Allows(class, &there)
	}
	was := s.BinType
	l.Become(s, as)
	defer l.Become(s, was)
	return l.Allows(class, s)
}

// comesToCount says whether a spread counts the pods of a new node with its new bin type but not
// with the old one, because the node gets a label.
func (l *Ledger) comesToCount(r int, before, after *Bin) bool {
	rule := &l.P.Rules.Domain[r]
	if rule.Kind != topology.Spread || rule.Key < 0 {
		return false
	}
	may, sure := l.looked(rule, before)
	mayThen, sureThen := l.looked(rule, after)
	return may != mayThen || sure != sureThen
}

// DomainsAllow is Allows restricted to constraints over domains and affinity.
func (l *Ledger) DomainsAllow(class int, s *Bin) bool { return l.domainExcluder(class, s) == nil }

func (l *Ledger) domainExcluder(class int, s *Bin) *workload.Term {
	d := &l.P.Rules.ByClass[class]
	for _, r := range d.Owns {
		rule := &l.P.Rules.Domain[r]
		at := &s.At[rule.Key]
		if rule.Kind != topology.Apart && (at.Lacks && !rule.Term.Storage || len(at.Domains) == 0) {
			return &rule.Term
		}
		for _, domain := range at.Domains {
			if !l.RuleAllows(class, r, domain, s) {
				return &rule.Term
			}
		}
	}
	for _, r := range d.Joins {
		if l.apart(r, l.Counts[r].Owners, s) {
			return &l.P.Rules.Domain[r].Term
		}
	}
	for i := range d.With {
		if t := &d.With[i]; !l.hasSelected(t.Pods, s) && !l.first(class, t.Pods) {
			return t
		}
	}
	return nil
}

// RuleAllows says whether a domain rule of a class allows one more of its pods in a domain where a
// bin may be.
func (l *Ledger) RuleAllows(class, r, domain int, s *Bin) bool {
	rule, c := &l.P.Rules.Domain[r], &l.Counts[r]
	switch rule.Kind {
	case topology.Spread:
		return l.atHome(rule.Key, domain) || !l.tooFar(class, r, domain, l.broughtBy(r, s), s)
	case topology.Together:
		return c.Least[domain] > 0 || l.hasSelected(rule.Term.Pods, s) || l.first(class, rule.Term.Pods)
	}
	return c.Members[domain] == 0
}

// broughtBy returns how many DaemonSet pods of a new node a spread counts, if the node is not in
// the ledger yet.
func (l *Ledger) broughtBy(r int, s *Bin) (n int) {
	if s.Number >= 0 || s.BinType == nil {
		return 0
	}
	for _, d := range s.BinType.DaemonsOn(l.P) {
		if slices.Contains(d.Rules.Joins, r) {
			n++
		}
	}
	return n
}

// DaemonsAllowed says whether anti-affinity of or towards DaemonSet pods allows a new node in its
// domains.
func (l *Ledger) DaemonsAllowed(s *Bin) bool {
	for _, d := range s.BinType.DaemonsOn(l.P) {
		if slices.ContainsFunc(d.Rules.Joins, func(r int) bool { return l.apart(r, l.Counts[r].Owners, s) }) ||
			slices.ContainsFunc(d.Rules.Owns, func(r int) bool { return l.apart(r, l.Counts[r].Members, s) }) {
			return false
		}
	}
	return true
}

// apart says whether a rule is an anti-affinity that excludes pods from a bin because of counts, its
// Owners or Members, in a domain in which the bin may be.
func (l *Ledger) apart(r int, counts []int, s *Bin) bool {
	rule := &l.P.Rules.Domain[r]
	return rule.Kind == topology.Apart && rule.Key >= 0 &&
		slices.ContainsFunc(s.At[rule.Key].Domains, func(d int) bool { return counts[d] > 0 })
}

// atHome says whether a domain is that of Home.
func (l *Ledger) atHome(key, domain int) bool {
	if l.Home == nil {
		return false
	}
	d, certain := l.Home.At[key].Sure()
	return certain && d == domain
}

// tooFar says whether a domain would exceed some other domain by more than maxSkew with one more
// pod of a class on a bin, plus others more pods that come with the node. A domain in which another
// new node may be counts as a domain to be filled.
func (l *Ledger) tooFar(class, r, domain, others int, s *Bin) bool {
	rule, c := &l.P.Rules.Domain[r], &l.Counts[r]
	there, spare := c.Members[domain]+l.own(class, rule.Term.Pods)+others, l.P.Classes[class].Headroom
	if spare {
		there += c.spare[domain]
	}
	if rule.MinDomains > 1 && l.ways[rule.Way].domains(domain) < rule.MinDomains {
		return there > rule.Skew
	}
	if there > rule.Skew && l.othersMayBe(r, len(rule.Counted), s) {
		return true // of the domains that the table does not list, none has pods
	}
	for d, covered := range rule.Counted {
		if d == domain || !covered && !l.othersMayBe(r, d, s) {
			continue
		}
		least := c.Least[d]
		if spare {
			least += c.spare[d]
		}
		if there-least > rule.Skew {
			return true
		}
	}
	return false
}

// othersMayBe says whether a new node other than a bin may be in a domain of a spread. The domain after
// the last stands for those that the table does not list.
func (l *Ledger) othersMayBe(r, domain int, s *Bin) bool {
	rule := &l.P.Rules.Domain[r]
	n := l.ways[rule.Way].may[domain]
	if n == 0 || s.Number < 0 || s.Node >= 0 {
		return n > 0
	}
	before := l.Bins[s.Number]
	own, _ := l.seen(rule, before)
	if slices.Contains(own, domain) || domain == len(rule.Counted) && l.seenBeyond(rule, before) {
		n--
	}
	return n > 0
}

// hasSelected says whether a pod of a selection is on a bin.
func (l *Ledger) hasSelected(selection int, s *Bin) bool {
	if s.Node >= 0 && l.P.Beside[selection] != nil && l.P.Beside[selection][s.Node] {
		return true
	}
	if s.BinType != nil && slices.ContainsFunc(s.BinType.DaemonsOn(l.P), func(d DaemonOn) bool { return d.Sure && d.Rules.Selected.Has(selection) }) {
		return true
	}
	return slices.ContainsFunc(s.Pods, func(m attempt.Bundled) bool { return l.P.IsMember(m.Class, selection) })
}

// first says whether a pod of a class may be the first pod that an affinity matches: no pod matches
// any of its terms in any domain.
func (l *Ledger) first(class, selection int) bool {
	if !l.P.Classes[class].Selected.Has(selection) {
		return false
	}
	for _, r := range l.P.Rules.ByClass[class].Owns {
		if rule := &l.P.Rules.Domain[r]; rule.Kind == topology.Together && rule.Term.Pods == selection && l.Counts[r].any() {
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
	for i, n := range l.Daemon {
		if n > 0 && l.P.ByDaemon[i].Selected.Has(selection) {
			return false
		}
	}
	return true
}
