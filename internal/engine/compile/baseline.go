package compile

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/internal/engine/bitset"
	"github.com/dovetail-sdk/dovetail/internal/engine/catalog"
	"github.com/dovetail-sdk/dovetail/internal/engine/constraint"
	"github.com/dovetail-sdk/dovetail/internal/engine/constraint/kinds"
	"github.com/dovetail-sdk/dovetail/internal/engine/model"
	"github.com/dovetail-sdk/dovetail/internal/engine/pack"
	"github.com/dovetail-sdk/dovetail/internal/engine/topology"
	"github.com/dovetail-sdk/dovetail/internal/engine/workload"
	"github.com/dovetail-sdk/dovetail/internal/podlife"
	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
)

// readBound reads the required anti-affinity of running pods, once for each kind of pod. As in
// kube-scheduler, a selector that cannot be read excludes no pod.
func (k *classifier) readBound() workload.BoundTerms {
	out := workload.BoundTerms{}
	known := map[string][]workload.Term{}
	for _, kind := range k.constraining {
		pod := k.p.boundKinds.Pod(kind)
		if pod.Spec.Affinity == nil || pod.Spec.Affinity.PodAntiAffinity == nil {
			continue
		}
		if terms := k.p.boundKinds.Apart(kind, k.reader); terms != nil {
			out[kind] = terms
			continue
		}
		key := k.key.ApartOnly(pod)
		terms, ok := known[string(key)]
		if !ok {
			text := string(key)
			terms, _ = k.reader.Apart(pod, pod.Spec.Affinity.PodAntiAffinity, false)
			known[text] = terms
		}
		if len(terms) > 0 {
			out[kind] = terms
		}
	}
	return out
}

// mayGet says whether a node that is not registered may get a label that it lacks: one that its
// instance type may add, or one that the requirements of its claim mention.
func mayGet(e *model.Existing, key string, v *requirements.Vocabulary) bool {
	if e.Registered() || e.NodeClaim == nil {
		return false
	}
	if _, ok := e.Standing.Labels[v.NormalizeKey(key)]; ok {
		return false // it has the label under its current name only
	}
	asked := func(r v1.NodeSelectorRequirementWithMinValues) bool { return r.Key == key }
	return v.WellKnown(v.NormalizeKey(key)) || slices.ContainsFunc(e.NodeClaim.Spec.Requirements, asked)
}

// MayBe says whether some available offering that a claim allows has a label with a value.
func (p *Problem) MayBe(n *model.Existing, asked requirements.Set, key, value string) bool {
	i := slices.IndexFunc(p.Pools, func(pool catalog.Pool) bool { return pool.Object.Name == n.PoolName() })
	return i < 0 || p.Pools[i].Launches(asked.With(requirements.In(p.Vocabulary.NormalizeKey(key), value)))
}

// baseline counts running pods, and the domains of existing nodes, for the rules.
type baseline struct {
	p             *Problem
	r             *Rules
	selectorIndex *workload.SelectorIndex
	constraining  []int32 // kinds of running pods that can exclude others
	bound         workload.BoundTerms
	limits        workload.BoundLimits
	kinds         [][]boundMembership   // by kind, in pages that are allocated on demand
	candidates    bitset.Set            // kinds that some selection may select; nil means all
	nobody        boundMembership       // shared entry of all other kinds
	interest      bitset.Set            // selections that select some pod to be placed
	moving        map[string]bool       // pods to be placed, by name
	together      []int                 // selections of affinities over the hostname
	some          bool                  // there is something to count
	looked        []bool                // by DomainRule.Way: these topology spreads count the node that is being counted
	byTerm        map[workload.Term]int // domain rule of each anti-affinity of running pods
}

func newBaseline(p *Problem, k *classifier) *baseline {
	x := &baseline{p: p, r: p.Rules, selectorIndex: k.selectorIndex, constraining: k.constraining, bound: k.bound, limits: k.boundLimits, kinds: make([][]boundMembership, p.boundKinds.Count()/kindsPage+1)}
	x.nobody = boundMembership{known: true, PodRules: PodRules{Selected: bitset.New(len(p.Rules.selections))}}
	if x.candidates = k.selectorIndex.Candidates(p.boundKinds); x.candidates != nil {
		for _, kind := range k.constraining {
			x.candidates.Add(int(kind))
		}
	}
	return x
}

// addBoundRules adds the rules that only running pods have: their required anti-affinity, if it
// selects any pod to be placed.
func (x *baseline) addBoundRules() {
	x.interest = bitset.New(len(x.r.selections))
	for c := range x.p.Classes {
		if x.p.Classes[c].Refusal == nil {
			x.interest.Or(x.p.Classes[c].Selected)
		}
	}
	x.byTerm = map[workload.Term]int{}
	var key workload.PodKey
	add := func(t workload.Term) {
		if _, known := x.byTerm[t]; !known && x.interest.Has(t.Pods) && t.Key != corev1.LabelHostname {
			x.byTerm[t] = x.r.domainRule(x.p, 0, t, &key)
		}
	}
	for i := range x.p.Daemons {
		for _, t := range x.p.Daemons[i].Apart {
			add(t)
		}
	}
	if len(x.bound) == 0 {
		return
	}
	for _, kind := range x.constraining {
		for _, t := range x.bound[kind] {
			if add(t); x.interest.Has(t.Pods) && t.Key == corev1.LabelHostname {
				x.r.nodeRule(apartKey(t), t)
			}
		}
	}
}

// boundHolds lists the holds of running pods and daemons that clash with holds of pods to be
// placed.
func (x *baseline) boundHolds() []constraint.Hold {
	var wanted, out []constraint.Hold
	for c := range x.p.Classes {
		wanted = append(wanted, x.p.Classes[c].Holds...)
	}
	if len(wanted) == 0 {
		return nil
	}
	add := func(pod *corev1.Pod) {
		for _, h := range kinds.Held(pod) {
			if slices.ContainsFunc(wanted, h.Clashes) {
				out = append(out, h)
			}
		}
	}
	for _, kind := range x.constraining {
		add(x.p.boundKinds.Pod(kind))
	}
	for i := range x.p.Daemons {
		if pod := x.p.Daemons[i].Pod; !podlife.Finished(pod) {
			add(pod)
		}
	}
	return out
}

// count counts the pods of all nodes. Pods of terminating nodes count where they are, unless they
// are to be placed.
func (x *baseline) count(leaving []model.Existing) {
	p := x.p
	x.moving = map[string]bool{}
	if len(leaving) > 0 {
		for _, pod := range p.Pods {
			x.moving[pod.Namespace+"/"+pod.Name] = true
		}
	}
	x.together, p.Running, p.Beside = p.TogetherOverNodes(), map[int]bool{}, map[int][]bool{}
	x.some = len(x.r.Node)+len(x.together)+len(p.SoftScores.Bound) > 0
	for i := range x.r.Domain {
		rule := &x.r.Domain[i]
		rule.Key = p.Table.number(rule.Term.Key)
		if rule.Key < 0 {
			continue // the rule concerns no pod to be placed
		}
		x.some = true
		n := len(p.Table.Values[rule.Key])
		rule.Members, rule.Owners, rule.Perhaps = make([]int, n), make([]int, n), make([]int, n)
		rule.Counted, rule.Sure = make([]bool, n), make([]bool, n)
		if rule.Kind == topology.Spread && x.r.OfWay(rule.Way) != rule {
			rule.Sure = x.r.OfWay(rule.Way).Sure
		}
	}
	x.looked = make([]bool, len(x.r.ofWay))
	p.NodeParts = make([][]pack.Membership, len(p.Nodes))
	for i := range p.Nodes {
		p.NodeParts[i] = x.node(&p.Nodes[i], i)
	}
	for i := range leaving {
		p.Gone = append(p.Gone, model.TerminatingNode{Existing: leaving[i], Parts: x.node(&leaving[i], -1)})
	}
	for i := range x.r.Domain {
		copy(x.r.Domain[i].Counted, x.r.Domain[i].Sure)
	}
}

// node counts a node, its pods, and those that DaemonSets will create there. index is the index of the
// node in Nodes, -1 for a terminating node, on which no further pod is expected. It returns the
// memberships of the pods in rules over nodes, summed by rule.
func (x *baseline) node(n *model.Existing, index int) (parts []pack.Membership) {
	if !x.some {
		return nil
	}
	for w := range x.r.ofWay {
		rule := x.r.OfWay(w)
		x.looked[w] = false
		if rule.Key < 0 {
			continue
		}
		if d := n.At[rule.Key]; d >= 0 && x.p.LooksAt(rule, n) {
			x.looked[w], rule.Sure[d] = true, !x.p.Opts.Placed || rule.Sure[d]
		}
	}
	for i, kind := range n.BoundMemberships {
		if !x.counts(n, i, index < 0) {
			continue
		}
		l := x.boundMembership(kind)
		x.pod(n, index, &l.PodRules, true)
		parts = pack.AddPods(parts, 1, l.parts...)
		for s, counts := range x.p.SoftScores.Bound { // the order does not matter
			if index >= 0 && l.Selected.Has(s) {
				counts[index]++
			}
		}
	}
	if index < 0 {
		return parts
	}
	for _, d := range x.p.daemonsTo(n) {
		x.pod(n, index, &d.PodRules, n.Settling())
	}
	for _, i := range n.Daemons {
		d := &x.p.Daemons[i]
		parts = x.addPod(parts, d.Pod, d.Selected, d.Apart, true)
	}
	return parts
}

// counts says whether constraints count a pod where it runs. A pod on a terminating node does not
// count if it is to be placed.
func (x *baseline) counts(n *model.Existing, i int, leaving bool) bool {
	return n.BoundMemberships[i] != workload.Ended && !(leaving && x.moving[n.Pods[i].Namespace+"/"+n.Pods[i].Name])
}

// LooksAt says whether a spread rule counts the pods of a node: a node that its owners may use, as
// far as its inclusion policies require it, and that has all labels of the owners' spread
// constraints.
func (p *Problem) LooksAt(rule *DomainRule, n *model.Existing) bool {
	for _, key := range rule.Spans {
		if k := p.Table.number(key); k >= 0 && n.At[k] >= 0 {
			continue
		} else if _, ok := n.Standing.Labels[key]; k >= 0 || !ok {
			return false
		}
	}
	if rule.Term.HonorAffinity && !n.Verdict.Selects.Has(rule.Like) {
		return false
	}
	return !rule.Term.HonorTaint || n.Verdict.Tolerates.Has(rule.Like)
}

// addPod adds the memberships of a pod on a node, given the selections that select it and its
// required anti-affinity. Limits do not count DaemonSet pods.
func (x *baseline) addPod(out []pack.Membership, pod *corev1.Pod, selected bitset.Set, apart []workload.Term, daemon bool) []pack.Membership {
	if len(x.r.holds) > 0 {
		out = pack.AddPods(out, 1, x.r.holdParts(kinds.Held(pod))...)
	}
	for s := range selected.All() {
		for _, r := range x.r.nodesBySelection[s] {
			rule := &x.r.Node[r]
			if rule.Spread && pod.DeletionTimestamp == nil || rule.limit > 0 && !daemon || rule.Kind == pack.Apart {
				out = pack.AddPods(out, 1, pack.Membership{Rule: r, Members: 1})
			}
		}
	}
	var owned []int
	for _, t := range apart {
		r, ok := x.r.nodeIndex[apartKey(t)]
		if !ok || t.Key != corev1.LabelHostname || slices.Contains(owned, r) {
			continue
		}
		owned = append(owned, r)
		both := 0
		if selected.Has(t.Pods) {
			both = 1
		}
		out = pack.AddPods(out, 1, pack.Membership{Rule: r, Owners: 1, Both: both})
	}
	return out
}

// pod counts one pod on a node. sure says that the pod is certain to run there; else
// DomainRule.Perhaps counts it.
func (x *baseline) pod(n *model.Existing, index int, rules *PodRules, sure bool) {
	x.noteMember(n, index, rules.Selected, sure)
	_, missing := model.PoolOfMissing(n.Name()) // a missing node starts after pods of the plan are bound
	for _, i := range rules.Joins {
		rule := &x.r.Domain[i]
		if rule.Key < 0 {
			continue
		}
		if rule.Kind == topology.Spread && !x.looked[rule.Way] {
			continue
		}
		switch d := n.At[rule.Key]; {
		case d >= 0 && sure:
			rule.Members[d]++
		case d >= 0:
			rule.Perhaps[d]++
		case d == topology.Unknown && !missing:
			rule.Elsewhere = true
		}
	}
	for _, i := range rules.Owns {
		if k := x.r.Domain[i].Key; k >= 0 && n.At[k] >= 0 {
			x.r.Domain[i].Owners[n.At[k]]++
		}
	}
}

// boundMembership has the rules that concern a kind of running pod.
type boundMembership struct {
	PodRules
	known bool // the other fields are set
	parts []pack.Membership
}

// PodRules has the domain rules that concern a pod that is not of a class.
type PodRules struct {
	Selected bitset.Set // selections that select the pod
	Joins    []int      // domain rules that count it
	Owns     []int      // domain rules of its own anti-affinity
}

// rulesOf returns the rules that concern a pod, given the selections that select it and its required
// anti-affinity.
func (x *baseline) rulesOf(selected bitset.Set, apart []workload.Term) PodRules {
	out := PodRules{Selected: selected}
	for s := range selected.All() {
		out.Joins = append(out.Joins, x.r.bySelection[s]...)
	}
	for _, t := range apart {
		if r, ok := x.byTerm[t]; ok {
			out.Owns = append(out.Owns, r)
		}
	}
	return out
}

// kindsPage is the number of kinds on a page: most problems need few kinds.
const kindsPage = 256

func (x *baseline) kind(kind int32) *boundMembership {
	if x.candidates != nil && !x.candidates.Has(int(kind)) {
		return &x.nobody
	}
	page := &x.kinds[kind/kindsPage]
	if *page == nil {
		*page = make([]boundMembership, kindsPage)
	}
	return &(*page)[kind%kindsPage]
}

// boundMembership returns the rules that concern a kind of pod. All rules must be known.
func (x *baseline) boundMembership(kind int32) *boundMembership {
	l := x.kind(kind)
	if l.known {
		return l
	}
	l.known = true
	pod := x.p.boundKinds.Pod(kind)
	l.PodRules = x.rulesOf(x.selectorIndex.Members[x.selectorIndex.Of(pod)], x.bound[kind])
	if pod.DeletionTimestamp != nil {
		l.Joins = slices.DeleteFunc(l.Joins, func(r int) bool { return x.r.Domain[r].Kind == topology.Spread })
	}
	l.parts = x.addPod(nil, pod, l.Selected, x.bound[kind], podlife.OfDaemonSet(pod))
	l.parts = x.limitParts(l.parts, x.limits[kind])
	return l
}
