package main

import (
	"context"
	"errors"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/disruption"
	"github.com/dovetail-sdk/dovetail/metrics"
	"github.com/dovetail-sdk/dovetail/provisioning/nodeclaim"
)

func is(claim *v1.NodeClaim, condition string) bool {
	return meta.IsStatusConditionTrue(claim.Status.Conditions, condition)
}

// launch asks the cloud for the machines of NodeClaims that have none. What to ask for
// is in the objects, and repeating it launches nothing twice.
func (a *autoscaler) launch(ctx context.Context, s *snapshot) error {
	var due []*v1.NodeClaim
	for _, claim := range s.NodeClaims {
		if claim.Status.ProviderID == "" && claim.DeletionTimestamp == nil && !s.Now.Before(nodeclaim.NextLaunch(claim)) {
			due = append(due, claim)
		}
	}
	failures := make([]error, len(due))
	err := each(len(due), func(i int) error {
		claim := due[i]
		machine, err := a.order(ctx, s, claim)
		if failures[i] = err; ctx.Err() != nil {
			return nil
		}
		outcome := nodeclaim.Launched(err)
		if stored := store(ctx, a, claim, nodeclaim.EditRetry(outcome.EditClaim(claim, machine, s.Now), err, s.Now)); stored != nil {
			return stored // the cloud answers the same when it is asked again
		}
		if err == nil {
			a.stock.Launched(machine.OfferingKey())
			a.log.Info("launched", "claim", claim.Name, "machine", machine.ID, "type", machine.Type, "zone", machine.Zone, "capacity", machine.CapacityType, "price", machine.Price)
			return nil
		}
		a.log.Warn("not launched", "claim", claim.Name, "error", err)
		a.tell(claim, corev1.EventTypeWarning, "LaunchFailed", "Launch", "%v", err)
		if outcome.Delete != "" { // its pods are planned for anew
			return a.remove(ctx, claim)
		}
		return nil
	})
	for _, failure := range failures {
		if failure != nil {
			a.remember(failure, s.Now)
		}
	}
	return err
}

// order asks the cloud for one machine.
func (a *autoscaler) order(ctx context.Context, s *snapshot, claim *v1.NodeClaim) (*cloudprovider.Instance, error) {
	request, err := nodeclaim.Request(claim, s.Input.InstanceTypes[claim.Labels[v1.NodePoolLabelKey]], s.Input.Vocabulary)
	if err != nil {
		return nil, err
	}
	return a.cloud.Create(ctx, request)
}

// remember notes what the cloud refused.
func (a *autoscaler) remember(err error, now time.Time) {
	a.stock.MarkFromError(err)
	var refusal *cloudprovider.Error
	if errors.As(err, &refusal) {
		for _, o := range refusal.Offerings {
			a.shortages = append(a.shortages, disruption.UnavailableOffering{Offering: o, At: now})
		}
	}
	a.shortages = slices.DeleteFunc(a.shortages, func(u disruption.UnavailableOffering) bool { return now.Sub(u.At) >= disruption.DefaultUnavailableHold })
}

// join sees new machines through their start.
func (a *autoscaler) join(ctx context.Context, s *snapshot) error {
	nodes := s.Nodes
	return each(len(s.NodeClaims), func(i int) error {
		claim := s.NodeClaims[i]
		switch {
		case claim.Status.ProviderID == "" || claim.DeletionTimestamp != nil || is(claim, v1.ConditionTypeInitialized):
			return nil
		case !is(claim, v1.ConditionTypeRegistered):
			r := nodeclaim.Register(claim, nodes)
			if r.Node != nil {
				if err := controllerutil.SetOwnerReference(claim, r.Node, a.Scheme()); err != nil {
					return err
				}
				if err := store(ctx, a, s.Node(r.Node.Name), r.Node); err != nil {
					return err
				}
				a.figures.take("joined", metrics.Joined(r.Node))
			}
			return store(ctx, a, claim, r.EditClaim(claim, s.Now))
		}
		node := s.NodeOf(claim)
		ready := nodeclaim.Initialize(claim, node, nil)
		if err := store(ctx, a, node, ready.EditNode(node)); err != nil {
			return err
		}
		after := ready.EditClaim(claim, s.Now)
		if is(after, v1.ConditionTypeInitialized) {
			a.log.Info("initialized", "claim", claim.Name, "node", node.Name, "after", s.Now.Sub(claim.CreationTimestamp.Time).String())
		}
		return store(ctx, a, claim, after)
	})
}
