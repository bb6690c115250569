package proposalreport

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/dovetail-sdk/dovetail/disruption"
	"github.com/dovetail-sdk/dovetail/examples/internal/command"
)

// NoSuchNode says that a question names a node that it cannot be asked of.
type NoSuchNode struct{ error }

// AddWhy says what keeps the pods of a node from the other nodes.
func (r *Report) AddWhy(ctx context.Context, p *disruption.Proposal, name string) error {
	if !slices.ContainsFunc(r.LeftAlone, func(n NodeLeft) bool { return n.Node == name }) {
		for _, a := range p.Actions {
			if slices.ContainsFunc(a.Targets, func(t disruption.Target) bool { return t.Node == name }) {
				return NoSuchNode{fmt.Errorf("-why %s: it is not left alone; it is to go now: %s", name, a)}
			}
		}
		var names []string
		for _, n := range r.LeftAlone {
			names = append(names, n.Node)
		}
		return NoSuchNode{fmt.Errorf("-why %s: no such node is left alone%s", name, cmp.Or(command.DidYouMean(name, names), "; name one of those that -all lists"))}
	}
	stay, err := p.Explain(ctx, name)
	if err != nil {
		return err
	}
	r.Why = &why{Node: stay.Node, OtherNodes: stay.Others, Placed: stay.Placed, Pods: []whyPod{}, text: stay.Report()}
	for _, pod := range stay.Pods {
		one := whyPod{Namespace: pod.Pod.Namespace, Name: pod.Pod.Name, Unsuited: pod.Unsuited, Full: pod.Full, Open: pod.Open, Barriers: []barrier{}}
		for _, b := range pod.Conflicts {
			one.Barriers = append(one.Barriers, barrier{b.Node, string(b.Rule), b.Detail})
		}
		r.Why.Pods = append(r.Why.Pods, one)
	}
	return nil
}
