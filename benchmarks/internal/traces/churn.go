package traces

import (
	_ "embed"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/benchmarks/internal/life"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/cloudprovider/guard"
	"github.com/dovetail-sdk/dovetail/fake"
	"github.com/dovetail-sdk/dovetail/internal/simcluster"
	"github.com/dovetail-sdk/dovetail/internal/twodays"
)

//go:embed churn.yaml
var churnPool string

// churnServices is the number of Deployments in the trace churn.
const churnServices = 16

// churn returns a trace of 28 minutes with an event every two minutes: services are scaled and
// deployed, machines fail or are reclaimed, an image is released, and types are sold out. The
// cluster starts in a warm-up of ten minutes.
func churn(seed uint64) (*life.Trace, error) {
	cloud, err := market(seed, 0)
	if err != nil {
		return nil, err
	}
	pool, err := decoded(churnPool)
	if err != nil {
		return nil, err
	}
	return &life.Trace{
		Warmup: 10 * time.Minute, Length: 28 * time.Minute, Sample: time.Minute,
		Cloud: cloud, Provider: guard.New(cloud), Pools: []*v1.NodePool{pool},
		Daemon: twodays.Daemon(), Workloads: churnWorkloads(seed), Events: churnEvents(),
	}, nil
}

// churnWorkloads returns services of 4 to 27 pods. A third is spread over zones, and three quarters
// have a disruption budget.
func churnWorkloads(seed uint64) (all []*simcluster.Workload) {
	sizes := []string{"cpu=100m, memory=256Mi", "cpu=250m, memory=512Mi", "cpu=250m, memory=1Gi", "cpu=500m, memory=1Gi", "cpu=500m, memory=3Gi", "cpu=1, memory=2Gi", "cpu=1500m, memory=6Gi"}
	for i := range churnServices {
		name := service(i)
		base := 4 + int(simcluster.Dice(seed, name, "base")%24)
		w := simcluster.Deployment(name, sizes[simcluster.Dice(seed, name, "size")%uint64(len(sizes))], scaled(i, base))
		w.Every = 15 * time.Second
		if i%3 == 0 {
			w.Template.TopologySpreadConstraints = []corev1.TopologySpreadConstraint{
				{MaxSkew: 1, TopologyKey: corev1.LabelTopologyZone, WhenUnsatisfiable: corev1.DoNotSchedule}}
		}
		if i%4 != 3 {
			w.MaxUnavailable = intstr.FromInt(max(1, base/5))
		}
		all = append(all, w)
	}
	return all
}

func service(i int) string { return fmt.Sprintf("service-%02d", i) }

// scaled returns the number of replicas of a service over time: from certain minutes on it is a
// multiple of the base.
func scaled(i, base int) func(time.Time) int {
	steps := []struct{ minute, percent int }{{12, 180}, {18, 50}, {28, 150}, {33, 60}}
	return func(at time.Time) int {
		percent := 100
		for n, step := range steps {
			if i%len(steps) != n && (i+1)%len(steps) != n {
				continue // each service takes part in two of the steps
			}
			if at.Sub(twodays.Start) >= time.Duration(step.minute)*time.Minute {
				percent = step.percent
			}
		}
		return max(1, base*percent/100)
	}
}

// churnEvents returns the events other than scaling, in the order of time.
func churnEvents() []simcluster.Event {
	spot := cloudprovider.Scope{CapacityType: v1.CapacityTypeSpot}
	do := func(minute int, text string, action fake.Action) simcluster.Event {
		return at(minute, text, func(w simcluster.World) error { return w.Cluster().Cloud.Do(action) })
	}
	deploy := func(minute int, services ...int) simcluster.Event {
		return at(minute, "a deploy", func(w simcluster.World) error {
			for _, i := range services {
				w.Cluster().Find(service(i)).Redeploy()
			}
			return nil
		})
	}
	events := []simcluster.Event{
		deploy(14, 1, 6, 11),
		do(16, "two machines fail", fake.Action{Target: fake.Target{Count: 2}, Notice: cloudprovider.InterruptionStopping}),
		do(20, "three spot machines are taken back", fake.Action{Target: fake.Target{Scope: spot, Count: 3}, Notice: cloudprovider.InterruptionSpot, Warning: 2 * time.Minute}),
		do(22, "image-2 is released", fake.Action{Image: fake.Image{ID: "image-2", Architecture: "x86_64"}}),
		deploy(24, 2, 7, 12),
	}
	for _, name := range soldOut() {
		events = append(events, do(25, "instance types are sold out", fake.Action{Stock: &fake.Stock{Scope: cloudprovider.Scope{InstanceType: name, CapacityType: v1.CapacityTypeSpot}}}))
	}
	events = append(events, do(30, "two machines fail", fake.Action{Target: fake.Target{Count: 2}, Notice: cloudprovider.InterruptionStopping}))
	for _, name := range soldOut() {
		events = append(events, do(31, "instance types are for sale again", fake.Action{Stock: &fake.Stock{Scope: cloudprovider.Scope{InstanceType: name, CapacityType: v1.CapacityTypeSpot}, Count: fake.Unlimited}}))
	}
	return append(events, deploy(35, 3, 8, 13))
}

// soldOut returns the types whose spot capacity is sold out for six minutes.
func soldOut() (names []string) {
	for _, family := range []string{"c6a", "m6a", "r6a", "m7a"} {
		for _, size := range []string{"large", "xlarge", "2xlarge", "4xlarge"} {
			names = append(names, family+"."+size)
		}
	}
	return names
}

func at(minute int, text string, happen func(simcluster.World) error) simcluster.Event {
	return simcluster.Event{After: time.Duration(minute) * time.Minute, Text: text, Happen: happen}
}
