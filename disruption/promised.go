package disruption

import (
	"context"
	"slices"
)

// keepPromised leaves empty nodes alone that pods without a node are about to come
// to: those that are pending, and those of nodes that the other actions remove. To
// know where they go, the engine is asked, if there is any such node and pod.
func (f *Fleet) keepPromised(ctx context.Context, r Result) (Result, error) {
	empty := func(a Action) bool { return a.Reason == Empty && a.Step == Delete }
	if len(f.in.Pods) == 0 || !slices.ContainsFunc(r.Actions, empty) {
		return r, nil
	}
	w, err := newSettled(ctx, f, slices.DeleteFunc(slices.Clone(r.Actions), empty))
	if err != nil {
		return Result{}, err
	}
	promised := func(a Action) bool {
		return empty(a) && slices.ContainsFunc(a.Targets, func(t Target) bool { return w.promised[t.Node] != "" })
	}
	r.Blocked = slices.Clone(r.Blocked)
	for _, a := range r.Actions {
		if promised(a) {
			t := a.Targets[0]
			r.Blocked = append(r.Blocked, Blocked{Target: t, Method: MethodEmptiness, Rule: RulePromised,
				Object: w.promised[t.Node], Detail: w.promised[t.Node] + " is about to come here"})
		}
	}
	r.Actions = slices.DeleteFunc(slices.Clone(r.Actions), promised)
	slices.SortFunc(r.Blocked, Blocked.Compare)
	return r, nil
}
