package provisioning

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/provisioning/internal/bitset"
	"github.com/dovetail-sdk/dovetail/provisioning/internal/pack"
	"github.com/dovetail-sdk/dovetail/provisioning/internal/topology"
	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
)

// boundTerms are the required anti-affinities of pods that run, by kind.
type boundTerms map[int32][]term

// readBound reads the required anti-affinity of the pods on nodes, of each kind
// of pod once. A selector that cannot be read keeps nobody away, as in
// kube-scheduler.
func (k *classifier) readBound() boundTerms {
	out := boundTerms{}
	known := map[string][]term{}
	seen := make([]bool, k.boundKinds.count())
	for _, list := range k.boundMemberships {
		for _, kind := range list {
			if kind == ended || seen[kind] {
				continue
			}
			seen[kind] = true
			pod := k.boundKinds.pod(kind)
			if pod.Spec.Affinity == nil || pod.Spec.Affinity.PodAntiAffinity == nil {
				continue
			}
			key := k.key.apartOnly(pod)
			terms, ok := known[string(key)]
			if !ok {
				text := string(key)
				terms, _ = k.reader.apart(pod, pod.Spec.Affinity.PodAntiAffinity, k.reader.namespaces.Affinity)
				known[text] = terms
			}
			if len(terms) > 0 {
				out[kind] = terms
			}
		}
	}
	return out
}

// mayGet says whether a node that has not been registered may come to have a
// label that it has not yet: one that its instance type may bring along, or
// that its requirements speak of.
func (e *existing) mayGet(key string, v *requirements.Vocabulary) bool {
	if e.registered() || e.NodeClaim == nil {
		return false
	}
	if _, ok := e.standing.labels[v.NormalizeKey(key)]; ok {
		return false // it has the label, by its current name only
	}
	asked := func(r v1.NodeSelectorRequirementWithMinValues) bool { return r.Key == key }
	return v.WellKnown(v.NormalizeKey(key)) || slices.ContainsFunc(e.NodeClaim.Spec.Requirements, asked)
}

// settleUnknown looks at the labels that a node may come to have: where only
// pods that run mind them, and none of those is where the node may be, it is as
// if it had no such label.
func (p *Problem) settleUnknown(n *existing) {
	for k := range n.at {
		if n.at[k] != topology.Unknown {
			continue
		}
		harmless := true
		for i := range p.rules.domain {
			rule := &p.rules.domain[i]
			if rule.Rule.Key == k && (rule.Kind != topology.Apart || rule.owned || p.mayMeet(n, rule)) {
				harmless = false
			}
		}
		if harmless {
			n.at[k] = topology.None
		}
	}
}

// mayMeet says whether a node may come up where an owner of a rule is.
func (p *Problem) mayMeet(n *existing, rule *domainRule) bool {
	asked, err := requirements.FromNodeClaim(n.NodeClaim, p.vocabulary)
	if err != nil {
		return true
	}
	r, ok := asked.Get(p.vocabulary.NormalizeKey(rule.key))
	for d, value := range p.table.values[rule.Rule.Key] {
		if rule.Owners[d] > 0 && (!ok || r.Has(value)) && p.mayBe(n, asked, rule.key, value) {
			return true
		}
	}
	return false
}

// mayBe says whether some offering that a claim allows, and that can be had now,
// has a label with a value.
func (p *Problem) mayBe(n *existing, asked requirements.Set, key, value string) bool {
	wanted := requirements.NewSet(requirements.In(p.vocabulary.NormalizeKey(key), value))
	for i := range p.pools {
		if p.pools[i].object.Name != n.poolName() {
			continue
		}
		for _, t := range p.pools[i].types {
			labels := typeLabels(t)
			if !overlapping(asked, labels) || !overlapping(wanted, labels) {
				continue
			}
			for j := range t.Offerings {
				own := t.Offerings[j].Labels()
				if t.Offerings[j].Launchable() && overlapping(asked, own) && overlapping(wanted, own) && overlapping(t.Requirements, own) {
					return true
				}
			}
		}
		return false
	}
	return true
}

// baseline counts the pods that run, and the domains that are there.
type baseline struct {
	p                *Problem
	r                *rules
	selectorIndex    *selectorIndex
	boundKinds       *boundKinds
	boundMemberships [][]int32 // by node of the input: the kinds of its pods
	bound            boundTerms
	kinds            []boundMembership // by kind
	interest         bitset.Set        // selections that some pod to be placed is in
	moving           map[string]bool   // pods to be placed, by name
	byNode           [][]int           // by selection: node rules
	byTerm           map[term]int      // domain rule of each bound anti-affinity
}

func newBaseline(p *Problem, k *classifier) *baseline {
	return &baseline{p: p, r: p.rules, selectorIndex: k.selectorIndex, boundKinds: k.boundKinds, boundMemberships: k.boundMemberships, bound: k.bound, kinds: make([]boundMembership, k.boundKinds.count())}
}

// addBoundRules adds the rules that only pods which run have: their required
// anti-affinity, as far as it concerns any pod to be placed.
func (x *baseline) addBoundRules() {
	x.interest = bitset.New(len(x.r.selections))
	for c := range x.p.classes {
		if x.p.classes[c].refusal == nil {
			x.interest.Or(x.p.classes[c].selected)
		}
	}
	x.byTerm = map[term]int{}
	if len(x.bound) == 0 {
		return
	}
	var key podKey
	seen := make([]bool, len(x.kinds))
	for _, list := range x.boundMemberships {
		for _, kind := range list {
			if kind == ended || seen[kind] {
				continue
			}
			seen[kind] = true
			for _, t := range x.bound[kind] {
				if !x.interest.Has(t.pods) {
					continue
				}
				if t.key == corev1.LabelHostname {
					x.r.nodeRule(nodeRuleKey{pack.Apart, t.pods, 0, 0}, t)
				} else if _, ok := x.byTerm[t]; !ok {
					x.byTerm[t] = x.r.domainRule(x.p, 0, t, &key)
				}
			}
		}
	}
}

// boundPorts lists the ports and disks of pods that run, and of daemons, that clash
// with some pod's to be placed.
func (x *baseline) boundPorts() []hostPort {
	var wanted, out []hostPort
	for c := range x.p.classes {
		wanted = append(wanted, x.p.classes[c].ports...)
	}
	if len(wanted) == 0 {
		return nil
	}
	add := func(pod *corev1.Pod) {
		for _, p := range held(pod) {
			if portsClash([]hostPort{p}, wanted) {
				out = append(out, p)
			}
		}
	}
	seen := make([]bool, len(x.kinds))
	for _, list := range x.boundMemberships {
		for _, kind := range list {
			if kind != ended && !seen[kind] {
				seen[kind] = true
				add(x.boundKinds.pod(kind))
			}
		}
	}
	for i := range x.p.daemons {
		if pod := x.p.daemons[i].pod; !finished(pod) {
			add(pod)
		}
	}
	return out
}

// count visits all nodes. Pods of nodes on their way out count where they are,
// unless they are among those to be placed.
func (x *baseline) count(staying, leaving []existing) {
	x.moving = map[string]bool{}
	if len(leaving) > 0 {
		for _, pod := range x.p.pods {
			x.moving[pod.Namespace+"/"+pod.Name] = true
		}
	}
	x.byNode = make([][]int, len(x.r.selections))
	for i := range x.r.node {
		if s := x.r.node[i].pods; s >= 0 {
			x.byNode[s] = append(x.byNode[s], i)
		}
	}
	for i := range x.r.domain {
		rule := &x.r.domain[i]
		rule.Rule.Key = x.p.table.number(rule.key)
		if rule.Rule.Key < 0 {
			continue // nobody to be placed is concerned
		}
		n := len(x.p.table.values[rule.Rule.Key])
		rule.Members, rule.Owners = make([]int, n), make([]int, n)
		rule.Counted, rule.Sure = make([]bool, n), make([]bool, n)
	}
	looked := make([]bool, len(x.r.domain))
	for i := range staying {
		x.node(&staying[i], false, looked)
	}
	for i := range leaving {
		x.node(&leaving[i], true, looked)
	}
}

// node counts a node and its pods. looked is scratch space.
func (x *baseline) node(n *existing, leaving bool, looked []bool) {
	for i := range x.r.domain {
		rule := &x.r.domain[i]
		looked[i] = false // whether a spread rule looks at the node
		if rule.Rule.Key < 0 || rule.Kind != topology.Spread {
			continue
		}
		if d := n.at[rule.Rule.Key]; d >= 0 && x.p.looksAt(rule, n) {
			looked[i] = true
			rule.Counted[d], rule.Sure[d] = true, true
		}
	}
	for i, kind := range n.boundMemberships {
		if x.counts(n, i, leaving) {
			x.pod(n, x.boundMembership(kind), looked)
		}
	}
}

// counts says whether constraints see a pod where it runs: one of a node on its way
// out is not there if it is to be placed.
func (x *baseline) counts(n *existing, i int, leaving bool) bool {
	return n.boundMemberships[i] != ended && !(leaving && x.moving[n.Pods[i].Namespace+"/"+n.Pods[i].Name])
}

// looksAt says whether a spread rule counts what is on a node: one that its
// owners may use, as far as its policies say so, and that has all the labels
// they are spread over.
func (p *Problem) looksAt(rule *domainRule, n *existing) bool {
	for _, key := range rule.spans {
		if _, ok := n.standing.labels[key]; !ok {
			return false
		}
	}
	if rule.term.honorAffinity && !n.verdict.selects.Has(rule.like) {
		return false
	}
	return !rule.term.honorTaint || n.verdict.tolerates.Has(rule.like)
}

// partsOn sums up what the pods on a node, and the daemons to come, count for
// in the rules over nodes.
func (x *baseline) partsOn(n *existing, leaving bool) []pack.Membership {
	var out []pack.Membership
	if len(x.r.node) == 0 {
		return nil
	}
	for i, kind := range n.boundMemberships {
		if x.counts(n, i, leaving) {
			for _, part := range x.boundMembership(kind).parts {
				out = addPart(out, part.Rule, part.Owners, part.Members, part.Both)
			}
		}
	}
	if leaving {
		return out // no daemon comes any more
	}
	for _, i := range n.daemons {
		d := &x.p.daemons[i]
		out = x.addPod(out, d.pod, d.selected, d.apart)
	}
	return out
}

// addPod adds what a pod on a node counts for, given the selections that it is in
// and its required anti-affinity.
func (x *baseline) addPod(out []pack.Membership, pod *corev1.Pod, selected bitset.Set, apart []term) []pack.Membership {
	if len(x.r.ports) > 0 {
		for _, part := range x.r.portParts(held(pod)) {
			out = addPart(out, part.Rule, part.Owners, part.Members, part.Both)
		}
	}
	for s := range selected.All() {
		for _, r := range x.byNode[s] {
			if x.r.node[r].Kind == pack.Apart || pod.DeletionTimestamp == nil {
				out = addPart(out, r, 0, 1, 0)
			}
		}
	}
	var owned []int
	for _, t := range apart {
		r, ok := x.r.nodeIndex[nodeRuleKey{pack.Apart, t.pods, 0, 0}]
		if !ok || t.key != corev1.LabelHostname || slices.Contains(owned, r) {
			continue
		}
		owned = append(owned, r)
		both := 0
		if selected.Has(t.pods) {
			both = 1
		}
		out = addPart(out, r, 1, 0, both)
	}
	return out
}

// pod counts one pod in the rules over domains.
func (x *baseline) pod(n *existing, l *boundMembership, looked []bool) {
	for _, i := range l.counted {
		rule := &x.r.domain[i]
		if rule.Kind == topology.Spread && !looked[i] {
			continue
		}
		switch d := n.at[rule.Rule.Key]; {
		case d >= 0:
			rule.Members[d]++
		case d == topology.Unknown:
			rule.Elsewhere = true
		}
	}
	for _, i := range l.owns {
		if d := n.at[x.r.domain[i].Rule.Key]; d >= 0 {
			x.r.domain[i].Owners[d]++
		}
	}
}
