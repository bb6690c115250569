package disruption

import (
	"fmt"
	"time"

	"github.com/dovetail-sdk/dovetail/budgets"
	"github.com/dovetail-sdk/dovetail/disruption/internal/admission"
	"github.com/dovetail-sdk/dovetail/disruption/internal/words"
)

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
		text += ", until " + words.Instant(w.Until)
	}
	return text
}

// admit decides which actions begin now, beside those that have passed. It goes through
// them in the order given, and lets an action begin unless
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
func (f *Cluster) admit(g *admission.Admission, actions []Action) admitted {
	var p admitted
	for _, a := range actions {
		r := a.request()
		no, members := g.Judge(r)
		if no != nil {
			p.Wait = append(p.Wait, a.waits(no))
		} else {
			g.Pass(r, members)
			p.Go = append(p.Go, a)
		}
	}
	p.Next = g.Next
	return p
}

// newGate counts what is on its way out.
func (f *Cluster) newGate() *admission.Admission {
	return admission.New(f.seen, f.bounds, f.opts.EvictAtOnce)
}

// gateAfter counts what some actions do as well.
func (f *Cluster) gateAfter(actions []Action) *admission.Admission {
	g := f.newGate()
	f.admit(g, actions)
	return g
}

// request is what an action asks of budgets.
func (a Action) request() admission.Request {
	r := admission.Request{Reason: a.Reason, Replaces: a.Step == Replace, Terminates: a.Step == Terminate, Overrides: a.Reason == Interrupted, Hastens: a.Reason == GarbageCollected}
	for _, t := range a.Targets {
		r.Nodes = append(r.Nodes, t.Node)
	}
	return r
}

// waits is an action that may not begin.
func (a Action) waits(no *admission.Refusal) Waiting {
	return Waiting{Action: a, For: no.For, Allowance: no.Allowance, Why: no.Why, Until: no.Until}
}
