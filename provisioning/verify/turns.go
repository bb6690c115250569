package verify

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
)

// podTurn is a pod about to be put where the plan wants it.
type podTurn struct {
	pod  *podInfo
	site *targetNode
}

// checkTurns replays the plan: all new nodes are there, with their DaemonSets,
// and the pods come one by one in the order of the plan. Others are pods that
// somebody will ask about when all are there.
func (r *referee) checkTurns(others []*podInfo) {
	r.makeSites()
	turns := r.turns()
	for _, turn := range turns {
		r.learn(turn.pod)
	}
	for _, p := range others {
		r.learn(p)
	}
	r.learnPresent()
	r.seatPresent()
	for _, turn := range turns {
		s, p := turn.site, turn.pod
		r.judgeSeat(s, p, func(rule Rule, format string, args ...any) {
			r.report(rule, s.name, p.key.String(), format, args...)
		})
		r.seat(s, p, true)
		r.useVolumes(s, p)
	}
}

// turns puts the placed pods in the order of the plan, and reports where that is
// not an order of them. Pods that it leaves out come last.
func (r *referee) turns() []podTurn {
	seats := map[*podInfo][]*targetNode{}
	placed := map[objectKey]int{}
	tally := func(pods []*corev1.Pod) {
		for _, p := range r.knownPods(pods) {
			placed[p.key]++
		}
	}
	for i := range r.plan.Create {
		tally(r.plan.Create[i].Pods)
	}
	for _, b := range r.plan.Bind {
		tally(b.Pods)
	}
	for _, s := range r.sites {
		for _, p := range s.placed {
			seats[p] = append(seats[p], s)
		}
	}
	var turns []podTurn
	take := func(p *podInfo) {
		if sites := seats[p]; len(sites) > 0 {
			turns = append(turns, podTurn{p, sites[0]})
			seats[p] = sites[1:]
		}
	}
	last := "" // pod of a buffer
	for i, pod := range r.plan.Order {
		if pod == nil {
			r.report(RuleOrder, "", "", "the pod at index %d of Order is nil", i)
			continue
		}
		key := keyOf(pod)
		left, known := placed[key]
		switch {
		case !known:
			r.report(RuleOrder, "", key.String(), "Order lists it, but neither Create nor Bind does")
			continue
		case left == 0:
			r.report(RuleOrder, "", key.String(), "Order lists it too often")
			continue
		}
		placed[key]--
		p := r.known(pod)
		if last != "" && !p.virtual {
			r.report(RuleOrder, "", key.String(), "it comes after %s, which stands for a buffer and gives way to every real pod", last)
		}
		if p.virtual {
			last = key.String()
		}
		take(p)
	}
	r.reportMissing(placed)
	for _, s := range r.sites {
		for _, p := range s.placed {
			take(p)
		}
	}
	return turns
}

// reportMissing reports the pods that Order leaves out, all at once.
func (r *referee) reportMissing(placed map[objectKey]int) {
	missing := 0
	var first objectKey
	for key, left := range placed {
		if left == 0 {
			continue
		}
		if missing == 0 || key.Compare(first) < 0 {
			first = key
		}
		missing += left
	}
	if missing > 0 {
		r.report(RuleOrder, "", first.String(), "it has a place, but Order does not list it (so do %d pods in all)", missing)
	}
}

// learn reads what a pod that is to be placed wants of others.
func (r *referee) learn(p *podInfo) {
	if p.learnt {
		return
	}
	p.learnt = true
	p.wants, p.wantsErr = r.spreads(p)
	if p.wantsErr == nil {
		p.companies, p.wantsErr = r.companiesFor(p)
	}
	if p.wantsErr == nil {
		p.apart, p.wantsErr = r.aparts(p, true)
	}
}

// learnPresent reads whom the pods that are there already keep out. What cannot
// be read keeps nobody out, as with kube-scheduler.
func (r *referee) learnPresent() {
	learn := func(pods []*podInfo, arriving bool) {
		for _, p := range pods {
			if apart, err := r.aparts(p, arriving); err == nil {
				p.apart = apart
			}
		}
	}
	learn(r.daemons, true)
	for _, n := range r.nodes {
		learn(n.bound, false)
	}
}

// seatPresent puts the pods that are there before the first turn where they are.
// A DaemonSet's pod that is missing from a node comes if the node is still starting. Otherwise it
// may come, or not.
func (r *referee) seatPresent() {
	for _, s := range r.sites {
		if s.fresh != nil {
			for _, d := range s.family.always {
				r.seat(s, d, true)
			}
			for _, d := range s.family.perhaps {
				r.seat(s, d, false)
			}
			continue
		}
		for _, p := range s.node.bound {
			r.seat(s, p, true)
			r.useVolumes(s, p)
		}
		for _, d := range r.comingDaemons(s.node) {
			r.seat(s, d, s.node.Settling)
		}
	}
}

// seat counts a pod wherever it counts.
func (r *referee) seat(s *targetNode, p *podInfo, sure bool) {
	for _, t := range p.apart {
		t.owners.add(r.view(t.glance, s), p, sure)
	}
	if len(r.counters.hooks) == 0 {
		return
	}
	for _, c := range r.counters.of(p).counters {
		c.seat(s, p, sure)
	}
}

// checkScheduling looks for placed pods that no scheduler, or none of those that
// are asked about, would place.
func (r *referee) checkScheduling() {
	judge := func(node string, pods []*corev1.Pod) {
		for _, p := range r.knownPods(pods) {
			if why := r.waits(p); why != "" {
				r.report(RuleScheduling, node, p.key.String(), "%s, so it must stay pending", why)
			}
		}
	}
	for i := range r.plan.Create {
		judge(r.plan.Create[i].Name, r.plan.Create[i].Pods)
	}
	for _, b := range r.plan.Bind {
		judge(b.Node, b.Pods)
	}
}

// waits says why a pod is not to be placed wherever there is room; "" if it is.
func (r *referee) waits(p *podInfo) string {
	if p.DeletionTimestamp != nil {
		return "it is being deleted"
	}
	if len(p.Spec.SchedulingGates) > 0 {
		return "it waits for scheduling gate " + p.Spec.SchedulingGates[0].Name
	}
	name := p.Spec.SchedulerName
	if name == "" {
		name = corev1.DefaultSchedulerName
	}
	if len(r.schedulers) > 0 && !slices.Contains(r.schedulers, name) {
		return "it is for scheduler " + name
	}
	return ""
}
