package main

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/metrics"
	"github.com/dovetail-sdk/dovetail/provisioning/nodeclaim"
)

// launch launches the machines of NodeClaims that have none. Requests are made from the objects
// alone, and repeating one launches nothing twice.
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
		if stored := store(ctx, a, claim, nodeclaim.EditRetry(s.Now, outcome.EditClaim(s.Now, claim, machine), err)); stored != nil {
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
		a.stock.MarkFromError(failure)
		s.SoldOut(failure)
	}
	return err
}

// order requests one machine from the cloud.
func (a *autoscaler) order(ctx context.Context, s *snapshot, claim *v1.NodeClaim) (*cloudprovider.Instance, error) {
	pool := claim.Labels[v1.NodePoolLabelKey]
	if err := s.classes[pool]; err != nil {
		return nil, err // there is no catalog, which is not to say that nothing is sold
	}
	request, err := nodeclaim.Request(claim, s.Input.InstanceTypes[pool], s.Input.Vocabulary)
	if err != nil {
		return nil, err
	}
	return a.cloud.Create(ctx, request)
}

// join updates new machines from launch to initialization.
func (a *autoscaler) join(ctx context.Context, s *snapshot) error {
	return each(len(s.NodeClaims), func(i int) error {
		claim := s.NodeClaims[i]
		node, after := nodeclaim.Join(s.Now, claim, s.Nodes, nil)
		if node != nil {
			if err := store(ctx, a, s.Node(node.Name), node); err != nil {
				return err
			}
		}
		if became(claim, after, v1.ConditionTypeRegistered) {
			a.figures.take("joined", metrics.Joined(node))
			if reason, note := nodeclaim.Register(claim, s.Nodes).Event(); reason != "" {
				a.tell(claim, corev1.EventTypeWarning, reason, "Register", "%s", note)
			}
		}
		if became(claim, after, v1.ConditionTypeInitialized) {
			a.log.Info("initialized", "claim", claim.Name, "node", node.Name, "after", s.Now.Sub(claim.CreationTimestamp.Time).String())
		}
		return store(ctx, a, claim, after)
	})
}

func became(before, after *v1.NodeClaim, condition string) bool {
	return meta.IsStatusConditionTrue(after.Status.Conditions, condition) && !meta.IsStatusConditionTrue(before.Status.Conditions, condition)
}
