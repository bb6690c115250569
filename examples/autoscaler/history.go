package main

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/examples/internal/command"
	"github.com/dovetail-sdk/dovetail/internal/simcluster"
	"github.com/dovetail-sdk/dovetail/internal/twodays"
)

const (
	sampleEvery = 10 * time.Minute
	statusEvery = 2 * time.Hour
)

// sample is the state of the simulation at one time.
type sample struct {
	at             time.Time
	pods           int // of workloads, bound or not
	pending        int // the most at any time since the last sample
	spot, onDemand int // machines, including those that start or end
	cost           float64
	bound          float64 // never above cost; see simulation.bound
	cpuUsed        float64 // CPU requested, as a share of the allocatable CPU of ready nodes
	cpuHave        float64
}

// cpu returns the CPU requested as a percentage of what nodes can allocate.
func (v sample) cpu() float64 { return 100 * v.cpuUsed / max(v.cpuHave, 1e-9) }

// history is the samples of a run.
type history struct {
	samples []sample
	pending int // largest number of pending pods since the last sample
	waiting int // pods that are pending now
}

// look takes a sample of the cluster after a step, if one is due.
func (h *history) look(ctx context.Context, s *simulation) error {
	now := s.cluster.Now()
	h.waiting = len(s.cluster.Waiting())
	h.pending = max(h.pending, h.waiting)
	since := now.Sub(twodays.Start)
	if since%sampleEvery != 0 {
		return nil
	}
	v, err := s.now(ctx)
	if err != nil {
		return err
	}
	if v.bound, err = s.bound(ctx); err != nil {
		return err
	}
	v.pending = h.pending
	h.pending = h.waiting
	h.samples = append(h.samples, v)
	if since%statusEvery == 0 {
		s.journal.add(status, "%s on %s (%d spot), %.2f USD/h, at least %.2f, CPU %.0f%%", command.Count(v.pods, "pod"),
			command.Count(v.spot+v.onDemand, "node"), v.spot, v.cost, v.bound, v.cpu())
	}
	return nil
}

// now returns the sample of the present instant, without the fields that history fills in.
func (s *simulation) now(ctx context.Context) (sample, error) {
	c := s.cluster
	v := sample{at: c.Now()}
	types, err := c.Cloud.InstanceTypes(ctx, nil)
	if err != nil {
		return v, err
	}
	prices := simcluster.Prices(types)
	machines, err := c.Cloud.List(ctx)
	if err != nil {
		return v, err
	}
	for _, i := range machines {
		v.cost += prices[i.OfferingKey()]
		if i.CapacityType == v1.CapacityTypeSpot {
			v.spot++
		} else {
			v.onDemand++
		}
	}
	ready := map[string]bool{}
	for _, n := range c.Nodes.All() {
		if n.Labels[v1.NodeInitializedLabelKey] != "true" {
			continue
		}
		ready[n.Name] = true
		v.cpuHave += n.Status.Allocatable.Cpu().AsApproximateFloat64()
	}
	for _, p := range c.Pods.All() {
		if p.Work != nil {
			v.pods++
		}
		if ready[p.Spec.NodeName] {
			v.cpuUsed += float64(p.Requests.Get(corev1.ResourceCPU)) / 1000
		}
	}
	return v, nil
}
