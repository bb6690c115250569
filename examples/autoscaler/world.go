package main

import (
	"context"
	"io"
	"time"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/cloudprovider/availability"
	"github.com/dovetail-sdk/dovetail/cloudprovider/batcher"
	"github.com/dovetail-sdk/dovetail/cloudprovider/guard"
	"github.com/dovetail-sdk/dovetail/disruption"
	"github.com/dovetail-sdk/dovetail/disruption/fleet"
	"github.com/dovetail-sdk/dovetail/examples/internal/simcluster"
	"github.com/dovetail-sdk/dovetail/fake"
	"github.com/dovetail-sdk/dovetail/fake/catalog"
	"github.com/dovetail-sdk/dovetail/provisioning"
	"github.com/dovetail-sdk/dovetail/provisioning/nomination"
	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
)

// tick is the grain of virtual time.
const tick = 5 * time.Second

// simulation is a cluster, a cloud, what happens to them, and the autoscaler that
// has to cope with it.
type simulation struct {
	cluster    *simcluster.Cluster
	autoscaler *autoscaler
	journal    *journal
	events     []event
	history    history
}

// newSimulation sets everything up. The same seed leads to the same course of
// things, to the byte.
func newSimulation(seed uint64, out io.Writer, verbose bool) (*simulation, error) {
	types, err := catalog.New(&catalog.Options{
		Families: []string{"c5", "c6a", "c6i", "c7a", "m5", "m6a", "m6i", "m7a", "r5", "r6a", "r6i"},
		Where:    requirements.MustParse("karpenter.k8s.aws/instance-cpu < 17"),
		Zones:    []catalog.Zone{{Name: "us-east-1a"}, {Name: "us-east-1b"}, {Name: "us-east-1c"}},
	})
	if err != nil {
		return nil, err
	}
	cloud, err := fake.New(&fake.Options{
		InstanceTypes: types,
		Clock:         func() time.Time { return start },
		Seed:          seed,
		Timing: fake.Timing{
			Launch:         fake.Span{Min: 30 * time.Second, Max: 50 * time.Second},
			Initialization: fake.Span{Min: 10 * time.Second, Max: 25 * time.Second},
			Shutdown:       fake.Exactly(40 * time.Second),
		},
		Unregistered: true, // the autoscaler does that

		ListLag: 10 * time.Second,
		Spot:    fake.Spot{Every: time.Hour, Swing: 0.1, Lifetime: 72 * time.Hour},
		Images:  []fake.Image{{ID: "image-1", Architecture: "x86_64", Created: start.Add(-24 * time.Hour)}},
	})
	if err != nil {
		return nil, err
	}
	c, err := simcluster.New(cloud, sampleDaemon(), sampleWorkloads(seed)...)
	if err != nil {
		return nil, err
	}
	pools, err := samplePools()
	if err != nil {
		return nil, err
	}
	j := &journal{out: out, verbose: verbose, now: cloud.Now}
	s := &simulation{cluster: c, journal: j, events: sampleEvents()}
	if s.autoscaler, err = newAutoscaler(c, guard.New(moody{cloud}), pools, j); err != nil {
		return nil, err
	}
	s.history = history{every: sampleEvery}
	return s, nil
}

// newAutoscaler makes an autoscaler that knows nothing but what is in the cluster.
func newAutoscaler(c *simcluster.Cluster, cloud cloudprovider.CloudProvider, pools []*v1.NodePool, j *journal) (*autoscaler, error) {
	stock, err := availability.New(c.Now, &availability.Options{TTL: 3 * time.Minute, MaxTTL: 30 * time.Minute})
	if err != nil {
		return nil, err
	}
	window, err := batcher.NewWindow(10*time.Second, time.Minute)
	if err != nil {
		return nil, err
	}
	return &autoscaler{cluster: c, cloud: cloud, stock: stock, pools: pools, journal: j, window: window,
		last: &fleet.Fleet{}, drift: map[string]cloudprovider.Drift{}}, nil
}

// restart puts a new autoscaler in the place of the one that runs.
func (s *simulation) restart() (err error) {
	old := s.autoscaler
	s.autoscaler, err = newAutoscaler(s.cluster, old.cloud, old.pools, s.journal)
	return err
}

// play lets so much time pass. The events of the sample happen on the way.
func (s *simulation) play(ctx context.Context, length time.Duration) error {
	end := start.Add(length)
	for s.cluster.Now().Before(end) {
		now := s.cluster.Now()
		if err := ctx.Err(); err != nil {
			return err
		}
		for len(s.events) > 0 && !now.Before(start.Add(s.events[0].after)) {
			e := s.events[0]
			s.events = s.events[1:]
			s.journal.add(story, "%s", e.text)
			if err := e.happen(s); err != nil {
				return err
			}
		}
		s.cluster.Advance(tick)
		s.autoscaler.step(ctx)
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
	in := provisioning.Input{NodePools: s.autoscaler.pools, InstanceTypes: map[string][]*cloudprovider.InstanceType{},
		DaemonSetPods: s.autoscaler.last.Input.DaemonSetPods, Vocabulary: fake.Vocabulary()}
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
