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

// Unplaced asks whether a plan left pods pending that have a place: on an
// existing node or a new one of the plan beside what the plan puts there, or alone on a
// fresh node of a NodePool within its limits. It returns a violation of RuleOverlooked for each
// such pod, sorted as [Plan] sorts; nil means that none was overlooked.
//
// It also has a place if one pod that the plan places can move to another node, existing or of the
// plan, and no constraint between pods is about either of the two: of each kind of pending pod
// the first hundred kinds of placed ones are tried, node by node. Not with Options.CapacityMix.
//
// All other pods are where the plan puts them. A fresh node is launched as one
// instance type in one zone, and must be sure to do: where a constraint depends on
// what becomes of other new nodes, or would let the pod in only on a closer look
// than at the counts of each domain, the pod has no place. A new node of the plan may
// give up options for the pod, as long as it keeps one that no reservation pays for and
// what its NodePool demands by minValues.
//
// It excuses a pod that is being deleted, waits for a gate or another scheduler,
// one whose Reason says that what it uses is not supported, one with resource
// claims, one whose constraints cannot be read or whose volume claims are not
// settled yet, and each NodePool that the pod's Reason blames the limits of. Nor
// does it ask for a fresh node that would be one domain more to a topology spread
// by which the plan let a pod in only because every domain had some. Nor does it
// ask for a node that has not registered yet, and may come up in a domain where
// anti-affinity keeps the pod out. A pod that shares a claim with others, of which
// the volume is yet to be made, has a place only on their node or, if several nodes
// may use the volume, in their zone; and none is asked for if the claim may get one
// of several volumes that exist. Pods that stand for buffers are nobody to follow or
// to be spread from. Capacity reservations are not considered.
//
// Arguments are those of [Plan], whose rules the plan is expected to keep. [RuleInput] is
// among them.
func Unplaced(in provisioning.Input, plan *provisioning.Plan, opts *provisioning.Options) []Violation {
	if plan == nil {
		return nil
	}
	r := newReferee(in, plan, opts)
	r.checkNewNodes() // for what the new nodes count against limits
	var pending []*podInfo
	for _, u := range plan.Unplaced {
		if p := r.known(u.Pod); p != nil {
			pending = append(pending, p)
		}
	}
	r.pending = true
	r.checkTurns(pending)
	r.found = nil
	r.cautious = true
	placed := map[string][]*podInfo{}
	for _, b := range plan.Bind {
		placed[b.Node] = append(placed[b.Node], r.knownPods(b.Pods)...)
	}
	rooms := r.rooms(placed)
	verdicts := map[string]string{}
	for _, u := range plan.Unplaced {
		p := r.known(u.Pod)
		if p == nil || r.excused(p) || u.Reason != nil && u.Reason.Cause == provisioning.CauseUnsupported {
			continue
		}
		// Pods alike get the same answer; thousands of them are common.
		limited := r.limitedPools(u.Reason)
		like := fmt.Sprintf("%d %v %v %v %s", p.selection.Number, p.requests, p.tolerations, limited, r.tastes(p))
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

func (r *referee) limitedPools(reason *provisioning.Reason) []string {
	var names []string
	if reason == nil {
		return nil
	}
	for _, pool := range reason.Pools {
		if pool.Cause == provisioning.CauseLimits {
			names = append(names, pool.NodePool)
		}
	}
	return names
}

// rooms computes what each existing node has left under the plan. Nodes that
// cannot take pods are missing.
func (r *referee) rooms(placed map[string][]*podInfo) map[*nodeInfo]resources.List {
	rooms := map[*nodeInfo]resources.List{}
	for _, n := range r.nodes {
		if n.Deleting || n.AllocatableErr != nil || n.Shut != "" {
			continue
		}
		if len(n.Allocatable.Negative()) > 0 {
			continue // a careful engine sends nobody to a node that is in debt
		}
		left, ok := n.Allocatable, true
		for _, p := range slices.Concat(n.bound, placed[n.Name]) {
			less, err := left.Sub(p.requests)
			ok = ok && err == nil && p.requestsErr == nil
			left = less
		}
		if left, err := left.Sub(r.missingDaemons(n)); ok && err == nil {
			rooms[n] = left
		}
	}
	return rooms
}

func (r *referee) placeOnExisting(p *podInfo, rooms map[*nodeInfo]resources.List) string {
	for _, n := range r.nodes {
		room, open := rooms[n]
		if !open || !covers(room, p.requests) || !p.selection.Accepts(n.Node) {
			continue
		}
		if _, refused := p.tolerations.Refused(n.Taints); refused || r.mayClash(n, p) || !r.welcome(r.siteOf[n], p) {
			continue
		}
		return "it is left pending, but has a place on node " + n.Name
	}
	return ""
}

// placeOnPlanned looks for a new node of the plan that a pod could go to beside those that
// the plan puts there. The node may give up options for it that are too small or have
// other labels, as long as some are left that no reservation pays for, and as many as
// the pool demands.
func (r *referee) placeOnPlanned(p *podInfo, except *targetNode, limited []string) string {
	for _, s := range r.sites {
		if s != except && s.fresh != nil && r.takesPlanned(s, p, limited) {
			return "it is left pending, but has a place on new node " + s.name
		}
	}
	return ""
}

// takesPlanned says whether a new node of the plan takes one pod more.
func (r *referee) takesPlanned(s *targetNode, p *podInfo, limited []string) bool {
	if slices.Contains(limited, s.fresh.pool.Name) || r.minds(p) && r.countsValues(s.fresh.pool) {
		return false
	}
	if _, refused := p.tolerations.Refused(s.fresh.pool.Spec.Template.Spec.Taints); refused {
		return false
	}
	together, err := s.fresh.requests.Add(p.requests)
	return err == nil && slices.ContainsFunc(r.alternatives(p), func(asked requirements.Set) bool {
		return r.takesAnother(s, p, s.fresh.Requirements.Intersect(asked), together)
	})
}

// takesAnother says whether a new node that asks for no more than asked takes a pod
// beside its own, which take so much together.
func (r *referee) takesAnother(s *targetNode, p *podInfo, asked requirements.Set, together resources.List) bool {
	f := s.fresh
	for key, value := range f.Labels {
		if want, named := asked.Get(r.vocabulary.NormalizeKey(key)); named && !want.Has(value) {
			return false // the plan has settled it
		}
	}
	if asked.Impossible() {
		return false
	}
	selections := []*nodefit.Selection{p.selection}
	for _, k := range f.kinds {
		selections = append(selections, k.selection)
	}
	brief := r.brief(f.pool, asked, selections)
	var fitting []int32
	sold := false
	for _, i := range s.family.options {
		if o := brief.stock.options[i]; r.holds(brief, i, together) {
			fitting, sold = append(fitting, i), sold || o.Offering.ReservationID == ""
		}
	}
	if !sold || r.policy != provisioning.BestEffort && r.missesMinValues(brief, fitting) {
		return false
	}
	family := *s.family
	family.asked, family.options, family.lots = asked, fitting, map[*labelFilter]*nodeVariants{}
	narrowed := *s
	narrowed.family = &family
	return r.welcomeNew(&narrowed, p)
}

// holds says whether an option has so much beside every DaemonSet that could run on it,
// and may come up as a node for pods with the selections of the brief. Those DaemonSets
// are more than may ever run there at once, so that an engine that is merely careful is
// never accused.
func (r *referee) holds(brief *labelQuestion, option int32, asked resources.List) bool {
	o, g := brief.stock.options[option], r.groundOf(brief, option)
	if g == nil || o.indebted || !slices.ContainsFunc(g.landings, func(l *launchOutcome) bool { return l.acceptsAll(brief.selections) }) {
		return false
	}
	room, err := o.allocatable.Sub(r.openGround(brief.pool, option).anywhere)
	return err == nil && covers(room, asked)
}

// mayClash says whether a node that has not registered yet may come up in a
// domain where somebody is whom anti-affinity keeps away from p, or p from.
func (r *referee) mayClash(n *nodeInfo, p *podInfo) bool {
	if n.Coming == nil {
		return false
	}
	open := func(key string) bool {
		if _, settled := n.Node.Labels[key]; settled {
			return false
		}
		return r.vocabulary.WellKnown(r.vocabulary.NormalizeKey(key)) ||
			slices.ContainsFunc(n.Coming.Spec.Requirements, func(q v1.NodeSelectorRequirementWithMinValues) bool { return q.Key == key })
	}
	for _, t := range p.apart {
		if t.victims.total > 0 && open(t.Key) {
			return true
		}
	}
	return slices.ContainsFunc(r.counters.of(p).terms, func(t *antiTerm) bool { return t.owners.total > 0 && open(t.Key) })
}

// covers says whether room has what is asked for, whatever it lacks of all else.
func covers(room, asked resources.List) bool {
	for name, amount := range asked.All() {
		if amount > 0 && amount > room.Get(name) {
			return false
		}
	}
	return true
}

// placeOnFresh looks for a node that could be launched for a pod alone.
func (r *referee) placeOnFresh(p *podInfo, limited []string) string {
	for _, name := range slices.Sorted(maps.Keys(r.pools)) {
		pool := r.pools[name]
		if pool.closed() != "" || slices.Contains(limited, name) || r.minds(p) && r.countsValues(pool) {
			continue // several options at once are more than is asked about
		}
		if _, refused := p.tolerations.Refused(pool.Spec.Template.Spec.Taints); refused {
			continue
		}
		within, ok := r.optionsWithinLimits(pool)
		if !ok {
			continue
		}
		// What it asks for matters to count minValues; otherwise the labels of each
		// landing are judged anyway.
		alternatives := []requirements.Set{{}}
		if r.countsValues(pool) {
			alternatives = r.alternatives(p)
		}
		for _, asked := range alternatives {
			if option := r.freshOption(p, pool, within, asked); option != nil {
				return fmt.Sprintf("it is left pending, but NodePool %s could launch %s for it alone", name, option)
			}
		}
	}
	return ""
}

// alternatives are those of what p asks of the labels of its node.
func (r *referee) alternatives(p *podInfo) []requirements.Set {
	parsed, err := requirements.FromPod(p.Pod, r.vocabulary)
	if err != nil {
		return nil
	}
	var asked []requirements.Set
	for _, alternative := range parsed.Alternatives {
		asked = append(asked, alternative.Set)
	}
	return asked
}

func (r *referee) countsValues(pool *poolInfo) bool {
	if r.policy == provisioning.BestEffort {
		return false
	}
	for want := range pool.demands.All() {
		if want.MinValues() > 0 {
			return true
		}
	}
	return false
}

// optionsWithinLimits lists what can be launched in a pool besides the new nodes
// of the plan, in the order of the catalog. Reservations are left out, as others
// may be counting on them. It is false where that cannot be computed.
func (r *referee) optionsWithinLimits(pool *poolInfo) ([]int32, bool) {
	limits, room, err := r.limits(pool)
	if err != nil {
		return nil, false
	}
	added, err := r.growth(pool)
	if err == nil {
		room, err = room.Sub(added)
	}
	if err != nil {
		return nil, false
	}
	var within []int32
	for i, o := range r.stockOf(pool).options {
		if o.err == nil && o.Offering.Launchable() && o.Offering.ReservationID == "" && r.withinLimits(o, limits, room) {
			within = append(within, int32(i))
		}
	}
	return within, true
}

// freshOption returns one of the options that a node for p alone could be
// launched with, given that the node asks for no more than asked.
func (r *referee) freshOption(p *podInfo, pool *poolInfo, options []int32, asked requirements.Set) *optionInfo {
	brief := r.brief(pool, asked, []*nodefit.Selection{p.selection})
	var fitting []int32
	for _, i := range options {
		if r.holds(brief, i, p.requests) && (len(fitting) > 0 || r.welcomeAlone(p, pool, asked, i)) {
			fitting = append(fitting, i)
		}
	}
	if len(fitting) == 0 || r.policy != provisioning.BestEffort && r.missesMinValues(brief, fitting) {
		return nil
	}
	return brief.stock.options[fitting[0]]
}

func (r *referee) missesMinValues(brief *labelQuestion, options []int32) bool {
	values := r.countValues(brief, options)
	for want := range brief.pool.demands.All() {
		if values[want.Key()] < want.MinValues() {
			return true
		}
	}
	return false
}

func (r *referee) withinLimits(o *optionInfo, limits, room resources.List) bool {
	capacity := o.capacity.With(v1.ResourceNodes, 1)
	for name := range limits.All() {
		if need := capacity.Get(name); need > 0 && need > room.Get(name) {
			return false
		}
	}
	return true
}

// maxExchanges is how many placed pods are looked at for one kind of pending pod.
const maxExchanges = 100

// placeByExchange looks for a placed pod that could move to another node of the plan, or to one that
// exists, and leave room for a pending one. No constraint between pods may be about either: then
// nobody else is concerned.
func (r *referee) placeByExchange(p *podInfo, rooms map[*nodeInfo]resources.List, limited []string) string {
	if r.entangled(p) {
		return ""
	}
	seen := map[string]bool{} // kinds of placed pods, by node
	for _, s := range r.sites {
		for _, q := range s.placed {
			kind := fmt.Sprintf("%d %d %v %v", s.number, q.selection.Number, q.requests, q.tolerations)
			if seen[kind] || r.entangled(q) {
				continue
			}
			if seen[kind] = true; len(seen) > maxExchanges {
				return ""
			}
			if !r.takesInstead(s, p, q, rooms, limited) {
				continue
			}
			others := maps.Clone(rooms)
			delete(others, s.node)
			if r.placeOnExisting(q, others) != "" || r.placeOnPlanned(q, s, limited) != "" {
				return fmt.Sprintf("it is left pending, but has a place on node %s once pod %s moves to another node", s.name, q.key)
			}
		}
	}
	return ""
}

// entangled says whether a constraint between pods is about a pod, or it is none that runs.
func (r *referee) entangled(p *podInfo) bool {
	return p.virtual || p.requestsErr != nil || r.minds(p) || len(r.counters.of(p).counters) > 0
}

// takesInstead says whether a node takes a pod in place of one that the plan puts there.
func (r *referee) takesInstead(s *targetNode, p, q *podInfo, rooms map[*nodeInfo]resources.List, limited []string) bool {
	if s.node == nil {
		without := *s
		fresh := *s.fresh
		without.fresh = &fresh
		var err error
		fresh.requests, err = fresh.requests.Sub(q.requests)
		return err == nil && r.takesPlanned(&without, p, limited)
	}
	room, open := rooms[s.node]
	more, err := room.Add(q.requests)
	return open && err == nil && r.placeOnExisting(p, map[*nodeInfo]resources.List{s.node: more}) != ""
}
