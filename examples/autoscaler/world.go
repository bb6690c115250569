package main

import (
	"context"
	"io"
	"time"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/disruption"
	"github.com/dovetail-sdk/dovetail/fake"
	"github.com/dovetail-sdk/dovetail/internal/autoscaler"
	"github.com/dovetail-sdk/dovetail/internal/simcluster"
	"github.com/dovetail-sdk/dovetail/internal/twodays"
	"github.com/dovetail-sdk/dovetail/provisioning"
	"github.com/dovetail-sdk/dovetail/provisioning/nomination"
)

// tick is the grain of virtual time.
const tick = 5 * time.Second

// simulation is a cluster, a cloud, what happens to them, and the autoscaler that
// has to cope with it.
type simulation struct {
	cluster    *simcluster.Cluster
	pools      []*v1.NodePool
	autoscaler *autoscaler.Autoscaler
	journal    *journal
	events     []simcluster.Event
	history    history
}

// newSimulation sets everything up. The same seed leads to the same course of
// things, to the byte.
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
	s := &simulation{cluster: c, pools: pools, journal: j, events: twodays.Events(), history: history{every: sampleEvery}}
	return s, s.start(twodays.Provider(cloud))
}

// start starts an autoscaler that knows nothing but what is in the cluster.
func (s *simulation) start(cloud cloudprovider.CloudProvider) (err error) {
	s.autoscaler, err = autoscaler.New(autoscaler.Config{Cluster: s.cluster, Cloud: cloud, Pools: s.pools, Journal: s.journal})
	return err
}

// Cluster is the cluster that events happen to.
func (s *simulation) Cluster() *simcluster.Cluster { return s.cluster }

// Restart puts a new autoscaler in the place of the one that runs.
func (s *simulation) Restart() error { return s.start(s.autoscaler.Cloud) }

// play lets so much time pass. The events of the sample happen on the way.
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

// bound is the least that nodes for the pods that run at the moment could cost, in USD
// per hour: what the engine proves when it plans all of them anew, with everything in
// stock and nothing spread over zones. Pods that wait do not count, as nothing is paid
// for them yet.
func (s *simulation) bound(ctx context.Context) (float64, error) {
	types, err := s.cluster.Cloud.InstanceTypes(ctx, nil)
	if err != nil {
		return 0, err
	}
	f, err := s.autoscaler.Read()
	if err != nil {
		return 0, err
	}
	in := provisioning.Input{NodePools: s.pools, InstanceTypes: map[string][]*cloudprovider.InstanceType{},
		DaemonSetPods: f.Input.DaemonSetPods, Vocabulary: fake.Vocabulary()}
	for _, pool := range in.NodePools {
		in.InstanceTypes[pool.Name] = types
	}
	for _, p := range s.cluster.Pods.All() {
		if p.Work == nil || p.Pending() || p.DeletionTimestamp != nil {
			continue
		}
		unbound := nomination.Plain(p.Pod).DeepCopy()
		unbound.Spec.NodeName, unbound.Spec.TopologySpreadConstraints = "", nil
		in.Pods = append(in.Pods, unbound)
	}
	plan, err := provisioning.Solve(ctx, in, nil)
	if err != nil {
		return 0, err
	}
	return plan.LowerBound, nil
}

// reasons are those that the sample knows, in the order of reports.
func reasons() []disruption.Reason {
	return []disruption.Reason{disruption.Underutilized, disruption.Empty, disruption.Drifted, disruption.Expired,
		disruption.Interrupted, disruption.LaunchTimeout, disruption.RegistrationTimeout, disruption.GarbageCollected}
}
