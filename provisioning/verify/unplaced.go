package verify

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/provisioning"
	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
	"github.com/dovetail-sdk/dovetail/provisioning/resources"
	"github.com/dovetail-sdk/dovetail/provisioning/verify/internal/nodefit"
)

// Unplaced finds pods that a plan leaves pending although they have a place: on an existing node or
// a new node of the plan, together with the pods of the plan there, or alone on a further new node
// of a NodePool within its limits. It returns a violation of RuleOverlooked for each such pod,
// sorted as by [Plan]; nil means that no pod was overlooked.
//
// A pod also has a place if one placed pod can move to another node, existing or of the plan, and
// no constraint between pods concerns either of the two. For each kind of pending pod, up to a
// hundred kinds of placed pods are tried, node by node. This is not tried with Options.CapacityMix.
//
// All other pods are where the plan puts them. A further new node is launched as one instance type
// in one zone, and must be certain to suit the pod. A new node of the plan may drop options for the
// pod, as long as it keeps one without reservation, and what its NodePool requires by minValues. If
// a node could be in several domains, the pod must be admitted in each.
//
// No place is required:
//
//   - for a pod that is being deleted, has scheduling gates or is for another scheduler; for a pod
//     with resource claims, or whose Explanation says that what it uses is not supported; for a pod
//     whose constraints cannot be read, or whose volume claims are not bound yet;
//   - in a NodePool whose limits the pod's Explanation names, or by means of a capacity reservation;
//   - on a further new node that would add a domain to a topology spread by which the plan placed a
//     pod only because every domain had enough pods, or a DaemonSet pod to a required affinity of
//     which the plan placed the first pod;
//   - where anti-affinity may exclude the pod, or a DaemonSet pod of a further new node, once nodes
//     that are not registered yet have their labels;
//   - apart from the pods that share a claim with it whose volume is still to be made: the pod has
//     a place only on their node or, if several nodes may use the volume, in their zone, and none
//     if the claim may get any of several existing volumes.
//
// Pods of buffers do not count for affinity and topology spread.
//
// The arguments are those of [Plan]. The plan should satisfy the rules of Plan, [RuleInput]
// included.
func Unplaced(in provisioning.Input, plan *provisioning.Plan, opts *provisioning.Options) []Violation {
	if plan == nil {
		return nil
	}
	r := newReferee(in, plan, opts)
	r.checkNewNodes() // for what the new nodes use of limits
	var pending []*podInfo
	for _, u := range plan.Unplaced {
		if p := r.known(u.Pod); p != nil {
			pending = append(pending, p)
		}
	}
	r.pending = true
	r.checkBinding(pending)
	r.found = nil
	rooms := r.rooms()
	verdicts := map[string]string{}
	for _, u := range plan.Unplaced {
		p := r.known(u.Pod)
		if p == nil || r.excused(p) || u.Explanation != nil && u.Explanation.Cause == provisioning.CauseUnsupported {
			continue
		}
		var limited []string
		if u.Explanation != nil {
			for _, pool := range u.Explanation.Pools {
				if pool.Cause == provisioning.CauseLimits {
					limited = append(limited, pool.NodePool)
				}
			}
		}
		// Equal pods get equal results; thousands of equal pods are common.
		like := fmt.Sprintf("%d %v %v %v %s", p.selection.Number, p.requests, p.tolerations, limited, r.needs(p))
		place, known := verdicts[like]
		if !known {
			place = cmp.Or(r.placeOnExisting(p, rooms), r.placeOnPlanned(p, nil, limited), r.placeOnFresh(p, limited))
			if place == "" && (opts == nil || opts.CapacityMix == nil) {
				place = r.placeByExchange(p, rooms, limited)
			}
			verdicts[like] = place
		}
		if place != "" {
			r.report(RuleOverlooked, "", p.key.String(), "%s", place)
		}
	}
	return r.verdict()
}

// rooms returns what each existing node has left under the plan. Nodes that cannot take pods, or
// reserve more of a resource than they have, are left out.
func (r *referee) rooms() map[*site]resources.List {
	rooms := map[*site]resources.List{}
	for _, s := range r.nodes {
		n := s.node
		if n.Deleting || n.AllocatableErr != nil || n.Shut != "" || len(n.Allocatable.Negative()) > 0 {
			continue
		}
		left, ok := n.Allocatable, true
		for _, p := range slices.Concat(s.bound, s.placed) {
			less, err := left.Sub(p.requests)
			ok = ok && err == nil && p.requestsErr == nil
			left = less
		}
		if left, err := left.Sub(s.missing); ok && err == nil {
			rooms[s] = left
		}
	}
	return rooms
}

// takes says whether an existing node with the given room takes one more pod.
func (r *referee) takes(s *site, room resources.List, p *podInfo) bool {
	return covers(room, p.requests) && p.selection.Accepts(s.node.Node) &&
		!r.refuses(s.node.Taints, s.node.Declared, p, unreported) && r.admits(s, p)
}

func (r *referee) placeOnExisting(p *podInfo, rooms map[*site]resources.List) string {
	for _, s := range r.nodes {
		if room, open := rooms[s]; open && !r.mayExclude(s, p) && r.takes(s, room, p) {
			return "it is left pending, but has a place on node " + s.name
		}
	}
	return ""
}

// placeOnPlanned finds a new node of the plan, except one, that could take a pod together with its
// pods of the plan. The node may drop options that are too small or have other labels, as long as
// some are left without reservation, and as many as the pool requires.
func (r *referee) placeOnPlanned(p *podInfo, except *site, limited []string) string {
	for _, s := range r.sites {
		if s != except && s.fresh != nil && r.takesPlanned(s, s.fresh.requests, p, limited) {
			return "it is left pending, but has a place on new node " + s.name
		}
	}
	return ""
}

// takesPlanned says whether a new node of the plan, whose pods have the given requests, takes one
// more pod.
func (r *referee) takesPlanned(s *site, requests resources.List, p *podInfo, limited []string) bool {
	f := s.fresh
	if r.closedTo(f.pool, p, limited) {
		return false
	}
	together, err := requests.Add(p.requests)
	return err == nil && slices.ContainsFunc(r.alternatives(p), func(asked requirements.Set) bool {
		for key, value := range f.Labels {
			if want, named := asked.Get(r.vocabulary.NormalizeKey(key)); named && !want.Has(value) {
				return false // the plan gives the label another value
			}
		}
		if asked = asked.Intersect(f.Requirements); asked.Impossible() {
			return false
		}
		q := r.askForPods(f.pool, asked, append(slices.Clone(f.selections), p.selection))
		fitting := r.holding(q, s.family.options, together)
		if !r.launches(q, fitting) {
			return false
		}
		narrowed, family := *s, *s.family
		narrowed.family = &family
		family.asked, family.options, family.domains = asked, fitting, map[*topology]domains{}
		return r.admitsOnNew(&narrowed, p)
	})
}

// closedTo says whether no new node of a pool is required for a pod. With minValues, constraints of
// a pod would have to be checked for several options at once.
func (r *referee) closedTo(pool *poolInfo, p *podInfo, limited []string) bool {
	return r.refuses(pool.Spec.Template.Spec.Taints, nil, p, unreported) ||
		slices.Contains(limited, pool.Name) || r.wantsValues(pool) && r.constrained(p)
}

// placeOnFresh finds a node that could be launched for a pod alone.
func (r *referee) placeOnFresh(p *podInfo, limited []string) string {
	for _, name := range slices.Sorted(maps.Keys(r.pools)) {
		pool := r.pools[name]
		if pool.closed() != "" || r.closedTo(pool, p, limited) {
			continue
		}
		within := r.optionsWithinLimits(pool)
		// The requirements of the pod matter to count minValues; otherwise the labels of each
		// outcome are checked.
		alternatives := []requirements.Set{{}}
		if r.wantsValues(pool) {
			alternatives = r.alternatives(p)
		}
		for _, asked := range alternatives {
			q := r.askForPods(pool, asked, []*nodefit.Selection{p.selection})
			options := r.holding(q, within, p.requests)
			first := slices.IndexFunc(options, func(option int32) bool { return r.admitsOnNew(freshSite(pool, asked, option), p) })
			if first >= 0 && r.launches(q, options[first:]) {
				return fmt.Sprintf("it is left pending, but NodePool %s could launch %s for it alone", name, pool.stock.options[options[first]])
			}
		}
	}
	return ""
}

// freshSite returns a new node that the plan does not have. All DaemonSets of its pool may run
// there.
func freshSite(pool *poolInfo, asked requirements.Set, option int32) *site {
	s := &site{number: -1, name: "a fresh node", family: newFamily(pool, asked, []int32{option})}
	s.family.perhaps = pool.daemons
	return s
}

// admitsOnNew says whether a pod may be bound to a new node after all other pods. Every DaemonSet
// of the pool is on the node. The node must not add a domain to a topology spread by which the plan
// placed a pod only because every domain had enough pods. Anti-affinity must admit the DaemonSet
// pods of a further node, and they must not come before the first pod of a required affinity.
func (r *referee) admitsOnNew(s *site, p *podInfo) bool {
	for _, c := range r.counters.byID { // the order does not affect the result
		if c.needsEveryDomain && r.extendedBy(c, s) {
			return false
		}
	}
	if s.number < 0 && slices.ContainsFunc(s.family.pool.daemons, func(d *podInfo) bool { return r.excludes(s, d) || r.precedes(s, d) }) {
		return false
	}
	return !r.constrained(p) || r.admits(s, p) && !r.mayExclude(s, p) && !slices.ContainsFunc(s.family.pool.daemons, func(d *podInfo) bool {
		// The two exclude each other, or are counted together.
		return slices.ContainsFunc(p.avoids, func(c *counter) bool { return c.selects(d.Pod) }) ||
			slices.ContainsFunc(p.spreads, func(w podSpread) bool { return w.selects(d.Pod) }) ||
			slices.ContainsFunc(d.avoids, func(c *counter) bool { return c.selects(p.Pod) })
	})
}

// excludes says whether anti-affinity excludes a pod from a site, or may do so later.
func (r *referee) excludes(s *site, p *podInfo) bool {
	excluded := r.mayExclude(s, p)
	r.judgeAntiAffinity(s, p, func(Rule, *podInfo, string, ...any) { excluded = true })
	return excluded
}

// precedes says whether required affinity selects a DaemonSet pod in a domain of a further new node,
// and the plan placed a pod only because no pod was selected before.
func (r *referee) precedes(s *site, d *podInfo) bool {
	return slices.ContainsFunc(r.counters.of(d), func(c *counter) bool {
		return c.hasFirst && slices.ContainsFunc(c.counts, func(at domainCounts) bool { return len(r.domainsOf(at.topology, s).values) > 0 })
	})
}

// alternatives returns the alternative label requirements of a pod on its node.
func (r *referee) alternatives(p *podInfo) (asked []requirements.Set) {
	parsed, err := requirements.FromPod(p.Pod, r.vocabulary)
	if err != nil {
		return nil
	}
	for _, alternative := range parsed.Alternatives {
		asked = append(asked, alternative.Set)
	}
	return asked
}

// optionsWithinLimits lists the options that a pool could launch in addition to the new nodes of
// the plan, in the order of the catalog. Reservations are left out, because other nodes may be
// counting on them.
func (r *referee) optionsWithinLimits(pool *poolInfo) (within []int32) {
	left, added, err := r.headroom(pool)
	if err == nil {
		left, err = left.Sub(added)
	}
	if err != nil {
		return nil
	}
	for i, o := range r.stockOf(pool).options {
		capacity := o.capacity.With(v1.ResourceNodes, 1)
		above := false
		for name := range pool.limits.All() {
			need := capacity.Get(name)
			above = above || need > 0 && need > left.Get(name)
		}
		if !above && o.err == nil && o.Offering.Launchable() && o.Offering.ReservationID == "" {
			within = append(within, int32(i))
		}
	}
	return within
}

// maxExchanges is the number of kinds of placed pods that are tried for one kind of pending pod.
const maxExchanges = 100

// placeByExchange finds a placed pod that could move to another node and leave room for a pending
// pod. No constraint between pods may concern either of them, so that no other pod is affected.
func (r *referee) placeByExchange(p *podInfo, rooms map[*site]resources.List, limited []string) string {
	entangled := func(p *podInfo) bool {
		return p.virtual || p.requestsErr != nil || r.constrained(p) || len(r.counters.of(p)) > 0
	}
	if entangled(p) {
		return ""
	}
	seen := map[string]bool{} // kinds of placed pods tried, by node
	for _, s := range r.sites {
		for _, q := range s.placed {
			kind := fmt.Sprintf("%d %d %v %v", s.number, q.selection.Number, q.requests, q.tolerations)
			if seen[kind] || entangled(q) {
				continue
			}
			if seen[kind] = true; len(seen) > maxExchanges {
				return ""
			}
			if !r.takesInstead(s, p, q, rooms, limited) {
				continue
			}
			others := maps.Clone(rooms)
			delete(others, s)
			if r.placeOnExisting(q, others) != "" || r.placeOnPlanned(q, s, limited) != "" {
				return fmt.Sprintf("it is left pending, but has a place on node %s once pod %s moves to another node", s.name, q.key)
			}
		}
	}
	return ""
}

// takesInstead says whether a node takes a pod in place of one of its pods of the plan.
func (r *referee) takesInstead(s *site, p, q *podInfo, rooms map[*site]resources.List, limited []string) bool {
	if s.node == nil {
		requests, err := s.fresh.requests.Sub(q.requests)
		return err == nil && r.takesPlanned(s, requests, p, limited)
	}
	room, open := rooms[s]
	more, err := room.Add(q.requests)
	return open && err == nil && r.placeOnExisting(p, map[*site]resources.List{s: more}) != ""
}
