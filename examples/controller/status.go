package main

import (
	"context"
	"errors"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/disruption"
	"github.com/dovetail-sdk/dovetail/metrics"
	"github.com/dovetail-sdk/dovetail/provisioning"
	"github.com/dovetail-sdk/dovetail/provisioning/nodeclaim"
	"github.com/dovetail-sdk/dovetail/provisioning/nodepool"
)

// status writes into objects what is known of them, now and then.
func (a *autoscaler) status(ctx context.Context, s *snapshot) error {
	if a.instances == nil {
		return nil
	}
	cluster, err := disruption.Observe(s.Now, s.in, nil)
	errs := []error{err}
	if cluster != nil {
		drifts := cluster.Drifts()
		errs = append(errs, each(len(drifts), func(i int) error {
			claim := s.Claim(drifts[i].NodeClaim)
			if claim == nil || claim.DeletionTimestamp != nil {
				return nil
			}
			return a.claimStatus(ctx, s, claim, drifts[i])
		}))
	}
	usage := map[string]*provisioning.PoolUsage{}
	problem, err := a.prepare(s)
	var fleet metrics.Fleet
	if err == nil {
		fleet.Usage, err = problem.Usage()
		for i, u := range fleet.Usage {
			usage[u.Pool.Name] = &fleet.Usage[i]
		}
	}
	if cluster != nil {
		fleet.Price = cluster.Price
	}
	a.fleetFigures(s, fleet)
	errs = append(errs, err)
	for _, stored := range s.pools {
		errs = append(errs, a.storePool(ctx, s, stored, usage))
	}
	return errors.Join(errs...)
}

// claimStatus writes Drifted, Consolidatable and when pods last came or went.
func (a *autoscaler) claimStatus(ctx context.Context, s *snapshot, claim *v1.NodeClaim, d disruption.DriftStatus) error {
	after := nodeclaim.EditDrifted(claim, d.Reason, d.Detail, s.Now)
	if after != claim && d.Reason != "" {
		a.log.Info("drifted", "claim", claim.Name, "reason", d.Reason, "detail", d.Detail)
	}
	if pool := poolNamed(s.in.NodePools, claim.Labels[v1.NodePoolLabelKey]); pool != nil {
		last := s.in.PodEvents[claim.Status.NodeName]
		after = nodeclaim.EditConsolidatable(nodeclaim.EditPodEvent(after, last), pool.Spec.Disruption.ConsolidateAfter, last, s.Now)
	}
	return a.storeClaim(ctx, claim, after)
}

// storePool writes conditions, usage and hashes of a NodePool, and the hashes of its
// NodeClaims before.
func (a *autoscaler) storePool(ctx context.Context, s *snapshot, stored *v1.NodePool, usage map[string]*provisioning.PoolUsage) error {
	read := poolNamed(s.in.NodePools, stored.Name)
	if read == nil { // it could not be read: prepare has said so
		return nil
	}
	after := nodepool.Edit(stored, s.classes[stored.Name], usage[stored.Name], s.Now)
	for _, c := range nodepool.News(stored, after) {
		a.tell(stored, corev1.EventTypeWarning, c.Reason, "Validate", "%s", c.Message)
	}
	after = after.DeepCopy()
	if meta.IsStatusConditionTrue(after.Status.Conditions, v1.ConditionTypeValidationSucceeded) {
		m := nodeclaim.MigrateHashes(read, slices.DeleteFunc(slices.Clone(s.NodeClaims), func(c *v1.NodeClaim) bool { return c.Labels[v1.NodePoolLabelKey] != stored.Name }))
		for _, change := range m.Claims {
			claim := s.Claim(change.Name)
			next := claim.DeepCopy()
			annotate(next, change.Annotations)
			if err := a.storeClaim(ctx, claim, next); err != nil {
				return err
			}
		}
		annotate(after, m.Pool)
	}
	if equality.Semantic.DeepEqual(stored, after) {
		return nil
	}
	return a.store(ctx, stored, after)
}

func poolNamed(pools []*v1.NodePool, name string) *v1.NodePool {
	i := slices.IndexFunc(pools, func(p *v1.NodePool) bool { return p.Name == name })
	if i < 0 {
		return nil
	}
	return pools[i]
}

func annotate(o client.Object, more map[string]string) {
	annotations := maps.Clone(o.GetAnnotations())
	if annotations == nil {
		annotations = map[string]string{}
	}
	maps.Copy(annotations, more)
	if len(annotations) > 0 {
		o.SetAnnotations(annotations)
	}
}
