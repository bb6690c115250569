package main

import (
	"context"
	"errors"
	"net/http"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/disruption"
	"github.com/dovetail-sdk/dovetail/disruption/drain"
	"github.com/dovetail-sdk/dovetail/metrics"
)

func ignoreGone(err error) error {
	if errors.Is(err, cloudprovider.ErrNotFound) {
		return nil
	}
	return err
}

// terminate empties the nodes of NodeClaims that are being deleted, and ends their
// machines. What is deleted is gone once its finalizer is off.
func (a *autoscaler) terminate(ctx context.Context, s *snapshot) error {
	var leaving []*v1.NodeClaim
	owned := map[string]bool{}
	var errs []error
	for _, claim := range s.NodeClaims {
		node := s.NodeOf(claim)
		if node != nil {
			owned[node.Name] = true
		}
		if claim.DeletionTimestamp != nil {
			leaving = append(leaving, claim)
		} else if node != nil && node.DeletionTimestamp != nil { // somebody has deleted the Node
			errs = append(errs, a.remove(ctx, claim))
		}
	}
	for _, node := range s.Nodes {
		if node.DeletionTimestamp != nil && !owned[node.Name] && node.Labels[v1.NodePoolLabelKey] != "" {
			errs = append(errs, a.release(ctx, node)) // what is left of a machine that is gone
		}
	}
	if len(leaving) == 0 {
		return errors.Join(errs...)
	}
	done, err := a.drain(ctx, s, leaving)
	errs = append(errs, err, each(len(leaving), func(i int) error {
		claim := leaving[i]
		node := s.NodeOf(claim)
		if node != nil && !done[node.Name] {
			return nil
		}
		err := cloudprovider.ErrNotFound
		if claim.Status.ProviderID != "" {
			err = a.cloud.Delete(ctx, claim.Status.ProviderID)
		}
		if !errors.Is(err, cloudprovider.ErrNotFound) {
			return err // it is gone when the cloud says so
		}
		if node != nil {
			if err := a.remove(ctx, node); err != nil {
				return err
			}
			a.log.Info("terminated", "claim", claim.Name, "node", node.Name)
			if err := a.release(ctx, node); err != nil {
				return err
			}
		}
		if err := a.release(ctx, claim); err != nil {
			return err
		}
		a.figures.take("terminated", metrics.Terminated(claim, node, s.Now))
		return nil
	}))
	return errors.Join(errs...)
}

// drain says which nodes are empty, and evicts pods of the others.
func (a *autoscaler) drain(ctx context.Context, s *snapshot, leaving []*v1.NodeClaim) (done map[string]bool, err error) {
	var errs []error
	for _, claim := range leaving {
		errs = append(errs, a.storeClaim(ctx, claim, disruption.Action{}.EditClaim(claim, s.Now)))
		if node := s.NodeOf(claim); node != nil {
			errs = append(errs, a.storeNode(ctx, node, drain.CloseNode(node)))
		}
	}
	in, err := s.Drain(leaving...)
	errs = append(errs, err)
	plan, err := drain.Plan(s.Now, in, nil)
	errs = append(append(errs, plan.Faults...), err)
	done = map[string]bool{}
	var evict, end []drain.Step
	why := map[string]string{}
	for _, claim := range leaving {
		if c := meta.FindStatusCondition(claim.Status.Conditions, v1.ConditionTypeDisruptionReason); c != nil {
			why[claim.Status.NodeName] = c.Reason
		}
	}
	var reasons []string
	for _, n := range plan.Nodes {
		done[n.Node] = n.State == drain.Done
		evict, end = append(evict, n.Evict...), append(end, n.Delete...)
		reasons = append(reasons, slices.Repeat([]string{why[n.Node]}, len(n.Evict))...)
	}
	errs = append(errs, each(len(evict), func(i int) error { return a.evict(ctx, evict[i], reasons[i]) }), each(len(end), func(i int) error {
		return client.IgnoreNotFound(a.Delete(ctx, podOf(end[i]), &client.DeleteOptions{Raw: end[i].DeleteOptions()}))
	}))
	return done, errors.Join(errs...)
}

func podOf(s drain.Step) *corev1.Pod {
	pod := &corev1.Pod{}
	pod.Namespace, pod.Name = s.Namespace, s.Name
	return pod
}

// evict asks for an eviction, which a PodDisruptionBudget may refuse.
func (a *autoscaler) evict(ctx context.Context, s drain.Step, why string) error {
	err := a.SubResource("eviction").Create(ctx, podOf(s), s.Eviction())
	if status := apierrors.APIStatus(nil); err == nil {
		a.figures.take("evicted", metrics.Evicted(http.StatusCreated, why))
	} else if errors.As(err, &status) {
		a.figures.take("evicted", metrics.Evicted(int(status.Status().Code), why))
	}
	switch {
	case apierrors.IsTooManyRequests(err):
		a.log.Debug("eviction refused", "pod", s.Namespace+"/"+s.Name, "error", err)
		return nil
	case err == nil:
		a.log.Debug("evicted", "pod", s.Namespace+"/"+s.Name)
	}
	return stale(err)
}
