package disruption

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/validation/field"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/budgets"
)

// bound is a set of nodes with budgets: a NodePool or a budgets.Group.
type bound struct {
	name     string // as it is shown
	pools    []string
	labels   map[string]string
	each     string
	compiled *budgets.Compiled
}

// readBounds compiles the budgets of pools, in the order of their names, and
// then those of groups.
func (f *Cluster) readBounds(faults *faultList) {
	for _, name := range f.poolNames {
		p := f.pools[name]
		spec := p.Spec.Disruption.Budgets
		if spec == nil {
			spec = []v1.Budget{{Nodes: v1.DefaultBudgetNodes}}
		}
		compiled, err := budgets.Compile(spec, f.opts.Policies[name])
		if err != nil {
			faults.budgets(name, err)
		}
		f.bounds = append(f.bounds, &bound{name: poolObject(name), pools: []string{name}, compiled: compiled})
	}
	if err := budgets.ValidateGroups(f.opts.Groups); err != nil {
		faults.groups(err)
	}
	for _, g := range f.opts.Groups {
		compiled, _ := budgets.Compile(g.Budgets, g.Policy) // ValidateGroups has told what is wrong
		f.bounds = append(f.bounds, &bound{name: fmt.Sprintf("group %q", g.Name), pools: g.Pools, labels: g.Labels,
			each: g.Each, compiled: compiled})
	}
}

// budgets adds what is wrong with the budgets of a pool and with its policy, which
// is an option.
func (l *faultList) budgets(pool string, err error) {
	for _, e := range joined(err) {
		if fault, ok := e.(*field.Error); ok && strings.HasPrefix(fault.Field, "only[") {
			l.split("Options", fmt.Sprintf("Policies[%q]", pool), e)
		} else {
			l.split(poolObject(pool), "spec.disruption", e)
		}
	}
}

// groups adds what is wrong with Options.Groups.
func (l *faultList) groups(err error) {
	for _, e := range joined(err) {
		if fault, ok := e.(*field.Error); ok {
			below := *fault
			below.Field = strings.TrimPrefix(fault.Field, "groups")
			e = &below
		}
		l.split("Options", "Groups", e)
	}
}

// share is a bound, or the part of one that is split by a label.
type share struct {
	*bound
	value  string
	counts budgets.Counts
}

func (s *share) String() string {
	if s.each == "" {
		return s.name
	}
	return fmt.Sprintf("%s, %s=%s", s.name, s.each, s.value)
}

// ledger says how many nodes of each share are on their way out.
type ledger struct {
	cluster *Cluster
	shares  map[shareKey]*share
	state   map[string]budgets.NodeState // by node
}

type shareKey struct {
	bound int
	value string
}

func (f *Cluster) newLedger() *ledger {
	l := &ledger{cluster: f, shares: map[shareKey]*share{}, state: map[string]budgets.NodeState{}}
	states := map[shareKey][]budgets.NodeState{}
	for _, m := range f.nodes {
		state := m.state(f.in.MarkedForDeletion[m.name])
		l.state[m.name] = state
		for i, b := range f.bounds {
			if key, ok := b.key(i, m); ok {
				states[key] = append(states[key], state)
			}
		}
	}
	for key, of := range states { // the order does not matter
		b := f.bounds[key.bound]
		l.shares[key] = &share{bound: b, value: key.value, counts: budgets.Count(of)}
	}
	return l
}

// key is the share that a node belongs to, if it does.
func (b *bound) key(i int, m *stateNode) (shareKey, bool) {
	if b.pools != nil && !slices.Contains(b.pools, m.poolName) {
		return shareKey{}, false
	}
	for key, value := range b.labels { // the order does not matter
		if have, found := m.labels[key]; !found || have != value {
			return shareKey{}, false
		}
	}
	if b.each == "" {
		return shareKey{bound: i}, true
	}
	return shareKey{i, m.labels[b.each]}, true
}

// of lists the shares that a node belongs to.
func (l *ledger) of(m *stateNode) []*share {
	var out []*share
	for i, b := range l.cluster.bounds {
		if key, ok := b.key(i, m); ok {
			out = append(out, l.shares[key])
		}
	}
	return out
}

// counted reports whether a node has a part in counts.
func counted(s budgets.NodeState) bool { return budgets.Count([]budgets.NodeState{s}).Nodes == 1 }

// take counts a node as on its way out.
func (l *ledger) take(m *stateNode, r Reason) {
	before := l.state[m.name]
	after := before
	after.Disrupting, after.Reason = true, r
	l.state[m.name] = after
	if !counted(before) || before.Disrupting {
		return
	}
	for _, s := range l.of(m) {
		c := &s.counts
		switch {
		case before.Rebooting:
			c.Rebooting--
		case !before.Ready:
			c.NotReady--
		}
		one := budgets.Count([]budgets.NodeState{after})
		c.Disrupting += one.Disrupting
		c.By.Drifted += one.By.Drifted
		c.By.Empty += one.By.Empty
		c.By.Underutilized += one.By.Underutilized
		c.By.Unhealthy += one.By.Unhealthy
		c.By.Expired += one.By.Expired
	}
}

// admitted says which actions begin now.
type admitted struct {
	// Go are the actions that begin now, and Wait those that do not, each in
	// the order given.
	Go   []Action
	Wait []Waiting
	// Next is the earliest instant at which the answer can differ by time
	// alone; zero if never.
	Next time.Time
}

// Waiting is an action that does not begin now.
type Waiting struct {
	// Action is the action.
	Action
	// For is what it waits for, such as NodePool "web", group "zones" or
	// PodDisruptionBudget "shop/web".
	For string
	// Allowance is the answer of the budgets, if it waits for those of a pool
	// or group; otherwise it is zero. It counts the actions that begin now.
	Allowance budgets.Allowance
	// Why says why, in one line without a full stop.
	Why string
	// Until is when that can change by time alone, zero if it cannot.
	Until time.Time
}

// String is the action and what it waits for, in one line.
func (w Waiting) String() string {
	short := w.Action
	short.Detail = ""
	text := fmt.Sprintf("%s waits for %s: %s", short, w.For, w.Why)
	if !w.Until.IsZero() {
		text += ", until " + instant(w.Until)
	}
	return text
}

// admit decides which actions begin now. It goes through them in the order given,
// and lets an action begin unless
//
//  1. a node of it is not there, or is being deleted or dealt with, also by an
//     action that begins now;
//  2. its reason is voluntary or Expired, and the budgets of a pool or group
//     that its nodes belong to do not leave room for all of them: budgets.Allow
//     for that reason. A node that is not initialized is repaired whatever they
//     say;
//  3. its reason is voluntary, what holds its pods counts (see Candidates), and
//     a PodDisruptionBudget does not let one of its pods go, or with
//     Options.EvictAtOnce all of them;
//  4. it replaces a node of a static pool that is at its limit of nodes.
//
// What begins counts for everything after it, whatever its reason: its nodes as
// on their way out, its pods as evictions that use up what
// PodDisruptionBudgets allow, its replacement as a node of the static pool. So
// do nodes that are on their way out already. As the eviction API refuses a pod
// of several PodDisruptionBudgets, each pod needs one at most, and counting is
// exact.
//
// An action that waits does not keep others from beginning.
func (f *Cluster) admit(actions []Action) admitted {
	g := f.newGate()
	var p admitted
	for _, a := range actions {
		w, members := g.judge(a)
		if w != nil {
			p.Wait = append(p.Wait, *w)
		} else {
			g.pass(a, members)
			p.Go = append(p.Go, a)
		}
	}
	p.Next = g.next
	return p
}

// admission lets actions pass one by one.
type admission struct {
	cluster *Cluster
	ledger  *ledger
	used    pdbDemand
	room    map[string]int
	next    time.Time
}

// newGate counts what is on its way out.
func (f *Cluster) newGate() *admission {
	g := &admission{cluster: f, ledger: f.newLedger(), used: pdbDemand{}, room: map[string]int{}}
	for _, m := range f.nodes {
		if m.marked() {
			demandOf([]*stateNode{m}).use(g.used)
			g.foresee(m)
		}
	}
	return g
}

// foresee notes when pods of a node cease to be held: from then on they ask
// something of a PodDisruptionBudget.
func (g *admission) foresee(m *stateNode) {
	for _, p := range m.pods {
		g.next = sooner(g.next, p.heldUntil)
	}
}

func demandOf(members []*stateNode) pdbDemand {
	d := pdbDemand{}
	for _, m := range members {
		d.add(m)
	}
	return d
}

// judge returns what an action waits for, or nil and its nodes.
func (g *admission) judge(a Action) (*Waiting, []*stateNode) {
	var members []*stateNode
	for _, t := range a.Targets {
		m := g.cluster.byName[t.Node]
		if m == nil && a.Step == Terminate {
			continue
		}
		if m == nil || g.ledger.state[m.name].Disrupting && !g.cluster.yields(m, a.Reason) {
			return &Waiting{Action: a, For: fmt.Sprintf("Node %q", t.Node), Why: "it is not there, or on its way out already"}, nil
		}
		members = append(members, m)
		g.foresee(m)
	}
	if w := g.budgets(a, members); w != nil {
		return w, nil
	}
	if Voluntary(a.Reason) && !g.cluster.bypasses(a, members) {
		if b := demandOf(members).short(g.used, g.cluster.opts.EvictAtOnce); b != nil {
			return &Waiting{Action: a, For: b.object,
				Why: fmt.Sprintf("%s lets %s go now, and actions before it use up %d", b.object, plural(b.allowed, "pod"), g.used[b])}, nil
		}
	}
	return g.limit(a, members), members
}

// budgets asks the budgets of pools and groups.
func (g *admission) budgets(a Action, members []*stateNode) *Waiting {
	if !Voluntary(a.Reason) && a.Reason != Expired {
		return nil
	}
	need := map[*share]int{}
	var order []*share
	for _, m := range members {
		if a.Reason == Unhealthy && !m.initialized() {
			continue
		}
		for _, s := range g.ledger.of(m) {
			if need[s] == 0 {
				order = append(order, s)
			}
			need[s]++
		}
	}
	for _, s := range order {
		allowance := s.compiled.Allow(g.cluster.now, s.counts, a.Reason)
		g.next = sooner(g.next, allowance.Until)
		if allowance.Nodes < need[s] {
			return &Waiting{Action: a, For: s.String(), Allowance: allowance, Until: allowance.Until,
				Why: fmt.Sprintf("%s of %s lets %s go%s", allowance.Binding, s, plural(allowance.Limit, "node"), countedText(s.counts.Consuming(a.Reason)))}
		}
	}
	return nil
}

// countedText says how many nodes a budget counts already, nothing if none.
func countedText(n int) string {
	switch n {
	case 0:
		return ""
	case 1:
		return ", and 1 counts already"
	}
	return fmt.Sprintf(", and %d count already", n)
}

// bypasses reports whether what holds the pods does not count for an action.
func (f *Cluster) bypasses(a Action, members []*stateNode) bool {
	for _, m := range members {
		switch {
		case a.Reason == Drifted && m.claimBound() != nil:
		case a.Reason == Unhealthy && (m.claimBound() != nil || m.sick.Bound != nil):
		default:
			return false
		}
	}
	return true
}

// limit asks for room for the replacements of nodes of static pools.
func (g *admission) limit(a Action, members []*stateNode) *Waiting {
	if a.Step != Replace {
		return nil
	}
	need := map[string]int{}
	for _, m := range members {
		if m.pool == nil || !m.pool.static() {
			continue
		}
		if _, known := g.room[m.poolName]; !known {
			g.room[m.poolName] = m.pool.room()
		}
		if need[m.poolName]++; need[m.poolName] > g.room[m.poolName] {
			return &Waiting{Action: a, For: poolObject(m.poolName), Why: "the pool is at its limit of nodes"}
		}
	}
	return nil
}

// pass counts an action that begins.
func (g *admission) pass(a Action, members []*stateNode) {
	for _, m := range members {
		g.ledger.take(m, a.Reason)
		if a.Step == Replace && m.pool != nil && m.pool.static() {
			g.room[m.poolName]--
		}
	}
	demandOf(members).use(g.used)
}

// quota is how many nodes budgets let go for a reason.
type quota struct {
	g      *admission
	reason Reason
	left   map[*share]int
	said   map[*share]answer
	next   time.Time
}

// answer is what a share said when the search asked first, and what it counted
// then: what the search takes afterwards is not on its way out yet.
type answer struct {
	budgets.Allowance
	counts   budgets.Counts
	notReady []string // by name
}

// newQuota counts what begins already.
func (f *Cluster) newQuota(reason Reason, others []Action) *quota {
	g := f.newGate()
	for _, a := range others {
		if w, members := g.judge(a); w == nil {
			g.pass(a, members)
		}
	}
	return &quota{g: g, reason: reason, left: map[*share]int{}, said: map[*share]answer{}}
}

// take counts a node, unless budgets do not let it go.
func (q *quota) take(m *stateNode) outcome {
	shares := q.g.ledger.of(m)
	for _, s := range shares {
		if _, known := q.said[s]; !known {
			q.said[s] = answer{s.compiled.Allow(q.g.cluster.now, s.counts, q.reason), s.counts, q.g.ledger.notReady(s)}
			q.left[s] = q.said[s].Nodes
		}
		if q.left[s] <= 0 {
			a := q.said[s]
			q.next = sooner(q.next, a.Until)
			return outcome{rule: ruleBudget, object: s.String(), until: a.Until, detail: fmt.Sprintf("%s of %s lets %s go%s",
				a.Binding, s, plural(a.Limit, "node"), q.usedUp(s))}
		}
	}
	for _, s := range shares {
		q.left[s]--
	}
	return outcome{}
}

// usedUp says what uses up the nodes that a share lets go; nothing if it lets none
// go anyhow.
func (q *quota) usedUp(s *share) string {
	a := q.said[s]
	if a.Limit <= 0 {
		return ""
	}
	var uses []string
	use := func(n int, one, many string) {
		switch {
		case n == 1:
			uses = append(uses, "1 "+one)
		case n > 1:
			uses = append(uses, fmt.Sprintf("%d %s", n, many))
		}
	}
	use(a.counts.Disrupting, "is on its way out", "are on their way out")
	use(a.counts.Rebooting, "is being rebooted", "are being rebooted")
	if names := a.notReady; len(names) > 0 {
		which := ": " + strings.Join(names[:min(len(names), mostNamed)], ", ")
		if len(names) > mostNamed {
			which += fmt.Sprintf(" and %d more", len(names)-mostNamed)
		}
		use(len(names), "is not Ready"+which, "are not Ready"+which)
	}
	use(a.Nodes-q.left[s], "goes that saves more", "go that save more")
	return ", but " + strings.Join(uses, "; ")
}

// mostNamed is how many nodes a reason names; more are counted.
const mostNamed = 4

// notReady names the nodes that count for a share as not ready, by name.
func (l *ledger) notReady(s *share) []string {
	if s.counts.NotReady == 0 {
		return nil
	}
	var names []string
	for _, m := range l.cluster.nodes {
		if budgets.Count([]budgets.NodeState{l.state[m.name]}).NotReady > 0 && slices.Contains(l.of(m), s) {
			names = append(names, m.name)
		}
	}
	return names
}

// back takes the count of a node back.
func (q *quota) back(m *stateNode) {
	for _, s := range q.g.ledger.of(m) {
		q.left[s]++
	}
}
