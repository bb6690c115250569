package simulation

import (
	"context"
	"slices"

	"k8s.io/apimachinery/pkg/types"

	"github.com/dovetail-sdk/dovetail/disruption/internal/state"
	"github.com/dovetail-sdk/dovetail/provisioning"
)

// answer is the answer to a what-if.
type answer struct {
	problem *provisioning.Problem // the cluster without the nodes
	home    map[types.NamespacedName]*state.StateNode
	plan    *provisioning.Plan // nil if the engine refuses the problem
	refused error              // why it does
	err     error              // of the context
}

// expected is a what-if that is being answered on a goroutine of its own.
type expected struct {
	targets []*state.StateNode
	alone   bool
	answer  answer
	done    chan struct{} // closed once answer is there
	stop    context.CancelFunc
}

// Expect has the what-ifs that are likely to be asked next answered on other goroutines: Try of each
// set without places, or, with alone, Alone of each node. Each set takes a goroutine: see Width. Answers
// are dropped when the simulation changes, so what a search finds does not depend on them. The caller
// calls Forget in the end.
func (w *Simulation) Expect(ctx context.Context, sets [][]*state.StateNode, alone bool) {
	if w.Refused != nil {
		return
	}
	for _, set := range sets {
		if w.ahead.find(set, alone) >= 0 {
			continue
		}
		run, stop := context.WithCancel(ctx)
		x := &expected{targets: set, alone: alone, done: make(chan struct{}), stop: stop}
		w.ahead.list = append(w.ahead.list, x)
		frozen := *w
		if alone {
			frozen.pins = nil
		}
		go func() {
			defer close(x.done)
			x.answer = frozen.answer(run, set, nil)
		}()
	}
}

// Forget drops the answers to expected what-ifs, and ends the goroutines that compute them.
func (w *Simulation) Forget() {
	for _, x := range w.ahead.list {
		x.stop()
	}
	for _, x := range w.ahead.list {
		<-x.done
	}
	w.ahead.list = nil
}

// ahead are the what-ifs that are expected. Copies of a simulation share it.
type ahead struct{ list []*expected }

// find returns the position of a what-if; -1 if it was not expected.
func (a *ahead) find(targets []*state.StateNode, alone bool) int {
	return slices.IndexFunc(a.list, func(x *expected) bool { return x.alone == alone && slices.Equal(x.targets, targets) })
}

// take returns the answer to an expected what-if once it is there.
func (a *ahead) take(targets []*state.StateNode, alone bool) (answer, bool) {
	i := a.find(targets, alone)
	if i < 0 {
		return answer{}, false
	}
	x := a.list[i]
	<-x.done
	x.stop()
	a.list = slices.Delete(a.list, i, i+1)
	return x.answer, true
}
