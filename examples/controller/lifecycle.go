package main

import (
	"context"
	"errors"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/metrics"
	"github.com/dovetail-sdk/dovetail/provisioning/nodeclaim"
)

// launch starts, in the background, the launches for NodeClaims that have no machine. Requests are made
// from the objects alone, and repeating one launches nothing twice.
func (a *autoscaler) launch(ctx context.Context, s *snapshot) error {
	for _, claim := range s.NodeClaims {
		if claim.Status.ProviderID != "" || claim.DeletionTimestamp != nil || s.Now.Before(nodeclaim.NextLaunch(claim)) {
			continue
		}
		a.inBackground(ctx, "launch", claim, func() (func(), error) {
			refused, err := a.launchOne(ctx, s, claim)
			if refused == nil {
				return nil, err
			}
			return func() {
				a.stock.MarkFromError(refused)
				a.last.SoldOut(refused)
			}, err
		})
	}
	return nil
}

// inBackground starts work for a NodeClaim, unless such work is running. See background.start for what do
// returns first. An error is logged as that of a part of a pass.
func (a *autoscaler) inBackground(ctx context.Context, work string, claim *v1.NodeClaim, do func() (after func(), err error)) {
	a.beside.start(keyOf(work, claim), func() (after func()) {
		err := safely(func() (err error) {
			after, err = do()
			return err
		})
		if err != nil {
			a.failed(ctx, work, err)
		}
		return after
	})
}

// keyOf is the key of work for a NodeClaim.
func keyOf(work string, claim *v1.NodeClaim) string { return work + " " + string(claim.UID) }

// launchOne launches a machine and stores what became of it. refused is the error of the cloud.
func (a *autoscaler) launchOne(ctx context.Context, s *snapshot, claim *v1.NodeClaim) (refused, err error) {
	machine, refused := a.order(ctx, s, claim)
	if ctx.Err() != nil {
		return refused, nil
	}
	now := time.Now()
	outcome := nodeclaim.Launched(refused)
	after := nodeclaim.EditRetry(now, outcome.EditClaim(now, claim, machine), refused)
	if err = store(ctx, a, claim, after); errors.Is(err, errStale) && refused == nil {
		err = a.storeMachine(ctx, claim, machine)
	}
	if err != nil {
		return refused, err // the cloud answers the same when it is asked again
	}
	if refused == nil {
		a.stock.Launched(machine.OfferingKey())
		a.log.Info("launched", "claim", claim.Name, "machine", machine.ID, "type", machine.Type, "zone", machine.Zone, "capacity", machine.CapacityType, "price", machine.Price)
		return nil, nil
	}
	a.log.Warn("not launched", "claim", claim.Name, "error", refused)
	a.tell(claim, corev1.EventTypeWarning, "LaunchFailed", "Launch", "%v", refused)
	if outcome.Delete != "" { // its pods are planned for anew
		return refused, a.remove(ctx, claim)
	}
	return refused, nil
}

// storeMachine stores the machine of a NodeClaim that has changed while it was launched. If the NodeClaim
// is gone, it ends the machine.
func (a *autoscaler) storeMachine(ctx context.Context, claim *v1.NodeClaim, machine *cloudprovider.Instance) error {
	now := &v1.NodeClaim{}
	switch err := a.Get(ctx, client.ObjectKeyFromObject(claim), now); {
	case apierrors.IsNotFound(err) || err == nil && now.UID != claim.UID:
		return ignoreGone(a.cloud.Delete(ctx, machine.ID))
	case err != nil:
		return err
	}
	return store(ctx, a, now, nodeclaim.Launched(nil).EditClaim(time.Now(), now, machine))
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
