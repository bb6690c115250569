package main

import (
	"context"
	"io"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/internal/autoscaler"
	"github.com/dovetail-sdk/dovetail/internal/simcluster"
	"github.com/dovetail-sdk/dovetail/internal/twodays"
	"github.com/dovetail-sdk/dovetail/provisioning"
)

// tick is the step of virtual time.
const tick = 5 * time.Second

// simulation is a cluster, a cloud, the events that happen to them, and the autoscaler.
type simulation struct {
	cluster    *simcluster.Cluster
	pools      []*v1.NodePool
	autoscaler *autoscaler.Autoscaler
	journal    *journal
	events     []simcluster.Event
	history    history
}

// newSimulation makes a simulation. The same seed gives the same run, to the byte.
func newSimulation(seed uint64, out io.Writer, verbose bool) (*simulation, error) {
	cloud, err := twodays.Cloud(seed)
	if err != nil {
		return nil, err
	}
	c, err := simcluster.New(cloud, twodays.Daemon(), twodays.Workloads(seed)...)
	if err != nil {
		return nil, err
	}
	pools, err := twodays.Pools()
	if err != nil {
		return nil, err
	}
	j := &journal{out: out, verbose: verbose, now: cloud.Now}
	s := &simulation{cluster: c, pools: pools, journal: j, events: twodays.Events()}
	return s, s.start(twodays.Provider(cloud))
}

// start starts an autoscaler that has no state except the objects in the cluster.
func (s *simulation) start(cloud cloudprovider.CloudProvider) (err error) {
	s.autoscaler, err = autoscaler.New(autoscaler.Config{Cluster: s.cluster, Cloud: cloud, Pools: s.pools, Journal: s.journal})
	return err
}

// Cluster returns the cluster that the events change.
func (s *simulation) Cluster() *simcluster.Cluster { return s.cluster }

// Restart replaces the running autoscaler by a new one.
func (s *simulation) Restart() error { return s.start(s.autoscaler.Cloud) }

// play lets the given time pass. The events happen when they are due.
func (s *simulation) play(ctx context.Context, length time.Duration) error {
	end := twodays.Start.Add(length)
	for s.cluster.Now().Before(end) {
		now := s.cluster.Now()
		if err := ctx.Err(); err != nil {
			return err
		}
		var due []simcluster.Event
		due, s.events = simcluster.Due(s.events, now.Sub(twodays.Start))
		for _, e := range due {
			s.journal.add(story, "%s", e.Text)
			if err := e.Happen(s); err != nil {
				return err
			}
		}
		s.cluster.Advance(tick)
		s.autoscaler.Step(ctx)
		if err := s.history.look(ctx, s); err != nil {
			return err
		}
	}
	return nil
}

// bound returns a lower bound on the cost of nodes for the pods that run now, in USD per hour. It
// is the proven bound of a plan for all these pods on an empty cluster with all offerings available
// and without topology spread. Pending pods do not count, because nothing is paid for them yet.
func (s *simulation) bound(ctx context.Context) (float64, error) {
	in, err := s.cluster.Emptied(ctx, s.pools)
	if err != nil {
		return 0, err
	}
	in.Pods = slices.DeleteFunc(in.Pods, func(pod *corev1.Pod) bool {
		pod.Spec.TopologySpreadConstraints = nil
		p, _ := s.cluster.Pods.Get(simcluster.Key(pod))
		return p.Pending()
	})
	plan, err := provisioning.Solve(ctx, in, nil)
	if err != nil {
		return 0, err
	}
	return plan.LowerBound, nil
}
