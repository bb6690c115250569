package ledger

import (
	"math"
	"slices"

	"github.com/dovetail-sdk/dovetail/internal/engine/compile"
	"github.com/dovetail-sdk/dovetail/internal/engine/topology"
	"github.com/dovetail-sdk/dovetail/internal/engine/workload"
)

// hostSpread has the counts of a topology spread constraint over the hostname, which is counted from
// its first use on.
type hostSpread struct {
	Rule  *compile.HostRule // nil before its first use
	On    []hostCount       // by bin
	tally map[int]int       // by hostCount.least: the number of nodes that it may count
	sure  int               // number of nodes that it certainly counts

	marked bool // it was counted at the mark
}

// hostCount has the counts of a constraint on one node, as Count has those of a domain.
type hostCount struct {
	Members   int  // pods that it counts
	least     int  // those that are certainly there
	may, sure bool // it may count the node, and certainly counts it
}

// HostsOf returns the constraints of a class over the hostname, as indexes in Hosts.
func (l *Ledger) HostsOf(class int) []int {
	hosts := l.P.Rules.ByClass[class].Hosts
	for _, i := range hosts {
		if l.Hosts[i].Rule == nil {
			l.Hosts[i] = l.newHostSpread(l.P.HostRule(i))
		}
	}
	return hosts
}

// newHostSpread returns the counts of a constraint for all bins.
func (l *Ledger) newHostSpread(rule *compile.HostRule) hostSpread {
	out := hostSpread{Rule: rule, On: make([]hostCount, 0, len(l.Bins)), tally: map[int]int{}}
	for _, s := range l.Bins {
		there := 0
		for _, m := range s.Pods {
			if l.P.IsMember(m.Class, rule.Term.Pods) {
				there += m.Count
			}
		}
		l.addBin(&out, s, there)
	}
	for _, there := range rule.Gone {
		out.tally[there]++
		out.sure++
	}
	return out
}

// addBin adds a node with the given number of counted pods of the plan.
func (l *Ledger) addBin(h *hostSpread, s *Bin, there int) {
	members, least := l.boundOnHost(h.Rule, s)
	h.On = append(h.On, hostCount{Members: members + there, least: least + there})
	l.look(h, s)
}

// look records whether a constraint counts a bin.
func (l *Ledger) look(h *hostSpread, s *Bin) {
	to := h.On[s.Number]
	switch {
	case s.Shut:
		to.may, to.sure = false, false
	case s.Node < 0:
		seen := s.BinType.look(l.P, &h.Rule.DomainRule)
		to.may, to.sure = seen.May, seen.Sure
	default:
		to.may, to.sure = h.Rule.Looks[s.Node], h.Rule.Looks[s.Node]
	}
	h.set(s.Number, to)
}

// set sets the counts on a bin.
func (h *hostSpread) set(bin int, to hostCount) {
	h.add(&h.On[bin], -1)
	h.On[bin] = to
	h.add(&to, 1)
}

// add adds a node n times, 1 or -1, to the tally.
func (h *hostSpread) add(on *hostCount, n int) {
	if on.sure {
		h.sure += n
	}
	if !on.may {
		return
	}
	if h.tally[on.least] += n; h.tally[on.least] == 0 {
		delete(h.tally, on.least)
	}
}

// shrink drops all bins from number n on.
func (h *hostSpread) shrink(n int) {
	for i := range h.On[n:] {
		h.add(&h.On[n+i], -1)
	}
	h.On = h.On[:n]
}

// emptiest returns the lowest count on any node but one, 0 if there are fewer nodes than minDomains.
// A negative number leaves out none.
func (h *hostSpread) emptiest(but int) int {
	if h.sure < h.Rule.Term.MinDomains {
		return 0
	}
	own := -1
	if but >= 0 && h.On[but].may {
		own = h.On[but].least
	}
	least := math.MaxInt
	for n, nodes := range h.tally {
		if n != own || nodes > 1 {
			least = min(least, n)
		}
	}
	return least
}

// LeastThere returns the lowest count of a constraint on existing nodes, 0 if it counts none of
// them.
func (l *Ledger) LeastThere(h *hostSpread) int {
	least := math.MaxInt
	for i, s := range l.Bins {
		if s.Node >= 0 && h.On[i].may {
			least = min(least, h.On[i].least)
		}
	}
	for _, there := range h.Rule.Gone {
		least = min(least, there)
	}
	if least == math.MaxInt {
		return 0
	}
	return least
}

// Shut removes a new node without pods from the counts: it will not be launched.
func (l *Ledger) Shut(s *Bin) {
	l.save(s)
	s.Shut = true
	l.countNode(s, -1)
	l.lookAgain(s)
}

// RecordReliance records the constraints that allow a pod of a class on a bin only because no node,
// or no domain, is empty.
func (l *Ledger) RecordReliance(class int, s *Bin) {
	l.recordDomainReliance(class, s, false)
	l.recordHostReliance(class, s, false)
}

// recordDomainReliance is RecordReliance for constraints over domains. counted says that the pod is
// in the counts already.
func (l *Ledger) recordDomainReliance(class int, s *Bin, counted bool) {
	for _, r := range l.P.Rules.ByClass[class].Owns {
		l.Relied[r] = l.Relied[r] || l.DomainRelies(r, class, s, counted)
	}
}

// recordHostReliance is RecordReliance for constraints over the hostname.
func (l *Ledger) recordHostReliance(class int, s *Bin, counted bool) {
	if l.P.Classes[class].Headroom {
		return
	}
	relied := l.hostsRelied()
	for _, i := range l.HostsOf(class) {
		relied[i] = relied[i] || l.HostRelies(i, class, s, counted)
	}
}

// DomainRelies says whether a domain rule of a class is a topology spread that allows a pod on a bin
// only because no domain is empty: it counts more than maxSkew pods, the pod included, in a domain in
// which the pod may be.
func (l *Ledger) DomainRelies(r, class int, s *Bin, counted bool) bool {
	rule, members := &l.P.Rules.Domain[r], l.Counts[r].Members
	if rule.Kind != topology.Spread || rule.Key < 0 || l.P.Classes[class].Headroom {
		return false
	}
	most := rule.Skew
	if !counted {
		most -= l.own(class, rule.Term.Pods)
	}
	return slices.ContainsFunc(s.At[rule.Key].Domains, func(d int) bool { return members[d] > most })
}

// HostRelies says the same of constraint i of HostsOf, and of nodes.
func (l *Ledger) HostRelies(i, class int, s *Bin, counted bool) bool {
	h := &l.Hosts[i]
	most := h.Rule.Term.Skew
	if !counted {
		most -= l.own(class, h.Rule.Term.Pods)
	}
	return h.On[s.Number].Members > most
}

// own returns 1 if a constraint of a class counts the pods of the class itself, or else 0.
func (l *Ledger) own(class, selection int) int {
	if l.P.Classes[class].Selected.Has(selection) {
		return 1
	}
	return 0
}

// hostsRelied returns the part of Relied that is by number in Rules.Host.
func (l *Ledger) hostsRelied() []bool { return l.Relied[len(l.Counts):] }

// Relies says whether a pod was allowed only because no counted node was empty.
func (l *Ledger) Relies() bool { return slices.Contains(l.hostsRelied(), true) }

// RecordRelianceOfAll is RecordReliance for all pods counted, and for constraints over the hostname.
func (l *Ledger) RecordRelianceOfAll() {
	for _, s := range l.Bins {
		for _, m := range s.Pods {
			l.recordHostReliance(m.Class, s, true)
		}
	}
}

// Reliances lists the constraints that allowed a pod only because no counted node was empty, as
// indexes in Hosts.
func (l *Ledger) Reliances() (out []int) {
	for i, relied := range l.hostsRelied() {
		if relied {
			out = append(out, i)
		}
	}
	return out
}

// SetReliances marks constraints of pods counted here as reliances, if they are among hosts.
func (l *Ledger) SetReliances(hosts []int) {
	relied := l.hostsRelied()
	for c, n := range l.There {
		if n == 0 || len(hosts) == 0 {
			continue
		}
		for _, i := range l.HostsOf(c) {
			relied[i] = relied[i] || slices.Contains(hosts, i)
		}
	}
}

// RecordRelianceAnew recomputes the reliances from the pods counted now and the given hosts.
func (l *Ledger) RecordRelianceAnew(hosts []int) {
	clear(l.Relied)
	for _, s := range l.Bins {
		for _, m := range s.Pods {
			l.recordDomainReliance(m.Class, s, true)
		}
	}
	l.SetReliances(hosts)
}

// countHost adds n pods of a class on a bin to the counts.
func (l *Ledger) countHost(class, n int, s *Bin) {
	for _, i := range l.P.Rules.ByClass[class].Among {
		if h := &l.Hosts[i]; h.Rule != nil {
			l.noteHost(i, s.Number)
			to := h.On[s.Number]
			to.Members, to.least = to.Members+n, to.least+n
			h.set(s.Number, to)
		}
	}
}

// lookAgain updates whether constraints count a bin.
func (l *Ledger) lookAgain(s *Bin) {
	for i := range l.Hosts {
		if h := &l.Hosts[i]; h.Rule != nil {
			l.noteHost(i, s.Number)
			l.look(h, s)
		}
	}
}

// HostsAllow says whether the topology spread constraints of a class over the hostname allow one of
// its pods on a bin.
func (l *Ledger) HostsAllow(class int, s *Bin) bool { return l.hostExcluder(class, s) == nil }

func (l *Ledger) hostExcluder(class int, s *Bin) *workload.Term {
	if l.P.Classes[class].Headroom {
		return nil
	}
	for _, i := range l.HostsOf(class) {
		h := &l.Hosts[i]
		t, there := &h.Rule.Term, 0
		if s.Number >= 0 {
			there = h.On[s.Number].Members
		} else if s.BinType != nil {
			there, _ = l.boundOnHost(h.Rule, s)
		}
		own := l.own(class, t.Pods)
		if there+own > t.Skew && there+own-min(there, h.emptiest(s.Number)) > t.Skew {
			return t
		}
	}
	return nil
}

// Extends says whether a new node adds an empty domain to a topology spread that allowed some pod
// only because no domain was empty. before is the node as the ledger has it, nil if it is not in
// the ledger; after is the node to be.
func (l *Ledger) Extends(before, after *Bin) bool {
	for i, relied := range l.hostsRelied() {
		h := &l.Hosts[i]
		if relied && !(before != nil && h.On[before.Number].may) && after.BinType.look(l.P, &h.Rule.DomainRule).May {
			return true
		}
	}
	for i := range l.Counts {
		if !l.Relied[i] {
			continue
		}
		rule := &l.P.Rules.Domain[i]
		domains, _ := l.seen(rule, after)
		for _, d := range domains {
			if !rule.Counted[d] && l.ways[rule.Way].may[d] == 0 {
				return true
			}
		}
		if l.ways[rule.Way].may[len(rule.Counted)] == 0 && l.seenBeyond(rule, after) {
			return true
		}
	}
	return false
}

// KeysOfCell lists the keys of the domain table for which the domain of a new node with a pod of a
// class must be known: those over which constraints count the pod, and those over which some spread
// allows no further domain. The next call overwrites the list.
func (l *Ledger) KeysOfCell(class int) []int {
	l.keys = append(l.keys[:0], l.P.Counted[class]...)
	for i := range l.Counts {
		if l.Relied[i] {
			l.keys = append(l.keys, l.P.Rules.Domain[i].Key)
		}
	}
	return l.keys
}

// boundOnHost returns how many pods a constraint counts on a bin without pods of the plan, and how
// many of them are certainly there: running pods, or DaemonSet pods of a new node.
func (l *Ledger) boundOnHost(rule *compile.HostRule, s *Bin) (members, least int) {
	if s.Node >= 0 {
		return int(rule.There[s.Node]), int(rule.There[s.Node] - rule.Perhaps[s.Node])
	}
	for _, d := range s.BinType.DaemonsOn(l.P) {
		if d.Rules.Selected.Has(rule.Term.Pods) {
			members++
			if d.Sure {
				least++
			}
		}
	}
	return members, least
}
