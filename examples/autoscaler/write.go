package main

import (
	"context"
	"errors"
	"slices"

	"k8s.io/apimachinery/pkg/api/meta"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/disruption"
	"github.com/dovetail-sdk/dovetail/disruption/command"
	"github.com/dovetail-sdk/dovetail/provisioning/nodeclaim"
)

// order asks the cloud for the machine of a NodeClaim.
func (a *autoscaler) order(ctx context.Context, claim *v1.NodeClaim) (*cloudprovider.Instance, error) {
	types, err := a.catalog(ctx, claim.Labels[v1.NodePoolLabelKey])
	if err != nil {
		return nil, err
	}
	request, err := nodeclaim.Request(claim, types, cloudprovider.Vocabulary(a.cloud))
	if err != nil {
		return nil, err
	}
	return a.cloud.Create(ctx, request)
}

// launched notes that a launch worked.
func (a *autoscaler) launched(claim *v1.NodeClaim, i *cloudprovider.Instance) {
	a.attempts.Forget(string(claim.UID))
	a.stock.Launched(i.OfferingKey())
	a.journal.launched(claim, i)
}

// refused notes that a launch failed, and when to repeat it.
func (a *autoscaler) refused(claim *v1.NodeClaim, err error) {
	now := a.cluster.Now()
	a.stock.MarkFromError(err)
	var refusal *cloudprovider.Error
	if errors.As(err, &refusal) {
		for _, offering := range refusal.Offerings {
			a.shortages = append(a.shortages, disruption.UnavailableOffering{Offering: offering, At: now})
		}
	}
	a.shortages = slices.DeleteFunc(a.shortages, func(s disruption.UnavailableOffering) bool {
		return now.Sub(s.At) >= disruption.UnavailableHold
	})
	a.attempts.Failed(string(claim.UID), err, now)
	a.journal.refused(claim, err)
}

func has(claim *v1.NodeClaim, condition string) bool {
	return meta.IsStatusConditionTrue(claim.Status.Conditions, condition)
}

// carryOut does what a command says, as a client of the API server would.
func (a *autoscaler) carryOut(steps []command.Step) {
	now := a.cluster.Now()
	for _, s := range steps {
		if s.OnNode() {
			if node, ok := a.cluster.Nodes.Get(s.Object); ok {
				a.cluster.Nodes.Put(s.Object, s.EditNode(node))
			}
			continue
		}
		claim, ok := a.cluster.Claims.Get(s.Object)
		switch {
		case s.Kind == command.StepCreate:
			a.createReplacement(s)
		case !ok:
		case s.Kind == command.StepDelete:
			a.cluster.DeleteClaim(claim)
		default:
			a.cluster.Claims.Put(s.Object, s.EditClaim(claim, now))
		}
	}
}

// createReplacement stores the NodeClaim that a command wants to have.
func (a *autoscaler) createReplacement(s command.Step) {
	for _, c := range a.commands {
		if claim := c.Claim(s, a.cluster.Now()); claim != nil {
			a.cluster.CreateClaim(claim)
			c.created = append(c.created, s.Object)
		}
	}
}

// force removes a node, or what is left of one, with one call.
func (a *autoscaler) force(ctx context.Context, action disruption.Action) error {
	a.journal.disrupted(action)
	target := action.Targets[0] // the rules give one each
	switch action.Step {
	case disruption.Delete:
		if claim, ok := a.cluster.Claims.Get(target.NodeClaim); ok {
			a.cluster.DeleteClaim(action.EditClaim(claim, a.cluster.Now()))
		}
	case disruption.Terminate:
		return a.cloud.Delete(ctx, target.ProviderID)
	case disruption.DeleteNode:
		a.cluster.LoseNode(target.Node)
	}
	return nil
}

// acknowledge tells the cloud that its notices are dealt with, and remembers what
// it takes back.
func (a *autoscaler) acknowledge(ctx context.Context) error {
	for _, n := range a.notices {
		if i, err := a.cloud.Get(ctx, n.InstanceID); err == nil {
			a.stock.MarkFromInterruption(i, n)
		}
	}
	if err := cloudprovider.Acknowledge(ctx, a.cloud, a.notices...); err != nil {
		return err
	}
	a.notices = nil
	return nil
}
