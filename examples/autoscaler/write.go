package main

import (
	"context"
	"errors"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/cloudprovider/launch"
	"github.com/dovetail-sdk/dovetail/cloudprovider/retry"
	"github.com/dovetail-sdk/dovetail/disruption"
)

// attempt is what there is to remember of launches that failed.
type attempt struct {
	count     int
	notBefore time.Time
}

// waits says whether it is too early to try a launch again.
func (a *autoscaler) waits(claim *v1.NodeClaim, now time.Time) bool {
	failed := a.attempts[claim.Name]
	return failed != nil && now.Before(failed.notBefore)
}

// create stores a NodeClaim.
func (a *autoscaler) create(claim *v1.NodeClaim) {
	claim.UID = a.cluster.uid()
	claim.CreationTimestamp = metav1.NewTime(a.cluster.now())
	claim.Finalizers = append(claim.Finalizers, v1.TerminationFinalizer)
	a.cluster.claims.put(claim.Name, claim)
}

// order asks the cloud for the machine of a NodeClaim.
func (a *autoscaler) order(ctx context.Context, claim *v1.NodeClaim) (*cloudprovider.Instance, error) {
	types, err := a.catalog(ctx, claim.Labels[v1.NodePoolLabelKey])
	if err != nil {
		return nil, err
	}
	request, err := launch.ForNodeClaim(claim, types, cloudprovider.Vocabulary(a.cloud))
	if err != nil {
		return nil, err
	}
	return a.cloud.Create(ctx, request)
}

// launched notes that a launch worked.
func (a *autoscaler) launched(claim *v1.NodeClaim, i *cloudprovider.Instance) {
	delete(a.attempts, claim.Name)
	a.stock.Launched(i.OfferingKey())
	a.journal.launched(claim, i)
}

// refused notes that a launch failed, and when to repeat it.
func (a *autoscaler) refused(claim *v1.NodeClaim, err error) {
	now := a.cluster.now()
	a.stock.MarkFromError(err)
	var refusal *cloudprovider.Error
	if errors.As(err, &refusal) {
		for _, offering := range refusal.Offerings {
			a.shortages = append(a.shortages, disruption.Shortage{Offering: offering, At: now})
		}
	}
	a.shortages = slices.DeleteFunc(a.shortages, func(s disruption.Shortage) bool {
		return now.Sub(s.At) >= disruption.DefaultShortageHold
	})
	failed := a.attempts[claim.Name]
	if failed == nil {
		failed = &attempt{}
		a.attempts[claim.Name] = failed
	}
	failed.count++
	delay, giveUp := retry.Default().For(string(claim.UID)).Next(failed.count, err)
	if giveUp {
		delay = lookEvery // until somebody deletes it, or time does
	}
	failed.notBefore = now.Add(delay)
	a.journal.refused(claim, err)
}

func has(claim *v1.NodeClaim, condition string) bool {
	return meta.IsStatusConditionTrue(claim.Status.Conditions, condition)
}

// carryOut does what a command says, as a client of the API server would.
func (a *autoscaler) carryOut(steps []disruption.CommandStep) {
	now := a.cluster.now()
	for _, s := range steps {
		if s.OnNode() {
			if node, ok := a.cluster.nodes.get(s.Object); ok {
				a.cluster.nodes.put(s.Object, s.EditNode(node))
			}
			continue
		}
		claim, ok := a.cluster.claims.get(s.Object)
		switch {
		case s.Kind == disruption.StepCreate:
			a.createReplacement(s)
		case !ok:
		case s.Kind == disruption.StepDelete:
			a.cluster.deleteClaim(claim)
		default:
			a.cluster.claims.put(s.Object, s.EditClaim(claim, now))
		}
	}
}

// createReplacement stores the NodeClaim that a command wants to have.
func (a *autoscaler) createReplacement(s disruption.CommandStep) {
	for _, c := range a.commands {
		if claim := c.Claim(s, a.cluster.now()); claim != nil {
			a.create(claim)
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
		if claim, ok := a.cluster.claims.get(target.NodeClaim); ok {
			a.cluster.deleteClaim(action.EditClaim(claim, a.cluster.now()))
		}
	case disruption.Terminate:
		return a.cloud.Delete(ctx, target.ProviderID)
	case disruption.DeleteNode:
		a.cluster.loseNode(target.Node)
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

// finalize lets go of a NodeClaim whose machine is gone.
func (a *autoscaler) finalize(claim *v1.NodeClaim) {
	a.cluster.loseNode(claim.Status.NodeName)
	claim = claim.DeepCopy()
	claim.Finalizers = slices.DeleteFunc(claim.Finalizers, func(f string) bool { return f == v1.TerminationFinalizer })
	a.cluster.claims.put(claim.Name, claim)
	if len(claim.Finalizers) == 0 {
		a.cluster.claims.remove(claim.Name)
	}
}
