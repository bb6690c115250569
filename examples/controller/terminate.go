package main

import (
	"context"
	"errors"
	"net/http"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/disruption/drain"
	"github.com/dovetail-sdk/dovetail/metrics"
)

func ignoreGone(err error) error {
	if errors.Is(err, cloudprovider.ErrNotFound) {
		return nil
	}
	return err
}

// terminate drains the nodes of NodeClaims that are being deleted, and then ends their machines.
func (a *autoscaler) terminate(ctx context.Context, s *snapshot) error {
	doubtful := s.Doubtful()
	lost := make([]bool, len(doubtful))
	asked := each(len(doubtful), func(i int) error {
		_, err := a.cloud.Get(ctx, doubtful[i].Status.ProviderID)
		lost[i] = errors.Is(err, cloudprovider.ErrNotFound)
		return ignoreGone(err)
	})
	for i, claim := range doubtful {
		if lost[i] {
			s.Lost(claim)
		}
	}
	d, err := s.Leave(nil)
	err = errors.Join(err, asked,
		each(len(d.Delete), func(i int) error { return a.remove(ctx, d.Delete[i]) }),
		each(len(d.Left), func(i int) error { return a.release(ctx, d.Left[i]) }),
		a.storeClaims(ctx, s, d.NodeClaims),
		each(len(d.Nodes), func(i int) error { return store(ctx, a, s.Node(d.Nodes[i].Name), d.Nodes[i]) }),
		each(len(d.Open), func(i int) error { // the pods of a node are about to be bound to it
			a.log.Info("opened for evictions", "node", d.Open[i].Name)
			return store(ctx, a, s.Node(d.Open[i].Name), d.Open[i])
		}),
		a.drain(ctx, d.Drain))
	for _, claim := range d.Empty {
		if !a.beside.running(keyOf("launch", claim)) { // a machine may come of the launch, so the claim keeps its finalizer
			a.inBackground(ctx, "end", claim, func() (func(), error) { return nil, a.end(ctx, s, claim) })
		}
	}
	return err
}

// end ends the machine of a NodeClaim, and then removes the finalizer, so that the object is
// deleted.
func (a *autoscaler) end(ctx context.Context, s *snapshot, claim *v1.NodeClaim) error {
	if claim.Status.ProviderID != "" {
		err := a.cloud.Delete(ctx, claim.Status.ProviderID)
		if !errors.Is(err, cloudprovider.ErrNotFound) {
			return err // it is gone when the cloud says so
		}
	}
	node := s.NodeOf(claim)
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
	a.figures.take("terminated", metrics.Terminated(s.Now, claim, node))
	return nil
}

// drain evicts the pods of nodes, and deletes those whose time is over.
func (a *autoscaler) drain(ctx context.Context, nodes []drain.NodePlan) error {
	var do []func() error
	for _, n := range nodes {
		for _, pod := range n.Delete {
			do = append(do, func() error {
				return client.IgnoreNotFound(a.Delete(ctx, podOf(pod), &client.DeleteOptions{Raw: pod.DeleteOptions()}))
			})
		}
		for _, pod := range n.Evict {
			do = append(do, func() error { return a.evict(ctx, pod, n.Reason) })
		}
	}
	return a.some(len(do), func(i int) error { return do[i]() })
}

func podOf(s drain.PodPlan) *corev1.Pod {
	pod := &corev1.Pod{}
	pod.Namespace, pod.Name = s.Namespace, s.Name
	return pod
}

// evict requests an eviction, which a PodDisruptionBudget may refuse.
func (a *autoscaler) evict(ctx context.Context, s drain.PodPlan, why string) error {
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
