package autoscaler

import (
	"context"
	"errors"

	corev1 "k8s.io/api/core/v1"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/disruption"
	"github.com/dovetail-sdk/dovetail/disruption/command"
	"github.com/dovetail-sdk/dovetail/disruption/fleet"
	"github.com/dovetail-sdk/dovetail/provisioning/nodeclaim"
	"github.com/dovetail-sdk/dovetail/provisioning/nomination"
)

// create stores a new NodeClaim that is kept for pods; the claim lists these pods.
func (a *Autoscaler) create(f *fleet.Fleet, claim *v1.NodeClaim, pods []*corev1.Pod) error {
	if claim.Name == "" {
		claim.Name = a.cluster.GenerateName(claim.GenerateName)
	}
	claim, err := nomination.Reserve(f.Now, claim, f.Stored(pods), nil)
	if err == nil {
		a.cluster.CreateClaim(claim)
	}
	return err
}

// store replaces NodeClaims.
func (a *Autoscaler) store(claims []*v1.NodeClaim) {
	for _, claim := range claims {
		a.cluster.Claims.Put(claim.Name, claim)
	}
}

// order asks the cloud for the machine of a NodeClaim.
func (a *Autoscaler) order(ctx context.Context, claim *v1.NodeClaim) (*cloudprovider.Instance, error) {
	types, err := a.catalog(ctx, claim.Labels[v1.NodePoolLabelKey])
	if err != nil {
		return nil, err
	}
	request, err := nodeclaim.Request(claim, types, cloudprovider.Vocabulary(a.Cloud))
	if err != nil {
		return nil, err
	}
	return a.Cloud.Create(ctx, request)
}

// carryOut does what a command says, as a client of the API server would.
func (a *Autoscaler) carryOut(f *fleet.Fleet, writes []command.Write) (errs error) {
	for _, s := range writes {
		if s.OnNode() {
			if node, ok := a.cluster.Nodes.Get(s.Object); ok {
				a.cluster.Nodes.Put(s.Object, s.EditNode(node))
			}
			continue
		}
		claim, ok := a.cluster.Claims.Get(s.Object)
		switch {
		case s.Kind == command.WriteCreate:
			if claim, pods, _ := a.commands.Claim(f.Now, s, f.Commands.Commands); claim != nil {
				errs = errors.Join(errs, a.create(f, claim, pods))
			}
		case !ok:
		case s.Kind == command.WriteDelete:
			a.cluster.DeleteClaim(claim)
		default:
			a.cluster.Claims.Put(s.Object, s.EditClaim(f.Now, claim))
		}
	}
	return errs
}

// force removes a node, or its remains, with one call. It does not wait, even if a command has the
// node.
func (a *Autoscaler) force(ctx context.Context, action disruption.Action) error {
	a.journal.Disrupted(action)
	target := action.Targets[0] // the rules give one each
	switch action.Operation {
	case disruption.Delete:
		if claim, ok := a.cluster.Claims.Get(target.NodeClaim); ok {
			a.cluster.DeleteClaim(action.EditClaim(a.cluster.Now(), claim))
		}
	case disruption.Terminate:
		return a.Cloud.Delete(ctx, target.ProviderID)
	case disruption.DeleteNode:
		a.cluster.LoseNode(target.Node)
	}
	return nil
}

// acknowledge tells the cloud that its notices of interruptions were handled, and records the
// offerings of the machines that the cloud takes back.
func (a *Autoscaler) acknowledge(ctx context.Context) error {
	for _, n := range a.notices {
		if i, err := a.Cloud.Get(ctx, n.InstanceID); err == nil {
			a.stock.MarkFromInterruption(i, n)
		}
	}
	if err := cloudprovider.Acknowledge(ctx, a.Cloud, a.notices...); err != nil {
		return err
	}
	a.notices = nil
	return nil
}
