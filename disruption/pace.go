package disruption

import (
	"fmt"
	"time"

	"github.com/dovetail-sdk/dovetail/budgets"
)

// Pacing says which actions begin now.
type Pacing struct {
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

// Pace decides which actions begin now. It goes through them in the order given,
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
func (f *Fleet) Pace(actions []Action) Pacing {
	g := f.newGate()
	var p Pacing
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

// gate lets actions pass one by one.
type gate struct {
	f      *Fleet
	ledger *ledger
	used   pdbDemand
	room   map[string]int
	next   time.Time
}

// newGate counts what is on its way out.
func (f *Fleet) newGate() *gate {
	g := &gate{f: f, ledger: f.newLedger(), used: pdbDemand{}, room: map[string]int{}}
	for _, m := range f.members {
		if m.marked() {
			demandOf([]*member{m}).use(g.used)
			g.foresee(m)
		}
	}
	return g
}

// foresee notes when pods of a node cease to be held: from then on they ask
// something of a PodDisruptionBudget.
func (g *gate) foresee(m *member) {
	for _, p := range m.pods {
		g.next = sooner(g.next, p.heldUntil)
	}
}

func demandOf(members []*member) pdbDemand {
	d := pdbDemand{}
	for _, m := range members {
		d.add(m)
	}
	return d
}

// judge returns what an action waits for, or nil and its nodes.
func (g *gate) judge(a Action) (*Waiting, []*member) {
	var members []*member
	for _, t := range a.Targets {
		m := g.f.byName[t.Node]
		if m == nil && a.Step == Terminate {
			continue
		}
		if m == nil || g.ledger.state[m.name].Disrupting && !g.f.yields(m, a.Reason) {
			return &Waiting{Action: a, For: fmt.Sprintf("Node %q", t.Node), Why: "it is not there, or on its way out already"}, nil
		}
		members = append(members, m)
		g.foresee(m)
	}
	if w := g.budgets(a, members); w != nil {
		return w, nil
	}
	if Voluntary(a.Reason) && !g.f.bypasses(a, members) {
		if b := demandOf(members).short(g.used, g.f.opts.EvictAtOnce); b != nil {
			return &Waiting{Action: a, For: b.object,
				Why: fmt.Sprintf("%s lets %s go now, and actions before it use up %d", b.object, plural(b.allowed, "pod"), g.used[b])}, nil
		}
	}
	return g.limit(a, members), members
}

// budgets asks the budgets of pools and groups.
func (g *gate) budgets(a Action, members []*member) *Waiting {
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
		allowance := s.compiled.Allow(g.f.now, s.counts, a.Reason)
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
func (f *Fleet) bypasses(a Action, members []*member) bool {
	for _, m := range members {
		switch {
		case a.Reason == Drifted && m.claimBound() != nil:
		case a.Reason == Unhealthy && (m.claimBound() != nil || m.sick.bound != nil):
		default:
			return false
		}
	}
	return true
}

// limit asks for room for the replacements of nodes of static pools.
func (g *gate) limit(a Action, members []*member) *Waiting {
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
func (g *gate) pass(a Action, members []*member) {
	for _, m := range members {
		g.ledger.take(m, a.Reason)
		if a.Step == Replace && m.pool != nil && m.pool.static() {
			g.room[m.poolName]--
		}
	}
	demandOf(members).use(g.used)
}
