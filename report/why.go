package report

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/dovetail-sdk/dovetail/disruption"
	"github.com/dovetail-sdk/dovetail/internal/spelling"
)

// NoSuchNode is an error of AddWhy and AddWithout: there is no such node, or the question cannot be
// answered for this node.
type NoSuchNode struct{ why string }

// Error returns the reason.
func (e NoSuchNode) Error() string { return cmp.Or(e.why, "no such node") }

// AddWhy adds the reasons why the pods of a node that is left alone cannot go to the other nodes;
// see disruption.Proposal.Explain. The error is a NoSuchNode or that of ctx.
func (r *Proposal) AddWhy(ctx context.Context, name string) error {
	p := r.proposal
	if !slices.ContainsFunc(r.LeftAlone, func(n nodeLeft) bool { return n.Node == name }) {
		for _, a := range p.Actions {
			if isAbout(a, name) {
				return NoSuchNode{fmt.Sprintf("it is not left alone; it is to go now: %s", a)}
			}
		}
		var names []string
		for _, n := range r.LeftAlone {
			names = append(names, n.Node)
		}
		return NoSuchNode{fmt.Sprintf("no such node is left alone%s", spelling.DidYouMean(name, names))}
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

// isAbout says whether a node is among the targets of an action.
func isAbout(a disruption.Action, node string) bool {
	return slices.ContainsFunc(a.Targets, func(t disruption.Target) bool { return t.Node == node })
}
