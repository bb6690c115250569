package nomination

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/internal/nodeindex"
	"github.com/dovetail-sdk/dovetail/internal/podlife"
)

// claimView is a NodeClaim with promised pods, and the state of these pods.
type claimView struct {
	claim  *v1.NodeClaim
	node   *corev1.Node // nil until it has joined
	ready  time.Time    // since when the node is; zero while it is not
	groups []groupView
}

// groupView is a group of a claim.
type groupView struct {
	group
	until   time.Time     // when the promise ends
	pending []*corev1.Pod // of the group, or successors of deleted pods
	moving  []*corev1.Pod // still on the node from which they will be evicted
	gone    []string      // deleted pods without a successor: the names under which they may be recreated
}

// awaited counts the pods that are not bound to the node yet.
func (g *groupView) awaited() int { return len(g.pending) + len(g.moving) + len(g.gone) }

// reviewer is one call of Review.
type reviewer struct {
	now     time.Time
	opts    Options
	refused map[types.UID]bool
	nodes   map[string]*corev1.Node
	pods    map[types.UID]*corev1.Pod
	claims  []*claimView             // by name
	living  map[string]bool          // Nodes of claims
	values  map[string]bool          // of the taints of claims
	holder  map[types.UID]*claimView // the claim whose promise to a pod counts
	taken   map[types.UID]bool       // pods that are successors
	waiting map[heirKey][]*corev1.Pod
	filling map[heirKey][]*claimView // ready, and a pod of the kind is awaited
	bound   map[string][]*corev1.Pod // pods by node
	byOwner map[types.UID][]*corev1.Pod
	boundAt map[heirKey]time.Time // see lastBound
	late    time.Time             // see lastLate
	signs   []time.Time           // see works
	faults  []error
}

// heirKey is equal for pods that can take the place of one another.
type heirKey struct {
	owner types.UID
	size  string
}

func kindOf(p *corev1.Pod) heirKey { return heirKey{owner(p), size(p)} }

func (g *group) kind() heirKey { return heirKey{g.Owner, g.Size} }

func newReviewer(in Input, now time.Time, opts Options) *reviewer {
	r := &reviewer{now: now, opts: opts, refused: in.Refused, nodes: map[string]*corev1.Node{}, pods: map[types.UID]*corev1.Pod{},
		living: map[string]bool{}, values: map[string]bool{}, holder: map[types.UID]*claimView{}, taken: map[types.UID]bool{},
		waiting: map[heirKey][]*corev1.Pod{}, filling: map[heirKey][]*claimView{}, boundAt: map[heirKey]time.Time{}, bound: map[string][]*corev1.Pod{}}
	for _, n := range in.Nodes {
		if n != nil {
			r.nodes[n.Name] = n
		}
	}
	index := nodeindex.New(in.Nodes)
	for _, p := range in.Pods {
		if p == nil || p.UID == "" || !p.DeletionTimestamp.IsZero() {
			continue
		}
		r.pods[p.UID] = p
		if !podlife.Finished(p) {
			r.bound[p.Spec.NodeName] = append(r.bound[p.Spec.NodeName], p)
		}
	}
	for _, c := range in.NodeClaims {
		if c != nil && c.DeletionTimestamp.IsZero() {
			r.add(c, index.Of(c))
		}
	}
	slices.SortFunc(r.claims, func(a, b *claimView) int { return cmp.Compare(a.claim.Name, b.claim.Name) })
	r.late = r.lastLate()
	for _, c := range r.claims {
		for i := range c.groups {
			c.groups[i].until = r.until(c, c.groups[i].group)
		}
		c.groups = slices.DeleteFunc(c.groups, func(g groupView) bool { return !r.now.Before(g.until) })
	}
	r.hold()
	for _, p := range r.bound[""] {
		if key := kindOf(p); key.owner != "" && r.holder[p.UID] == nil {
			r.waiting[key] = append(r.waiting[key], p)
		}
	}
	for _, list := range r.waiting { // lists are independent, so the order of the map does not matter
		slices.SortFunc(list, compareAges)
	}
	return r
}

func compareNames(a, b *corev1.Pod) int {
	return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
}

// compareAges puts the oldest first.
func compareAges(a, b *corev1.Pod) int {
	return cmp.Or(a.CreationTimestamp.Compare(b.CreationTimestamp.Time), compareNames(a, b))
}

// add adds a claim that has promised pods or the taint. node is its Node, nil if it has none.
func (r *reviewer) add(c *v1.NodeClaim, node *corev1.Node) {
	groups, err := read(c.Annotations[AnnotationKey])
	if err != nil {
		r.faults = append(r.faults, unreadable(c.Name, err))
	}
	r.values[taintValue(c.Name)] = true
	view := &claimView{claim: c, node: node}
	if view.node != nil {
		r.living[view.node.Name] = true
	}
	if len(groups) == 0 && len(reserving(c.Spec.StartupTaints)) == 0 {
		return
	}
	view.ready = readySince(c, view.node)
	for _, g := range groups {
		view.groups = append(view.groups, groupView{group: g})
	}
	r.claims = append(r.claims, view)
}

// limit returns when a claim's node is opened, or, while it is not ready, when its promises end, if
// no pod has to be evicted for it.
func (r *reviewer) limit(c *claimView) time.Time {
	if c.ready.IsZero() {
		return c.claim.CreationTimestamp.Add(r.opts.Launch)
	}
	return c.ready.Add(r.opts.Hold)
}

// until returns when the promise to a group ends. It considers that the node may have been ready
// when it was promised, that evictions take time, and that kube-scheduler may be behind.
func (r *reviewer) until(c *claimView, g group) time.Time {
	until := r.limit(c)
	if c.ready.IsZero() {
		return until
	}
	if held := g.At.Add(r.opts.Hold); held.After(until) {
		until = held
	}
	if moved := g.At.Add(r.opts.Move); g.From != "" && moved.After(until) {
		until = moved
	}
	return r.extended(c, g, until)
}

// untilBound returns when the promise to a pending pod of a group ends. A pod that was evicted is kept
// a place for as long as one that was pending when the node became ready: while it waits, a budget may
// keep its node from being emptied, so that the promise to the group lasts.
func (r *reviewer) untilBound(c *claimView, g *groupView, p *corev1.Pod) time.Time {
	if c.ready.IsZero() || g.From == "" {
		return g.until
	}
	return r.extended(c, g.group, c.since(g.group, p).Add(r.opts.Hold))
}

// since returns since when a pod of a group could be bound to a claim's ready node.
func (c *claimView) since(g group, p *corev1.Pod) time.Time {
	since := c.ready
	for _, t := range []time.Time{g.At, p.CreationTimestamp.Time} {
		if t.After(since) {
			since = t
		}
	}
	return since
}

// giveUp drops the pending pods whose promise has ended. Their places are not kept.
func (r *reviewer) giveUp(c *claimView) {
	for i := range c.groups {
		g := &c.groups[i]
		g.pending = slices.DeleteFunc(g.pending, func(p *corev1.Pod) bool { return !r.now.Before(r.untilBound(c, g, p)) })
	}
}

// extended returns the end of a promise that would end at until, while kube-scheduler is behind.
func (r *reviewer) extended(c *claimView, g group, until time.Time) time.Time {
	if r.now.Before(until) {
		return until
	}
	goesOn := r.goesOn(r.late, until, c.ready.Add(r.opts.Launch))
	if g.Owner != "" {
		if ofKind := r.goesOn(r.lastBound(g.kind()), until, until.Add(2*r.opts.Hold)); ofKind.After(goesOn) {
			goesOn = ofKind
		}
	}
	return goesOn
}

// goesOn returns the extended end of a promise: kube-scheduler has bound a pod at the instant bound
// and so may still bind others, so the promise lasts for swapAfter from then, but not beyond the
// limit.
func (r *reviewer) goesOn(bound, until, limit time.Time) time.Time {
	switch busy := bound.Add(swapAfter); {
	case !busy.After(until):
		return until
	case busy.After(limit):
		return limit
	default:
		return busy
	}
}

// lastLate returns when kube-scheduler last bound a pod late: to its promised node, a third of Hold
// or more after that was possible. While it does so, it is behind with other pods as well.
func (r *reviewer) lastLate() (last time.Time) {
	for _, c := range r.claims {
		if c.ready.IsZero() {
			continue
		}
		for _, g := range c.groups {
			for _, uid := range g.Pods {
				p := r.pods[uid]
				if p == nil || p.Spec.NodeName != c.node.Name {
					continue
				}
				if at := boundAt(p); at.After(last) && at.Sub(c.since(g.group, p)) >= r.opts.Hold/3 {
					last = at
				}
			}
		}
	}
	return last
}

// boundAt returns when kube-scheduler bound a pod, or zero.
func boundAt(p *corev1.Pod) time.Time {
	for _, c := range p.Status.Conditions {
		if c.Type == corev1.PodScheduled && c.Status == corev1.ConditionTrue {
			return c.LastTransitionTime.Time
		}
	}
	return time.Time{}
}

// readySince returns when a node became ready for its pods, or zero.
func readySince(c *v1.NodeClaim, n *corev1.Node) time.Time {
	if n == nil || !n.DeletionTimestamp.IsZero() || n.Labels[v1.NodeRegisteredLabelKey] != "true" {
		return time.Time{}
	}
	for _, t := range n.Spec.Taints {
		starts := slices.ContainsFunc(c.Spec.StartupTaints, func(s corev1.Taint) bool { return s.MatchTaint(&t) })
		if t.Key != TaintKey && (starts || passing(&t)) {
			return time.Time{}
		}
	}
	since := c.CreationTimestamp.Time
	for _, cond := range c.Status.Conditions {
		switch {
		case cond.Type != v1.ConditionTypeRegistered:
		case cond.Status != metav1.ConditionTrue: // the Node is written first
			return time.Time{}
		case cond.LastTransitionTime.After(since):
			since = cond.LastTransitionTime.Time
		}
	}
	for _, cond := range n.Status.Conditions {
		if cond.Type == corev1.NodeReady && cond.Status == corev1.ConditionTrue {
			if cond.LastTransitionTime.After(since) {
				since = cond.LastTransitionTime.Time
			}
			return since
		}
	}
	return time.Time{}
}

// passing reports whether a taint is temporary while a node starts.
func passing(t *corev1.Taint) bool {
	switch t.Key {
	case corev1.TaintNodeNotReady, corev1.TaintNodeUnreachable, "node.cloudprovider.kubernetes.io/uninitialized", v1.UnregisteredTaintKey:
		return true
	}
	return strings.HasPrefix(t.Key, "readiness.k8s.io/")
}

// hold decides which claim's promise to a pod counts: the latest one, and of several at one instant
// the one with the last name.
func (r *reviewer) hold() {
	at := map[types.UID]time.Time{}
	for _, c := range r.claims {
		for _, g := range c.groups {
			for _, uid := range g.Pods {
				if r.holder[uid] == nil || !g.At.Before(at[uid]) {
					r.holder[uid], at[uid] = c, g.At
				}
			}
		}
	}
}

// kept reports whether places are kept on a claim's node. None are on a node that was opened:
// recreated pods belong into a plan, which knows the free room.
func (r *reviewer) kept(c *claimView) bool {
	return c.ready.IsZero() || len(reserving(c.claim.Spec.StartupTaints)) == 0 || len(reserving(c.node.Spec.Taints)) > 0
}

// own finds the pods of a claim by their UIDs.
func (r *reviewer) own(c *claimView) {
	kept := r.kept(c)
	for i := range c.groups {
		g := &c.groups[i]
		for at, uid := range g.Pods {
			p := r.pods[uid]
			switch {
			case r.holder[uid] != c:
			case p == nil && g.Owner != "" && kept:
				g.gone = append(g.gone, g.name(at))
			case p == nil || podlife.Finished(p):
			case p.Spec.NodeName == "":
				g.pending = append(g.pending, p)
			case p.Spec.NodeName == g.From && (c.node == nil || c.node.Name != g.From):
				g.moving = append(g.moving, p)
			}
		}
	}
}

// inherit gives a pod the place of a deleted pod, if there is one for it: the place of its name, or
// one that is not reserved for another name. A pod that is always recreated under its name gets
// only the place of its name.
func (r *reviewer) inherit(g *groupView, p *corev1.Pod, byName bool) bool {
	if len(g.gone) == 0 || r.taken[p.UID] {
		return false
	}
	i := slices.IndexFunc(g.gone, func(name string) bool {
		if byName {
			return name == p.Name
		}
		return name == "" || !returnsByName(p)
	})
	if i < 0 {
		return false
	}
	r.taken[p.UID] = true
	g.gone = slices.Delete(g.gone, i, i+1)
	return true
}

// heirPass selects the candidates for the places of deleted pods. The passes run one after the
// other, each over all claims.
type heirPass int

const (
	heirsByName   heirPass = iota // pods with the same names
	heirsByTaint                  // pods that are bound to the node, whatever they were promised, or tolerate its taint
	heirsOfKind                   // all other pods of the kind
	heirPassCount                 // number of passes
)

// heirs finds pods for the places of deleted ones.
func (r *reviewer) heirs(c *claimView, pass heirPass) {
	for i := range c.groups {
		g := &c.groups[i]
		if len(g.gone) == 0 || pass == heirsByName && len(g.Names) == 0 {
			continue
		}
		key := g.kind()
		if pass != heirsOfKind && c.node != nil {
			for _, p := range r.bound[c.node.Name] {
				if r.holder[p.UID] != c && kindOf(p) == key {
					r.inherit(g, p, pass == heirsByName)
				}
			}
		}
		for _, p := range r.waiting[key] {
			if (pass != heirsByTaint || tolerates(p, c.claim)) && r.inherit(g, p, pass == heirsByName) {
				g.pending = append(g.pending, p)
			}
		}
	}
}

// dropUnneeded drops the places of deleted pods whose successor needs none: a pod of the same kind,
// or name, that was created since the promise, has no promise, and is bound to another node.
func (r *reviewer) dropUnneeded(c *claimView) {
	for i := range c.groups {
		g := &c.groups[i]
		if len(g.gone) == 0 {
			continue
		}
		for _, byName := range []bool{true, false} {
			for _, p := range r.placed()[g.Owner] {
				free := r.holder[p.UID] == nil && p.CreationTimestamp.After(g.At) && size(p) == g.Size
				if free && (c.node == nil || p.Spec.NodeName != c.node.Name) {
					r.inherit(g, p, byName)
				}
			}
		}
	}
}

// placed returns the bound pods, by their controller, the oldest first.
func (r *reviewer) placed() map[types.UID][]*corev1.Pod {
	if r.byOwner != nil {
		return r.byOwner
	}
	r.byOwner = map[types.UID][]*corev1.Pod{}
	for node, pods := range r.bound {
		for _, p := range pods {
			if o := owner(p); node != "" && o != "" {
				r.byOwner[o] = append(r.byOwner[o], p)
			}
		}
	}
	for _, list := range r.byOwner { // lists are independent, so the order of the map does not matter
		slices.SortFunc(list, compareAges)
	}
	return r.byOwner
}

// exchange handles pods whose place was taken by a pod of the same kind: each gets the place that
// the other one left, so that a node has as many waiting pods as it has room for. The last pods in
// the promise of a node are moved, to the first claims by name.
func (r *reviewer) exchange() {
	type waiting struct {
		home *groupView
		pod  *corev1.Pod
	}
	left := map[heirKey][]*groupView{} // one for each place for which no pod waits
	crowded := map[heirKey][]waiting{}
	for _, c := range r.claims {
		arrived := r.arrived(c)
		for i := range c.groups {
			g := &c.groups[i]
			if g.Owner == "" {
				continue
			}
			key := g.kind()
			free := 0
			for _, uid := range g.Pods {
				switch {
				case r.holder[uid] != c:
				case arrived[key] > 0:
					arrived[key]--
				default:
					free++
				}
			}
			for n := len(g.pending); n > 0 && n+len(g.moving)+len(g.gone) > free; n-- {
				crowded[key] = append(crowded[key], waiting{g, g.pending[n-1]})
			}
			for n := g.awaited(); n < free && r.kept(c); n++ {
				left[key] = append(left[key], g)
			}
		}
	}
	for key, list := range crowded { // kinds are independent, so the order of the map does not matter
		for i, w := range list[:min(len(list), len(left[key]))] {
			w.home.pending = slices.DeleteFunc(w.home.pending, func(p *corev1.Pod) bool { return p == w.pod })
			left[key][i].pending = append(left[key][i].pending, w.pod)
		}
	}
}

// arrived counts the pods on a claim's node that have a promise of any node, by kind.
func (r *reviewer) arrived(c *claimView) map[heirKey]int {
	out := map[heirKey]int{}
	if c.node == nil {
		return out
	}
	for _, p := range r.bound[c.node.Name] {
		if r.holder[p.UID] != nil || tolerates(p, c.claim) {
			out[kindOf(p)]++
		}
	}
	return out
}

// await notes the kinds of pods for which each ready node is kept. Pods that were evicted from a
// node that is gone have been recreated or never will be.
func (r *reviewer) await(c *claimView) {
	for i := range c.groups {
		g := &c.groups[i]
		if g.From != "" && r.nodes[g.From] == nil {
			g.gone = nil
		}
		key := g.kind()
		if g.Owner == "" || g.awaited() == 0 || c.ready.IsZero() || len(reserving(c.node.Spec.Taints)) == 0 {
			continue
		}
		if noted := r.filling[key]; len(noted) == 0 || noted[len(noted)-1] != c { // claims come one after the other
			r.filling[key] = append(noted, c)
		}
	}
}

// elsewhere returns the toleration of another node that is kept for pods of p's kind, for a pod
// that kube-scheduler could bind to its own node since an instant but finds no room for. It returns
// nil if the pod has the tolerations of all such nodes. Its own node is that of the claim, or an
// existing one if c is nil.
func (r *reviewer) elsewhere(c *claimView, since time.Time, p *corev1.Pod, s *State) *corev1.Toleration {
	if owner(p) == "" || since.IsZero() || !unschedulable(p) {
		return nil
	}
	from := r.works(since)
	if from.IsZero() { // it may not know the node yet
		return nil
	}
	key := kindOf(p)
	if bound := r.lastBound(key); bound.After(from) {
		from = bound
	}
	if from = from.Add(swapAfter); r.now.Before(from) {
		s.sooner(from)
		return nil
	}
	for _, other := range r.filling[key] {
		if lacks := lacking(p, other.node.Spec.Taints); other != c && lacks != nil {
			return lacks
		}
	}
	return nil
}

// lastBound returns when kube-scheduler last bound a pod of a kind: while it does so, it has not
// reached the others yet.
func (r *reviewer) lastBound(key heirKey) time.Time {
	if at, known := r.boundAt[key]; known {
		return at
	}
	var at time.Time
	for _, p := range r.placed()[key.owner] {
		if bound := boundAt(p); bound.After(at) && size(p) == key.size {
			at = bound
		}
	}
	r.boundAt[key] = at
	return at
}

// works returns the first instant, at or after since, at which kube-scheduler bound a pod or newly
// reported one as unschedulable. It is zero if there is none. After an outage of the API server the
// watches of kube-scheduler resume one by one, within a minute or two: until then its reports about
// pods are outdated, and it does not know new ready nodes.
func (r *reviewer) works(since time.Time) time.Time {
	if r.signs == nil {
		r.signs = []time.Time{}
		for _, p := range r.pods {
			for _, c := range p.Status.Conditions {
				if c.Type == corev1.PodScheduled {
					r.signs = append(r.signs, c.LastTransitionTime.Time)
				}
			}
		}
		slices.SortFunc(r.signs, time.Time.Compare)
	}
	i, _ := slices.BinarySearchFunc(r.signs, since, time.Time.Compare)
	if i == len(r.signs) {
		return time.Time{}
	}
	return r.signs[i]
}

// unschedulable reports whether kube-scheduler has tried a pod and found no node.
func unschedulable(p *corev1.Pod) bool {
	return slices.ContainsFunc(p.Status.Conditions, func(c corev1.PodCondition) bool {
		return c.Type == corev1.PodScheduled && c.Status == corev1.ConditionFalse && c.Reason == corev1.PodReasonUnschedulable
	})
}

// tolerates reports whether a pod has the toleration for a claim's taint.
func tolerates(p *corev1.Pod, c *v1.NodeClaim) bool {
	for _, taint := range reserving(c.Spec.StartupTaints) {
		if slices.Contains(p.Spec.Tolerations, toleration(taint)) {
			return true
		}
	}
	return false
}

func toleration(t corev1.Taint) corev1.Toleration {
	return corev1.Toleration{Key: t.Key, Operator: corev1.TolerationOpEqual, Value: t.Value, Effect: t.Effect}
}

// report returns the state of a claim's node, and adds the promises of its pods to s.
func (r *reviewer) report(c *claimView, s *State) Node {
	n := Node{NodeClaim: c.claim.Name, Phase: Coming, Until: r.limit(c)}
	if c.node != nil {
		n.Node = c.node.Name
	}
	first := len(s.Pods)
	for i := range c.groups {
		g := &c.groups[i]
		if g.awaited() == 0 {
			continue
		}
		s.sooner(g.until)
		if g.until.After(n.Until) {
			n.Until = g.until
		}
		n.Moving, n.Missing, n.Pending = n.Moving+len(g.moving), n.Missing+len(g.gone), n.Pending+len(g.pending)
		for _, p := range g.moving {
			s.Moving = append(s.Moving, Place{Pod: p, NodeClaim: c.claim.Name, Node: n.Node, Until: g.until})
		}
		for _, p := range g.pending {
			place := r.place(c, p, r.untilBound(c, g, p))
			s.sooner(place.Until)
			if place.Toleration == nil {
				place.Toleration = r.elsewhere(c, c.ready, p, s)
			}
			if place.Toleration != nil && r.refused[p.UID] {
				place.Toleration = nil
				n.Refused++
			}
			s.Pods = append(s.Pods, place)
		}
	}
	if c.ready.IsZero() {
		return n
	}
	n.Phase = Filling
	if n.Pending+n.Moving+n.Missing == n.Refused || len(reserving(c.node.Spec.Taints)) == 0 {
		n.Phase, n.Opened = Open, Opened(c.node)
		for i := range s.Pods[first:] { // an open node needs no tolerations
			s.Pods[first+i].Toleration = nil
		}
	}
	return n
}

// place returns the promise of a claim's node to a pod.
func (r *reviewer) place(c *claimView, p *corev1.Pod, until time.Time) Place {
	out := Place{Pod: p, NodeClaim: c.claim.Name, Until: until}
	taints := c.claim.Spec.StartupTaints
	if c.node != nil {
		out.Node = c.node.Name
		if c.node.Labels[v1.NodeRegisteredLabelKey] == "true" {
			taints = c.node.Spec.Taints
		}
	}
	out.Toleration = lacking(p, taints)
	return out
}

// lacking returns the toleration that a pod lacks for the taint of this package, or nil.
func lacking(p *corev1.Pod, taints []corev1.Taint) (out *corev1.Toleration) {
	for _, t := range reserving(taints) {
		if !slices.ContainsFunc(p.Spec.Tolerations, func(have corev1.Toleration) bool { return covers(have, t) }) {
			lacks := toleration(t)
			out = &lacks
		}
	}
	return out
}

// covers reports whether a toleration tolerates a taint of this package.
func covers(have corev1.Toleration, t corev1.Taint) bool {
	if have.Effect != "" && have.Effect != t.Effect {
		return false
	}
	if have.Operator == corev1.TolerationOpExists {
		return have.Key == "" || have.Key == t.Key
	}
	return have.Key == t.Key && have.Value == t.Value && (have.Operator == "" || have.Operator == corev1.TolerationOpEqual)
}

// orphans returns the nodes with the taint and without a claim: no other program would remove the
// taint. A Node with the taint of an existing claim is not among them, because it may have joined
// before the claim has its provider ID.
func (r *reviewer) orphans() (out []Node) {
	for _, name := range slices.Sorted(maps.Keys(r.nodes)) {
		n := r.nodes[name]
		claimed := slices.ContainsFunc(reserving(n.Spec.Taints), func(t corev1.Taint) bool { return r.values[t.Value] })
		if o := Opened(n); o != nil && !r.living[name] && !claimed && n.DeletionTimestamp.IsZero() {
			out = append(out, Node{Node: name, Phase: Open, Opened: o})
		}
	}
	return out
}

// bindings keeps the promises of existing nodes that still count. For a pod with a promise of a
// claim only that one counts.
func (r *reviewer) bindings(list []Binding, s *State) {
	last, placed := map[types.UID]Binding{}, map[types.UID]bool{}
	for _, p := range s.Pods {
		placed[p.Pod.UID] = true
	}
	for _, b := range list {
		p, n := r.pods[b.Pod], r.nodes[b.Node]
		until := r.goesOn(r.late, b.Until, b.Until.Add(r.opts.Launch))
		if p == nil || p.Spec.NodeName != "" || n == nil || !n.DeletionTimestamp.IsZero() || !r.now.Before(until) || placed[b.Pod] {
			continue
		}
		if have, ok := last[b.Pod]; !ok || cmp.Or(have.Until.Compare(b.Until), cmp.Compare(have.Node, b.Node)) < 0 {
			last[b.Pod] = b
		}
	}
	for _, uid := range slices.Sorted(maps.Keys(last)) {
		b := last[uid]
		s.Bindings = append(s.Bindings, b)
		place := Place{Pod: r.pods[uid], Node: b.Node, Until: r.goesOn(r.late, b.Until, b.Until.Add(r.opts.Launch))}
		if !r.refused[uid] {
			place.Toleration = r.elsewhere(nil, place.Pod.CreationTimestamp.Time, place.Pod, s)
		}
		s.Pods = append(s.Pods, place)
		s.sooner(place.Until)
	}
}

// sooner notes an instant at which the answer changes.
func (s *State) sooner(t time.Time) {
	if s.Next.IsZero() || t.Before(s.Next) {
		s.Next = t
	}
}
