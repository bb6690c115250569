package main

import (
	"context"
	"errors"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/disruption"
	"github.com/dovetail-sdk/dovetail/metrics"
	"github.com/dovetail-sdk/dovetail/provisioning"
	"github.com/dovetail-sdk/dovetail/provisioning/nodeclaim"
	"github.com/dovetail-sdk/dovetail/provisioning/nodepool"
)

// status updates the status of objects from time to time.
func (a *autoscaler) status(ctx context.Context, s *snapshot) error {
	if a.instances == nil {
		return nil
	}
	cluster, err := disruption.Observe(s.Now, s.Input, a.options())
	errs := []error{err}
	if cluster != nil {
		errs = append(errs, a.storeClaims(ctx, s, s.EditClaims(cluster.Drifts())))
	}
	problem, err := a.prepare(s)
	var fleet metrics.Input
	if err == nil {
		fleet.Usage, err = problem.Usage()
	}
	if cluster != nil {
		fleet.Price = cluster.Price
	}
	fleet.Nodes, fleet.Pods, fleet.NodePools, fleet.Leaving = s.Input.Nodes, s.Pods, s.Input.NodePools, s.Input.MarkedForDeletion
	a.figures.take("fleet", fleet.Samples(s.Now))
	a.figures.take("offerings", metrics.Offerings(s.Input.InstanceTypes))
	errs = append(errs, err)
	for _, stored := range s.pools {
		var usage *provisioning.PoolUsage
		if i := slices.IndexFunc(fleet.Usage, func(u provisioning.PoolUsage) bool { return u.Pool.Name == stored.Name }); i >= 0 {
			usage = &fleet.Usage[i]
		}
		errs = append(errs, a.storePool(ctx, s, stored, usage))
	}
	return errors.Join(errs...)
}

// storePool writes conditions, usage and hashes of a NodePool, after the hashes of its NodeClaims.
func (a *autoscaler) storePool(ctx context.Context, s *snapshot, stored *v1.NodePool, usage *provisioning.PoolUsage) error {
	after := nodepool.Edit(s.Now, stored, s.classes[stored.Name], usage)
	for _, c := range nodepool.News(stored, after) {
		a.tell(stored, corev1.EventTypeWarning, c.Reason, "Validate", "%s", c.Message)
	}
	if meta.IsStatusConditionTrue(after.Status.Conditions, v1.ConditionTypeValidationSucceeded) {
		m := nodeclaim.MigrateHashes(after, s.NodeClaims)
		if err := a.storeClaims(ctx, s, m.Claims); err != nil {
			return err
		}
		after = m.Pool
	}
	return store(ctx, a, stored, after)
}
