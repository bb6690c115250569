package provisioning

import (
	"fmt"
	"math"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/dovetail-sdk/dovetail/provisioning/internal/bitset"
	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
)

// explainer works out why pods of one class have no place.
type explainer struct {
	p       *Problem
	d       *domains
	c       int // index of class
	class   *class
	request []int64
	planned [][]int64 // by pool: what the new nodes of the plan take of its limits
}

// explain returns why pods of a class stay pending. planned is what the new nodes
// of the plan take of the limits of each pool.
func (p *Problem) explain(c int, s *attempt, sealed *admittedCounts, planned [][]int64) *Reason {
	class := &p.classes[c]
	if class.refusal != nil {
		return class.refusal
	}
	e := &explainer{p: p, d: p.traits.domains, c: c, class: class, request: p.requests[c][:len(p.resources)], planned: planned}
	if r := p.blocked(c, s, sealed); r != nil {
		return r
	}
	if with := p.rules.duties[c].with; len(with) > 0 {
		return p.noCompany(with)
	}
	out := &Reason{ExistingNodes: e.nodes()}
	if why := contradiction(class); why != "" {
		out.Cause, out.Detail = CauseInvalid, why
		return out
	}
	if len(p.pools) == 0 {
		out.Cause = CauseNoNodePool
		return out
	}
	out.Cause = CauseNodePools
	for i := range p.pools {
		out.Pools = append(out.Pools, e.pool(i))
	}
	return out
}

// contradiction says why no node whatever can have what a class asks for, ""
// if one can.
func contradiction(c *class) string {
	if len(c.alternatives) == 0 {
		return "no node can match its required node affinity, which has no terms, or only empty ones"
	}
	for _, alt := range c.alternatives {
		possible := alt.NodeNames == nil || !alt.NodeNames.Impossible()
		if possible && !alt.Set.Impossible() {
			return ""
		}
	}
	for r := range c.alternatives[0].Set.All() {
		if r.Impossible() {
			return fmt.Sprintf("no node can match its node selection, which contradicts itself over label %s", r.Key())
		}
	}
	return "no node can match its node selection, which asks for several node names at once"
}

// nodes counts the existing nodes by what they refuse the class for.
func (e *explainer) nodes() map[Cause]int {
	if len(e.p.nodes) == 0 {
		return nil
	}
	out := map[Cause]int{}
	for i := range e.p.nodes {
		n := &e.p.nodes[i]
		switch {
		case !n.verdict.tolerates.Has(e.c):
			out[CauseTaints]++
		case !n.verdict.selects.Has(e.c):
			out[CauseRequirements]++
		case !e.p.admits(e.c, n):
			out[CauseVolumes]++
		case !within(e.request, n.free):
			out[CauseResources]++
		case e.clash(n) != "":
			out[e.clash(n)]++
		case len(e.p.rules.duties[e.c].parts) > 0 || len(e.p.rules.duties[e.c].spans) > 0:
			out[CauseNodes]++
		default:
			out[CauseResources]++ // other pods have taken it
		}
	}
	return out
}

// clash says whether a port or a disk of the class is taken on a node; "" if none
// is.
func (e *explainer) clash(n *existing) Cause {
	if len(e.class.ports) == 0 {
		return ""
	}
	switch at := clashing(e.class.ports, e.portsOn(n)); {
	case at < 0:
		return ""
	case e.class.ports[at].isDisk():
		return CauseVolumes
	}
	return CauseHostPorts
}

// portsOn lists the host ports and disks that are taken on a node.
func (e *explainer) portsOn(n *existing) []hostPort {
	var out []hostPort
	for _, pod := range n.Pods {
		if pod != nil && !finished(pod) {
			out = append(out, held(pod)...)
		}
	}
	for _, i := range n.daemons {
		out = append(out, held(e.p.daemons[i].pod)...)
	}
	return out
}

// pool says why one pool refuses the class. Of several alternatives it speaks
// of the one that came furthest, the first of equals.
func (e *explainer) pool(i int) PoolReason {
	p := &e.p.pools[i]
	if p.idle.Cause != "" {
		return p.idle
	}
	if taints := untolerated(p.taints, e.class.tolerations); len(taints) > 0 {
		return PoolReason{NodePool: p.object.Name, Cause: CauseTaints, Taints: taints}
	}
	best, bestAttempt := PoolReason{}, -1
	for _, alt := range e.class.alternatives {
		if reason, attempt := e.alternative(i, alt); attempt > bestAttempt {
			best, bestAttempt = reason, attempt
			best.Options, best.Steps = len(p.options), e.steps(i, alt)
		}
	}
	best.NodePool = p.object.Name
	return best
}

// alternative returns what stops one alternative in a pool, and how many
// hurdles it took before.
func (e *explainer) alternative(i int, alt requirements.Alternative) (PoolReason, int) {
	p := &e.p.pools[i]
	if !admitsNewNode(alt) {
		return PoolReason{Cause: CauseRequirements, Detail: "the pod asks for a node by name, and a new node has none before it is launched"}, 0
	}
	if r, ok := alt.Set.Get(corev1.LabelHostname); ok && !r.Has(newHostname) {
		return PoolReason{Cause: CauseRequirements, Detail: fmt.Sprintf("the pod asks for %s, and a new node has no name before it is launched", r)}, 0
	}
	for r := range alt.Set.All() {
		if !writable(r) {
			return PoolReason{Cause: CauseRequirements, Detail: fmt.Sprintf("the pod asks for %s, and no label can have such a value", r)}, 0
		}
	}
	// Types and offerings may narrow any label but not invent one, so a label
	// of the type's own must not count against the pool.
	if conflicts := e.withPool(p, alt); len(conflicts) > 0 {
		return PoolReason{Cause: CauseRequirements, Conflicts: conflicts}, 1
	}
	options := bitset.New(e.d.total)
	p.window(options).Or(e.d.admittingAll(i, alt.Set))
	if options.Empty() {
		return e.noType(p, alt), 2
	}
	e.p.admission.keepPorts(options, e.class)
	if options.Empty() {
		if slices.ContainsFunc(e.class.ports, hostPort.isDisk) {
			return PoolReason{Cause: CauseVolumes, Detail: "a DaemonSet has a disk of the pod, or binds a host port of it, on every suitable instance type"}, 3
		}
		return PoolReason{Cause: CauseHostPorts, Detail: "a DaemonSet binds a host port of the pod on every suitable instance type"}, 3
	}
	e.p.admission.keepFromDaemons(options, e.class)
	if options.Empty() {
		return PoolReason{Cause: CauseAntiAffinity, Detail: "a DaemonSet that required anti-affinity keeps apart from the pod runs on every suitable instance type"}, 3
	}
	return e.noRoom(i, alt, options)
}

// withPool returns the conflicts between an alternative and the pool's own
// template, over the keys that only the pool speaks of.
func (e *explainer) withPool(p *pool, alt requirements.Alternative) []requirements.Conflict {
	var out []requirements.Conflict
	for _, c := range p.template.Conflicts(alt.Set.Without(corev1.LabelHostname), e.p.vocabulary) {
		if c.Undefined && e.typesName(p, c.Key) {
			continue
		}
		out = append(out, c)
	}
	return out
}

// typesName says whether some type or offering of a pool has a label.
func (e *explainer) typesName(p *pool, key string) bool {
	for _, t := range p.types {
		if _, ok := typeRequirement(t, key); ok {
			return true
		}
		for j := range t.Offerings {
			if _, ok := t.Offerings[j].Requirements.Get(key); ok {
				return true
			}
		}
	}
	return false
}

// noType says why no option of a pool has the labels asked for: there is no
// such type, or it cannot be had now.
func (e *explainer) noType(p *pool, alt requirements.Alternative) PoolReason {
	suited, offered := 0, 0
	wanted := p.template.Intersect(alt.Set)
	for _, t := range p.types {
		if !overlapsType(wanted, t) {
			continue
		}
		suited++
		for j := range t.Offerings {
			if labels := t.Offerings[j].Labels(); overlapping(wanted, labels) && overlapping(t.Requirements, labels) {
				offered++
			}
		}
	}
	asked := e.askedOfTypes(p, alt)
	if suited == 0 {
		return PoolReason{Cause: CauseInstanceTypes, Detail: fmt.Sprintf("no instance type of the pool has %s", asked)}
	}
	have := fmt.Sprintf("%d instance types have %s", suited, asked)
	if suited == 1 {
		have = "1 instance type has " + asked
	}
	switch offered {
	case 0:
		return PoolReason{Cause: CauseOfferings, Detail: have + ", but no offering has all of it"}
	case 1:
		return PoolReason{Cause: CauseOfferings, Detail: have + ", but the only offering is not available now"}
	}
	return PoolReason{Cause: CauseOfferings, Detail: have + fmt.Sprintf(", but none of the %d offerings is available now", offered)}
}

// askedOfTypes renders what an alternative asks of labels that types or
// offerings of a pool have, as the others are not to blame.
func (e *explainer) askedOfTypes(p *pool, alt requirements.Alternative) string {
	var asked []string
	for r := range alt.Set.All() {
		if e.typesName(p, r.Key()) {
			asked = append(asked, r.String())
		}
	}
	if len(asked) == 0 {
		return alt.Set.String()
	}
	return strings.Join(asked, " and ")
}

// noRoom says what stops pods whose labels and taints suit some options.
func (e *explainer) noRoom(i int, alt requirements.Alternative, options bitset.Set) (PoolReason, int) {
	p := &e.p.pools[i]
	fitting := options.Clone()
	for o := range options.All() {
		if !within(e.request, p.options[o-p.first].capacity) {
			fitting.Remove(o)
		}
	}
	if fitting.Empty() {
		return e.tooLarge(p, options), 4
	}
	trait := e.p.traits.of(alt.Set)
	for m, mv := range e.p.minValues[i] {
		if have := mv.Distinct(p.first, fitting, e.p.traits.Values(i, m, trait)); have < mv.Need && e.p.opts.MinValues != BestEffort {
			return PoolReason{Cause: CauseMinValues, Detail: fmt.Sprintf("it demands %d values of %s, and only %d can be had for the pod",
				mv.Need, mv.key, have)}, 5
		}
	}
	if ids := e.reservations(p, fitting); len(ids) > 0 {
		return PoolReason{Cause: CauseReservations, Detail: "only reserved capacity would do, and all that is left of " + strings.Join(ids, ", ") + " is taken"}, 6
	}
	if e.p.lowPools[i].Limits == nil {
		return PoolReason{Cause: CauseNodes, Detail: "pods that are there or come before it leave it no node of its own"}, 6
	}
	if detail := e.beyondMinValues(i, fitting, trait); detail != "" {
		return PoolReason{Cause: CauseMinValues, Detail: detail}, 6
	}
	return PoolReason{Cause: CauseLimits, Detail: p.limitDetail(fitting, e.p.lowPools[i].Uses, e.planned[i])}, 6
}

// beyondMinValues says how the limits of a pool leave some of the options that fit a
// pod, but too few for a minValues; "" if that is not so.
func (e *explainer) beyondMinValues(i int, fitting bitset.Set, trait int32) string {
	p, uses := &e.p.pools[i], e.p.lowPools[i].Uses
	left := fitting.Clone()
	for o := range fitting.All() {
		for l, use := range uses[o-p.first] {
			if use > p.remaining[l]-e.planned[i][l] {
				left.Remove(o)
			}
		}
	}
	if left.Empty() || e.p.opts.MinValues == BestEffort {
		return ""
	}
	for m, mv := range e.p.minValues[i] {
		if have := mv.Distinct(p.first, left, e.p.traits.Values(i, m, trait)); have < mv.Need {
			return fmt.Sprintf("it demands %d values of %s, and only %d can be had for the pod within what its limits leave (%s)",
				mv.Need, mv.key, have, p.limitDetail(left, uses, e.planned[i]))
		}
	}
	return ""
}

// limitDetail says how the limits stand that leave no room for any of some options,
// given what each option of the pool and the new nodes of the plan take of them: what
// was used before, and what the smallest of the options would take. Where no limit by
// itself is in the way it speaks of all.
func (p *pool) limitDetail(fitting bitset.Set, uses [][]int64, planned []int64) string {
	least := slices.Repeat([]int64{math.MaxInt64}, len(p.limits))
	for o := range fitting.All() {
		for l, use := range uses[o-p.first] {
			least[l] = min(least[l], use)
		}
	}
	var binding, all []string
	for l, name := range p.limits {
		text := p.limitTexts[l]
		if planned[l] > 0 {
			text += fmt.Sprintf(", %s by this plan", quantity(name, planned[l]))
		}
		if name != nodesResource && least[l] > 0 {
			text += fmt.Sprintf(", and a node that would do takes %s or more", quantity(name, least[l]))
		}
		if all = append(all, text); p.remaining[l]-planned[l] < least[l] {
			binding = append(binding, text)
		}
	}
	if len(binding) == 0 {
		binding = all
	}
	return strings.Join(binding, "; ")
}

// reservations lists the reservations that all of some options draw on, nil if
// one draws on none.
func (e *explainer) reservations(p *pool, options bitset.Set) []string {
	var ids []string
	for o := range options.All() {
		id := p.options[o-p.first].Offering.ReservationID
		if id == "" {
			return nil
		}
		if !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	return ids
}
