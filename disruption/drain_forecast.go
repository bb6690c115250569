package disruption

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"time"
)

// DrainPace says how long things take in a forecast.
type DrainPace struct {
	// Stop is how long a pod takes to end; at most its grace. Zero takes all of
	// its grace, which is the most it can be.
	Stop time.Duration
	// Restart is how long from the end of a pod until its budget allows the
	// disruption again, because another took its place. Negative is never.
	Restart time.Duration
	// Detach is how long volumes take to detach once the pods are gone.
	Detach time.Duration
}

// DrainMove is what a forecast says of one pod.
type DrainMove struct {
	// Node is the node, Namespace and Name the pod.
	Node, Namespace, Name string
	// Start is when it is evicted or deleted, zero if never. For a pod that was
	// terminating already it is when the forecast begins.
	Start time.Time
	// End is when it is gone, or no longer waited for. Zero if never.
	End time.Time
	// Forced is whether it was deleted and not evicted.
	Forced bool
	// Blocked is why it was not, if Start is zero.
	Blocked DrainStep
}

// DrainForecast is when pods and nodes go.
type DrainForecast struct {
	// Moves has every pod that is waited for, by Start (those without last),
	// Node, Namespace and Name.
	Moves []DrainMove
	// Done is when each node can go, by name of the node.
	Done []DrainEnd
}

// DrainEnd is when a node can go.
type DrainEnd struct {
	// Node is its name.
	Node string
	// At is when, zero if it never can unless something else happens.
	At time.Time
}

// ForecastDrain plays a drain through: PlanDrain is asked again and again, and
// each thing that it says takes as long as the pace says. No pod is added, and
// no budget changes but for the evictions. Errors are those of PlanDrain, and
// negative durations of the pace.
func ForecastDrain(now time.Time, in DrainInput, opts *DrainOptions, pace DrainPace) (DrainForecast, error) {
	var errs []error
	if pace.Stop < 0 {
		errs = append(errs, fmt.Errorf("pace.stop: %s must not be negative; zero is the grace of the pod", pace.Stop))
	}
	if pace.Detach < 0 {
		errs = append(errs, fmt.Errorf("pace.detach: %s must not be negative", pace.Detach))
	}
	plan, err := PlanDrain(now, in, opts)
	if err := errors.Join(append(errs, err)...); err != nil {
		return DrainForecast{}, err
	}
	f := newDrainForecaster(now, in, pace)
	f.note(plan)
	// Each round begins or ends something for one pod, budget or volume, or
	// comes to an instant of one of them: this many are never needed.
	for rounds := 100 + 12*len(f.moves) + 12*len(in.Nodes); rounds > 0; rounds-- {
		f.begin(plan)
		next := f.next(plan.Next)
		if next.IsZero() {
			break
		}
		f.now = next
		f.end()
		if plan, err = PlanDrain(f.now, f.in, opts); err != nil {
			return DrainForecast{}, err
		}
		f.note(plan)
	}
	return f.result(), nil
}

// drainForecaster plays a drain.
type drainForecaster struct {
	now     time.Time
	in      DrainInput
	pace    DrainPace
	moves   map[string]*DrainMove // by namespace and name of the pod
	leaves  map[string]time.Time  // when it goes, and
	refills []drainRefill         // when budgets recover
	done    map[string]time.Time  // by node
	detach  map[string]time.Time
}

type drainRefill struct {
	at     time.Time
	budget string
}

// newDrainForecaster copies what it changes.
func newDrainForecaster(now time.Time, in DrainInput, pace DrainPace) *drainForecaster {
	f := &drainForecaster{now: now, pace: pace, moves: map[string]*DrainMove{}, leaves: map[string]time.Time{},
		done: map[string]time.Time{}, detach: map[string]time.Time{}}
	f.in.Budgets = slices.Clone(in.Budgets)
	f.in.Nodes = slices.Clone(in.Nodes)
	for i := range f.in.Nodes {
		n := &f.in.Nodes[i]
		if n.Since.IsZero() {
			n.Since = now
		}
		n.Pods = slices.Clone(n.Pods)
		for _, p := range n.Pods {
			if !p.DeletionTime.IsZero() {
				f.leaves[p.Namespace+"/"+p.Name] = p.DeletionTime
			}
		}
	}
	return f
}

// note keeps what a plan says of each pod and node.
func (f *drainForecaster) note(plan DrainPlan) {
	for _, n := range plan.Nodes {
		for _, list := range [][]DrainStep{n.Evict, n.Delete, n.Blocked} {
			for _, s := range list {
				m := f.moves[s.Namespace+"/"+s.Name]
				if m == nil {
					m = &DrainMove{Node: n.Node, Namespace: s.Namespace, Name: s.Name}
					f.moves[s.Namespace+"/"+s.Name] = m
				}
				m.Blocked = s
				if s.Code == DrainTerminating && m.Start.IsZero() {
					m.Start = f.now
				}
			}
		}
		for _, s := range n.Ignored {
			if m := f.moves[s.Namespace+"/"+s.Name]; m != nil && m.End.IsZero() {
				m.End = f.now
			}
		}
		if _, over := f.done[n.Node]; n.State == DrainDone && !over {
			f.done[n.Node] = f.now
		}
		if _, begun := f.detach[n.Node]; n.State == DrainDetaching && !begun {
			f.detach[n.Node] = f.now.Add(f.pace.Detach)
		}
	}
}

// begin carries a plan out.
func (f *drainForecaster) begin(plan DrainPlan) {
	steps := map[string]DrainStep{}
	for _, n := range plan.Nodes {
		for _, list := range [][]DrainStep{n.Evict, n.Delete} {
			for _, s := range list {
				steps[s.Namespace+"/"+s.Name] = s
			}
		}
	}
	for i := range f.in.Nodes {
		for j := range f.in.Nodes[i].Pods {
			p := &f.in.Nodes[i].Pods[j]
			key := p.Namespace + "/" + p.Name
			s, ok := steps[key]
			if !ok {
				continue
			}
			grace := p.Grace
			if s.Grace > 0 {
				grace = s.Grace
			}
			takes := grace
			if f.pace.Stop > 0 {
				takes = min(f.pace.Stop, grace)
			}
			m := f.moves[key]
			if m.Start.IsZero() {
				m.Start, m.Forced = f.now, s.Grace > 0
			}
			p.DeletionTime = f.now.Add(grace)
			if at, going := f.leaves[key]; !going || f.now.Add(takes).Before(at) {
				f.leaves[key] = f.now.Add(takes)
			}
			f.count(s.Budget, f.leaves[key])
		}
	}
}

// count takes a disruption off a budget until another pod has taken over.
func (f *drainForecaster) count(budget string, gone time.Time) {
	for i := range f.in.Budgets {
		if b := &f.in.Budgets[i]; budget != "" && b.key() == budget {
			b.Allowed--
			if f.pace.Restart >= 0 {
				f.refills = append(f.refills, drainRefill{gone.Add(f.pace.Restart), budget})
			}
		}
	}
}

// next is when something happens.
func (f *drainForecaster) next(planned time.Time) time.Time {
	next := planned
	soonest := func(t time.Time) {
		if next.IsZero() || t.Before(next) {
			next = t
		}
	}
	for _, t := range f.leaves {
		soonest(t)
	}
	for _, r := range f.refills {
		soonest(r.at)
	}
	for node, t := range f.detach {
		if _, over := f.done[node]; !over {
			soonest(t)
		}
	}
	if !next.IsZero() && next.Before(f.now) {
		return f.now // what should be over already is over now
	}
	return next
}

// end carries out what is over by now.
func (f *drainForecaster) end() {
	for i := range f.in.Nodes {
		n := &f.in.Nodes[i]
		n.Pods = slices.DeleteFunc(n.Pods, func(p DrainPod) bool {
			key := p.Namespace + "/" + p.Name
			at, going := f.leaves[key]
			if !going || at.After(f.now) {
				return false
			}
			delete(f.leaves, key)
			if m := f.moves[key]; m != nil && m.End.IsZero() {
				m.End = f.now
			}
			return true
		})
		if at, ok := f.detach[n.Name]; ok && !at.After(f.now) {
			n.Attachments = nil
		}
	}
	f.refills = slices.DeleteFunc(f.refills, func(r drainRefill) bool {
		if r.at.After(f.now) {
			return false
		}
		for i := range f.in.Budgets {
			if f.in.Budgets[i].key() == r.budget {
				f.in.Budgets[i].Allowed++
			}
		}
		return true
	})
}

func (f *drainForecaster) result() DrainForecast {
	var out DrainForecast
	for _, m := range f.moves {
		if !m.Start.IsZero() {
			m.Blocked = DrainStep{}
		}
		out.Moves = append(out.Moves, *m)
	}
	slices.SortFunc(out.Moves, func(a, b DrainMove) int {
		if x, y := a.Start.IsZero(), b.Start.IsZero(); x != y {
			if x {
				return 1
			}
			return -1
		}
		return cmp.Or(a.Start.Compare(b.Start), cmp.Compare(a.Node, b.Node), cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
	})
	for _, n := range f.in.Nodes {
		out.Done = append(out.Done, DrainEnd{n.Name, f.done[n.Name]})
	}
	slices.SortFunc(out.Done, func(a, b DrainEnd) int { return cmp.Compare(a.Node, b.Node) })
	return out
}
