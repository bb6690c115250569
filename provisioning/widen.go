package provisioning

import (
	"fmt"
	"math"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/provisioning/internal/bitset"
	"github.com/dovetail-sdk/dovetail/provisioning/internal/topology"
	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
)

// widener takes back zones that nodes were pinned to without need: a pod that
// could go to either of two zones was sent to one, and its node is to offer both,
// so that whoever launches it has more to choose from.
type widener struct {
	a      *assembler
	p      *Problem
	order  []int32
	ledger *ledger
	left   int                   // pods that may still be bound to try
	failed map[string]bool       // shapes and values that did not do
	known  map[string]bitset.Set // options by shape and pods

	counted [][]bool // by domain rule and domain: pods can be sent there
}

// mostRebound bounds how many pods are bound again to try wider nodes. A plan of
// more pods is left as it is: its spreads are mostly as uneven as they may be.
const mostRebound = 800

// widen offers further zones for new nodes, as long as all pods can be bound
// whichever of them each node turns out to be in. It returns the order in which
// they can.
func (a *assembler) widen(order []int32) []int32 {
	if len(a.s.units) == 0 || len(a.new) == 0 || len(order) > mostRebound {
		return order
	}
	w := &widener{a: a, p: a.p, order: order, left: mostRebound, failed: map[string]bool{}, known: map[string]bitset.Set{}, counted: make([][]bool, len(a.p.rules.domain))}
	for low, i := range a.s.spreads(a.p) {
		w.counted[i] = a.s.problem.Rules[low].Counted
	}
	for k, key := range a.p.table.keys {
		if a.p.vocabulary.NormalizeKey(key) != corev1.LabelTopologyZone {
			continue
		}
		for _, s := range a.new {
			w.node(s, k)
		}
	}
	return w.order
}

// node widens a new node, if a zone is what pins it.
func (w *widener) node(s *site, k int) {
	const key = corev1.LabelTopologyZone
	r, pinned := s.shape.asked.Get(key)
	if _, finite := r.Values(); !pinned || !finite || s.shape.relaxed || w.p.admission.domains.of(s.shape.pool, key).free {
		return
	}
	if _, sure := w.p.shapeReaches(s.shape)[k].sure(); !sure {
		return
	}
	w.count()
	further := w.further(s, k)
	if len(further) == 0 || w.wishes(s) {
		return
	}
	wide := w.options(s)
	wide.AndNot(s.shape.options)
	wide, values := w.values(r, k, further, wide)
	id := fmt.Sprint(s.shape.id, values)
	if len(values) < 2 || w.failed[id] || w.left < len(w.order) {
		return
	}
	asked := s.shape.asked.Without(key).With(requirements.In(key, values...))
	wide.Or(s.shape.options)
	before := s.shape
	s.shape = w.a.newShape(before.pool, wide, before.trait, asked, false)
	w.left -= len(w.order)
	order, refused, l := w.a.bindAll(w.order, false)
	if len(refused) > 0 || !w.insideBut(before, s.shape) {
		s.shape = before
		w.failed[id] = true
		w.ledger = nil // that of before has other sites
		return
	}
	w.order, w.ledger = order, l
}

// count counts the pods of the plan, unless that has been done.
func (w *widener) count() {
	if w.ledger == nil {
		w.ledger = newLedger(w.p, w.a.sites())
	}
}

// wishes says whether a pod of a node would rather be in some domain.
func (w *widener) wishes(s *site) bool {
	w.a.findClasses()
	return slices.ContainsFunc(s.ranks, func(rank int32) bool {
		return slices.ContainsFunc(w.p.rules.duties[w.a.classOf[rank]].soft, func(r int) bool {
			return w.p.vocabulary.NormalizeKey(w.p.rules.domain[r].key) == corev1.LabelTopologyZone
		})
	})
}

// options returns the options that hold the pods of a node in whatever zone, of the
// instance types and capacity types that it may have now.
func (w *widener) options(s *site) bitset.Set {
	id := fmt.Sprint(s.shape.id, s.pods)
	if known, ok := w.known[id]; ok {
		return known.Clone()
	}
	out := w.findOptions(s)
	w.known[id] = out
	return out.Clone()
}

func (w *widener) findOptions(s *site) bitset.Set {
	pool := &w.p.pools[s.shape.pool]
	low := &w.p.lowPools[s.shape.pool]
	type kind struct {
		instanceType *cloudprovider.InstanceType
		capacityType string
	}
	kinds := map[kind]bool{}
	for o := range s.shape.options.All() {
		option := &pool.options[o-low.First]
		kinds[kind{option.InstanceType, option.Offering.CapacityType}] = true
	}
	uses := mostUses(low, s.shape.options)
	elsewhere := s.shape.asked.Without(corev1.LabelTopologyZone)
	out := bitset.New(len(w.p.lowOptions))
	for i := range pool.options {
		option, o := &pool.options[i], low.First+i
		if w.p.lowOptions[o].Stock == 0 && kinds[kind{option.InstanceType, option.Offering.CapacityType}] &&
			(low.Uses == nil || within(low.Uses[i], uses)) && overlapping(elsewhere, option.Offering.Requirements) {
			out.Add(o)
		}
	}
	sum := make([]int64, len(w.p.resources)+len(w.p.rules.seats))
	var seen []int
	for _, rank := range s.ranks {
		c := w.a.classOf[rank]
		sum, _ = together(sum, w.p.requests[c])
		if !slices.Contains(seen, c) {
			seen = append(seen, c)
			out.And(w.admitting(s.shape, c))
			if liked := w.p.wishes[c].options; liked != nil && s.shape.options.SubsetOf(liked) {
				out.And(liked)
			}
		}
	}
	out.And(w.p.traits.Options(s.shape.pool, s.shape.trait))
	return w.p.holding(out, sum)
}

// admitting returns the options that pods of a class may use on nodes that are
// asked for no more than those of a shape are, but for the zone.
func (w *widener) admitting(s *shape, c int) bitset.Set {
	out := bitset.New(len(w.p.lowOptions))
	class, lot := w.p.admission.lower(c, requirements.Set{})
	asked := s.asked.Without(corev1.LabelTopologyZone)
	for i, v := range class.Variants {
		if more := asked.Intersect(lot.sources[i].Without(corev1.LabelTopologyZone)); more.Equal(asked) {
			out.Or(v.Options)
		}
	}
	return out
}

// further lists the domains of a label that a node cannot be in now, and where
// the counts of the constraints suggest that it might.
func (w *widener) further(s *site, k int) []int {
	var out []int
	now := s.at[k].domains[0]
	for d, value := range w.p.table.values[k] {
		if d != now && w.mayBeIn(s, value) {
			out = append(out, d)
		}
	}
	return out
}

// values returns those of some options that are in some domains of a label, and
// all values of the label that a node then may have.
func (w *widener) values(r requirements.Requirement, k int, domains []int, wide bitset.Set) (bitset.Set, []string) {
	values, _ := r.Values()
	values = slices.Clone(values)
	out := bitset.New(len(w.p.lowOptions))
	for _, d := range domains {
		here := wide.Clone()
		here.And(w.p.inPlace(k, d))
		if !here.Empty() {
			out.Or(here)
			values = append(values, w.p.table.values[k][d])
		}
	}
	slices.Sort(values)
	return out, slices.Compact(values)
}

// mayBeIn is a quick look at whether a node can be in a further domain, and
// whether spreads are then still as even as they are to be.
func (w *widener) mayBeIn(s *site, value string) bool {
	for i := range w.p.rules.domain {
		rule, c := &w.p.rules.domain[i], &w.ledger.counts[i]
		if rule.Rule.Key < 0 || w.p.vocabulary.NormalizeKey(rule.key) != corev1.LabelTopologyZone {
			continue
		}
		d, ok := w.p.table.index[rule.Rule.Key][value]
		if !ok {
			return false
		}
		owners, members := 0, 0
		for _, m := range s.pods {
			if slices.Contains(w.p.rules.duties[m.class].owns, i) {
				owners += m.count
			}
			if w.p.classes[m.class].selected.Has(rule.pods) {
				members += m.count
			}
		}
		switch {
		case rule.Kind == topology.Apart && (owners > 0 && c.most[d] > 0 || members > 0 && c.owners[d] > 0):
			return false
		case rule.Kind == topology.Together && owners > 0 && c.most[d] == 0 && members < c.sum():
			return false
		case rule.Kind == topology.Spread && c.placed && owners+members > 0 && c.most[d]+members-w.fewestBut(i, d, members, s) > rule.Skew:
			return false
		}
	}
	return true
}

// fewestBut is the least of all domains but one, without the members on a node.
// Unlike kube-scheduler it counts domains without a node that pods can be sent
// to: that one out of two nodes may be in any of three zones lets pods be bound,
// but is not what somebody wants who spreads them.
func (w *widener) fewestBut(r, domain, members int, s *site) int {
	c := &w.ledger.counts[r]
	now, sure := s.at[w.p.rules.domain[r].Rule.Key].sure()
	least := math.MaxInt
	for d, may := range c.may {
		if d == domain || !may && !w.counted[r][d] {
			continue
		}
		there := c.least[d]
		if sure && d == now {
			there -= members
		}
		least = min(least, max(there, 0))
	}
	return min(least, math.MaxInt/2)
}

// sum counts all members, those twice that may be in two domains.
func (c *ledgerCount) sum() int {
	n := 0
	for _, m := range c.most {
		n += m
	}
	return n
}

// insideBut says whether a wider shape is wider in its zones only.
func (w *widener) insideBut(before, after *shape) bool {
	at, was := w.p.shapeReaches(after), w.p.shapeReaches(before)
	for k := range at {
		if w.p.vocabulary.NormalizeKey(w.p.table.keys[k]) != corev1.LabelTopologyZone && !at[k].within(&was[k]) {
			return false
		}
	}
	return true
}
