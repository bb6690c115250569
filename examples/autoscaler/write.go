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
	"github.com/dovetail-sdk/dovetail/cloudprovider/retry"
	"github.com/dovetail-sdk/dovetail/disruption"
	"github.com/dovetail-sdk/dovetail/provisioning"
)

// launch is a machine to be asked for.
type launch struct {
	request   cloudprovider.LaunchRequest
	attempts  int
	notBefore time.Time
}

// create stores a NodeClaim, and what launches it.
func (a *autoscaler) create(claim *v1.NodeClaim, n *provisioning.NewNode) {
	claim.UID = a.cluster.uid()
	claim.CreationTimestamp = metav1.NewTime(a.cluster.now())
	claim.Finalizers = append(claim.Finalizers, v1.TerminationFinalizer)
	a.cluster.claims.put(claim.Name, claim)
	request := n.Request(claim.Name) // a name is used once, so it will do as the token
	request.Name = claim.Name
	a.launches[claim.Name] = &launch{request: request}
}

// order asks the cloud for a machine, by what is left of the options.
func (a *autoscaler) order(ctx context.Context, l *launch) (*cloudprovider.Instance, error) {
	request := l.request
	if request.Options = a.stock.Admit(request.Options); len(request.Options) == 0 {
		return nil, &cloudprovider.Error{Op: "Create", Object: request.Name, Kind: cloudprovider.KindInsufficientCapacity,
			Reason: "refused a short time ago"}
	}
	return a.cloud.Create(ctx, request)
}

// refused notes that a launch failed, and when to repeat it.
func (a *autoscaler) refused(claim *v1.NodeClaim, l *launch, err error) {
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
	l.attempts++
	if delay, giveUp := retry.Default().For(l.request.Token).Next(l.attempts, err); !giveUp {
		l.notBefore = now.Add(delay)
	}
	a.journal.refused(claim, err)
}

// launched fills in what is known of a NodeClaim once it has a machine.
func launched(claim *v1.NodeClaim, i *cloudprovider.Instance) *v1.NodeClaim {
	claim = claim.DeepCopy()
	for key, value := range i.Labels {
		claim.Labels[key] = value
	}
	claim.Status.ProviderID, claim.Status.ImageID = i.ID, i.ImageID
	claim.Status.Capacity, claim.Status.Allocatable = i.Capacity.ResourceList(), i.Allocatable.ResourceList()
	return claim
}

// withCondition is the claim with a condition that says what the library found.
func withCondition(claim *v1.NodeClaim, s disruption.Startup, now time.Time) *v1.NodeClaim {
	want := metav1.Condition{Type: s.Condition, Status: s.Status, Reason: s.Reason, Message: s.Message, LastTransitionTime: metav1.NewTime(now)}
	if have := meta.FindStatusCondition(claim.Status.Conditions, s.Condition); have != nil &&
		have.Status == want.Status && have.Reason == want.Reason && have.Message == want.Message {
		return claim
	}
	claim = claim.DeepCopy()
	meta.SetStatusCondition(&claim.Status.Conditions, want)
	return claim
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
		i := slices.IndexFunc(c.Command.Replacements, func(r disruption.CommandReplacement) bool { return r.Token == s.Object })
		if i >= 0 {
			a.create(c.Claim(s, a.cluster.now()), &c.action.Replacements[i])
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
			a.cluster.deleteClaim(bounded(claim, action, a.cluster.now()))
		}
	case disruption.Terminate:
		return a.cloud.Delete(ctx, target.ProviderID)
	case disruption.DeleteNode:
		a.cluster.loseNode(target.Node)
	}
	return nil
}

// bounded is a claim whose drain ends when the action says so, if not before.
func bounded(claim *v1.NodeClaim, action disruption.Action, now time.Time) *v1.NodeClaim {
	by := action.DrainBy
	if action.DrainBound != nil {
		if end := now.Add(*action.DrainBound); by.IsZero() || end.Before(by) {
			by = end
		}
	}
	if by.IsZero() || claim.Annotations[v1.NodeClaimTerminationTimestampAnnotationKey] != "" {
		return claim
	}
	claim = claim.DeepCopy()
	claim.Annotations[v1.NodeClaimTerminationTimestampAnnotationKey] = by.UTC().Format(time.RFC3339)
	return claim
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
