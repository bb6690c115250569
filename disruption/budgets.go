package disruption

import (
	"fmt"
	"time"

	"github.com/dovetail-sdk/dovetail/budgets"
	"github.com/dovetail-sdk/dovetail/disruption/internal/admission"
	"github.com/dovetail-sdk/dovetail/disruption/internal/words"
)

// Waiting is an action that may not begin now.
type Waiting struct {
	// Action is the waiting action.
	Action
	// For names the obstacle, such as NodePool "web", group "zones" or
	// PodDisruptionBudget "shop/web".
	For string
	// Allowance is the result of the budgets if it waits for those of a pool or group; otherwise it
	// is zero. It includes the actions that begin now.
	Allowance budgets.Allowance
	// Why says why it waits, on one line without a full stop.
	Why string
	// Until is when that can change by time alone, zero if it cannot.
	Until time.Time
}

// String renders the action and what it waits for on one line.
func (w Waiting) String() string {
	short := w.Action
	short.Detail = ""
	text := fmt.Sprintf("%s waits for %s: %s", short, w.For, w.Why)
	if !w.Until.IsZero() {
		text += ", until " + words.Instant(w.Until)
	}
	return text
}

// admit decides which actions may begin now, in addition to those admitted already. It checks them
// in the given order, and admits an action unless
//
//  1. one of its nodes does not exist, is being deleted, or is dealt with, including by an action
//     that begins now;
//  2. its reason is voluntary or Expired, and the budgets of a pool or group of its nodes do not
//     allow all of them: budgets.Allow for that reason. A node that is not initialised is repaired
//     whatever the budgets say;
//  3. its reason is voluntary, protection of its pods counts (see Candidates), and a
//     PodDisruptionBudget does not allow the eviction of one of its pods, or with
//     Options.EvictAtOnce of all of them;
//  4. it replaces a node of a static pool that is at its limit of nodes.
//
// An admitted action counts for all later ones, whatever its reason: its nodes count as being
// removed, its pods as evictions that use up what PodDisruptionBudgets allow, and its replacement
// as a node of the static pool. Nodes that are being deleted already count too. The eviction API
// refuses a pod with several PodDisruptionBudgets, so each pod has at most one, and counting is
// exact.
//
// An action that waits does not prevent others from beginning. Both lists are in the given order, and
// Admission.Next is the earliest instant at which the result can change by time alone.
func (f *Cluster) admit(g *admission.Admission, actions []Action) (begin []Action, wait []Waiting) {
	for _, a := range actions {
		r := a.request()
		no, members := g.Judge(r)
		if no != nil {
			wait = append(wait, a.waits(no))
		} else {
			g.Pass(r, members)
			begin = append(begin, a)
		}
	}
	return begin, wait
}

// newGate returns an Admission that counts the nodes being removed.
func (f *Cluster) newGate() *admission.Admission {
	return admission.New(f.seen, f.bounds, f.opts.EvictAtOnce)
}

// gateAfter returns an Admission that counts some actions as well.
func (f *Cluster) gateAfter(actions []Action) *admission.Admission {
	g := f.newGate()
	f.admit(g, actions)
	return g
}

// request returns what an action requires of budgets.
func (a Action) request() admission.Request {
	return admission.Request{Reason: a.Reason, Nodes: nodeNames(a), Replaces: a.Operation == Replace, Terminates: a.Operation == Terminate,
		Overrides: a.Reason == Interrupted, Hastens: a.Reason == GarbageCollected}
}

// waits returns the action as Waiting, with the refusal.
func (a Action) waits(no *admission.Refusal) Waiting {
	return Waiting{Action: a, For: no.For, Allowance: no.Allowance, Why: no.Why, Until: no.Until}
}
