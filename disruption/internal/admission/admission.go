package admission

import (
	"fmt"
	"slices"
	"time"

	"github.com/dovetail-sdk/dovetail/budgets"
	"github.com/dovetail-sdk/dovetail/disruption/internal/state"
	"github.com/dovetail-sdk/dovetail/disruption/internal/words"
	"github.com/dovetail-sdk/dovetail/internal/order"
)

// Admission decides which actions may begin, one after the other.
type Admission struct {
	cluster *state.Cluster
	atOnce  bool
	ledger  *ledger
	used    state.Demand
	room    map[string]int
	Next    time.Time
}

// Request describes an action that is to begin.
type Request struct {
	Reason     budgets.Reason
	Nodes      []string // names of its targets; a machine without a Node is empty
	Replaces   bool     // new nodes are launched before the targets go
	Terminates bool     // it terminates machines, which may have no Node in the cluster
	Overrides  bool     // it may take nodes that a voluntary decision deals with
	Hastens    bool     // it may take nodes that are being deleted, to end their drain
}

// Refusal says why an action may not begin, and when it may be asked for again.
type Refusal struct {
	For       string
	Allowance budgets.Allowance
	Why       string
	Until     time.Time
}

// New counts the nodes that are already on their way out. With atOnce, PodDisruptionBudgets must
// allow the eviction of all pods of an action at once.
func New(f *state.Cluster, bounds []*Bound, atOnce bool) *Admission {
	g := &Admission{cluster: f, atOnce: atOnce, ledger: newLedger(f, bounds), used: state.Demand{}, room: map[string]int{}}
	for _, m := range f.Nodes {
		if m.Marked() {
			state.DemandOf(m).Use(g.used)
			g.foresee(m)
		}
	}
	return g
}

// foresee records when do-not-disrupt ends for pods of a node: from then on their eviction counts
// for a PodDisruptionBudget.
func (g *Admission) foresee(m *state.StateNode) {
	for _, p := range m.PodViews {
		g.Next = order.Sooner(g.Next, p.HeldUntil)
	}
}

// Judge returns the refusal of an action, or nil and the nodes of the action.
func (g *Admission) Judge(a Request) (*Refusal, []*state.StateNode) {
	var members []*state.StateNode
	for _, name := range a.Nodes {
		m := g.cluster.ByName[name]
		if m == nil && a.Terminates {
			continue
		}
		if m == nil || g.ledger.state[m.Name].Disrupting && !(a.Overrides && g.cluster.Yields(m)) && !(a.Hastens && m.Leaving) {
			return &Refusal{For: fmt.Sprintf("Node %q", name), Why: "it is not there, or on its way out already"}, nil
		}
		members = append(members, m)
		g.foresee(m)
	}
	if w := g.budgets(a, members); w != nil {
		return w, nil
	}
	unbounded := func(m *state.StateNode) bool { return !m.Bounded(a.Reason) }
	if state.Voluntary(a.Reason) && slices.ContainsFunc(members, unbounded) {
		if b := state.DemandOf(members...).Short(g.used, g.atOnce); b != nil {
			return &Refusal{For: b.Object,
				Why: fmt.Sprintf("%s lets %s go now, and actions before it use up %d", b.Object, words.Plural(b.Allowed, "pod"), g.used[b])}, nil
		}
	}
	return g.limit(a, members), members
}

// budgets checks the disruption budgets of pools and groups.
func (g *Admission) budgets(a Request, members []*state.StateNode) *Refusal {
	if !state.Voluntary(a.Reason) && a.Reason != budgets.Expired {
		return nil
	}
	need := map[*share]int{}
	var shares []*share
	for _, m := range members {
		if a.Reason == budgets.Unhealthy && !m.Initialized() {
			continue
		}
		for _, s := range g.ledger.of(m) {
			if need[s] == 0 {
				shares = append(shares, s)
			}
			need[s]++
		}
	}
	for _, s := range shares {
		allowance := s.compiled.Allow(g.cluster.Now, s.counts, a.Reason)
		g.Next = order.Sooner(g.Next, allowance.Until)
		if allowance.Nodes < need[s] {
			return &Refusal{For: s.String(), Allowance: allowance, Until: allowance.Until,
				Why: fmt.Sprintf("%s of %s lets %s go%s", allowance.Decider, s, words.Plural(allowance.Limit, "node"), countedText(s.counts.Consuming(a.Reason)))}
		}
	}
	return nil
}

// countedText renders the number of nodes that a budget counts already; empty if none.
func countedText(n int) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf(", and %d %s already", n, words.Verb(n, "counts", "count"))
}

// limit checks that the limits of static pools leave room for the replacements of their nodes.
func (g *Admission) limit(a Request, members []*state.StateNode) *Refusal {
	if !a.Replaces {
		return nil
	}
	need := map[string]int{}
	for _, m := range members {
		if m.Pool == nil || !m.Pool.Static() {
			continue
		}
		if _, known := g.room[m.PoolName]; !known {
			g.room[m.PoolName] = m.Pool.Room()
		}
		if need[m.PoolName]++; need[m.PoolName] > g.room[m.PoolName] {
			return &Refusal{For: state.PoolObject(m.PoolName), Why: "the pool is at its limit of nodes"}
		}
	}
	return nil
}

// Pass counts an action that begins.
func (g *Admission) Pass(a Request, members []*state.StateNode) {
	for _, m := range members {
		g.ledger.take(m, a.Reason)
		if a.Replaces && m.Pool != nil && m.Pool.Static() {
			g.room[m.PoolName]--
		}
	}
	state.DemandOf(members...).Use(g.used)
}
