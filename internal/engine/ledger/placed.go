package ledger

import "github.com/dovetail-sdk/dovetail/internal/engine/pack"

// The functions in this file change a ledger of running pods, one pod or node at a time. The
// opposite call undoes a change.

// Put adds n pods of a class to a bin; n may be negative. With perhaps, the pods may never come:
// they exclude others, but satisfy no constraint.
func (l *Ledger) Put(class, n int, s *Bin, perhaps bool) {
	s.Apart = pack.AddPods(s.Apart, n, l.P.Rules.ByClass[class].All...)
	l.count(class, n, s, !perhaps)
	if !perhaps {
		s.Add(class, n)
	}
}

// Remove takes the domains of a node without pods, and the DaemonSet pods of a new node, out of the
// counts. A topology spread over the hostname counts it as an empty node still: other nodes are
// emptied one after the other, and each is empty before it is gone.
func (l *Ledger) Remove(s *Bin) { l.countNode(s, -1) }

// Restore undoes Remove.
func (l *Ledger) Restore(s *Bin) { l.countNode(s, 1) }

// Drop undoes Open of the last bin, which has no pods.
func (l *Ledger) Drop() {
	n := len(l.Bins) - 1
	s := l.Bins[n]
	l.countNode(s, -1)
	for i := range l.Hosts {
		if h := &l.Hosts[i]; h.Rule != nil {
			h.shrink(n)
		}
	}
	l.Bins = l.Bins[:n]
}

// Spread returns the counts of a topology spread by domain: pods that it counts, the least of the
// domains that have a node, and whether a node that it counts may be in a domain. The least is 0
// if there are fewer domains than minDomains.
func (l *Ledger) Spread(rule int) (members []int, least int, has func(domain int) bool) {
	r, c := &l.P.Rules.Domain[rule], &l.Counts[rule]
	nodes := &l.ways[r.Way]
	first, domains := true, 0
	for d := range nodes.sure {
		if nodes.may[d] == 0 {
			continue
		}
		domains++
		if first || c.Members[d] < least {
			least, first = c.Members[d], false
		}
	}
	if domains < r.MinDomains {
		least = 0
	}
	return c.Members, least, func(d int) bool { return nodes.may[d] > 0 }
}
