package verify

import "slices"

// checkBinding replays the plan: all new nodes exist, with their DaemonSets, and the pods are bound
// one by one in the order of the plan. It also reads the constraints of others, for later checks of
// these pods.
func (r *referee) checkBinding(others []*podInfo) {
	order, sites := r.bindingOrder()
	for _, p := range others {
		p.unplaced = true
	}
	for _, p := range slices.Concat(order, others) {
		r.readConstraints(p)
	}
	r.readPresent()
	r.countPresent()
	for i, p := range order {
		s := sites[i]
		r.judgePod(s, p, r.reportOn(s.name))
		r.count(s, p, true)
		r.useVolumes(s, p)
	}
}

// bindingOrder returns the placed pods in the order of the plan, each with its node. It reports
// where Plan.Order is no order of these pods. Pods that Order leaves out come last.
func (r *referee) bindingOrder() (order []*podInfo, sites []*site) {
	places := map[*podInfo][]*site{} // by pod: its places that Order has not named yet
	placements := r.placements()
	for _, l := range placements {
		for _, p := range l.pods {
			places[p] = append(places[p], l.site)
		}
	}
	bind := func(p *podInfo) {
		s := places[p][0]
		if places[p] = places[p][1:]; s != nil {
			order, sites = append(order, p), append(sites, s)
		}
	}
	last := "" // last pod of a buffer
	for i, pod := range r.plan.Order {
		if pod == nil {
			r.report(RuleOrder, "", "", "the pod at index %d of Order is nil", i)
			continue
		}
		p, key := r.known(pod), keyOf(pod).String()
		left, placed := places[p]
		switch {
		case !placed:
			r.report(RuleOrder, "", key, "Order lists it, but neither Create nor Bind does")
			continue
		case len(left) == 0:
			r.report(RuleOrder, "", key, "Order lists it too often")
			continue
		case p.virtual:
			last = key
		case last != "":
			r.report(RuleOrder, "", key, "it comes after %s, which stands for a buffer and gives way to every real pod", last)
		}
		bind(p)
	}
	missing, first := 0, objectKey{}
	for p, left := range places {
		if len(left) > 0 && (missing == 0 || p.key.Compare(first) < 0) {
			first = p.key
		}
		missing += len(left)
	}
	if missing > 0 {
		r.report(RuleOrder, "", first.String(), "it has a place, but Order does not list it (so do %d pods in all)", missing)
	}
	for _, l := range placements {
		for _, p := range l.pods {
			if len(places[p]) > 0 {
				bind(p)
			}
		}
	}
	return order, sites
}

// readConstraints reads the constraints of a pod to be bound.
func (r *referee) readConstraints(p *podInfo) {
	if p.spreads, p.constraintsErr = r.spreads(p); p.constraintsErr != nil {
		return
	}
	if p.follows, p.constraintsErr = r.follows(p); p.constraintsErr != nil {
		return
	}
	p.avoids, p.constraintsErr = r.avoids(p, true)
}

// readPresent reads the anti-affinity of running pods and DaemonSets. As in kube-scheduler, terms
// that cannot be read are ignored.
func (r *referee) readPresent() {
	for _, d := range r.daemons {
		d.avoids, _ = r.avoids(d, true)
	}
	for _, n := range r.nodes {
		for _, p := range n.bound {
			p.avoids, _ = r.avoids(p, false)
		}
	}
}

// countPresent counts the pods that are there before the plan binds any.
func (r *referee) countPresent() {
	for _, s := range r.sites {
		for _, p := range s.bound {
			r.count(s, p, true)
			r.useVolumes(s, p)
		}
		for _, d := range s.family.always {
			r.count(s, d, true)
		}
		for _, d := range s.family.perhaps {
			r.count(s, d, false)
		}
	}
}
