package traces

import (
	"fmt"
	"math"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/benchmarks/internal/life"
	"github.com/dovetail-sdk/dovetail/cloudprovider/guard"
	"github.com/dovetail-sdk/dovetail/fake"
	"github.com/dovetail-sdk/dovetail/internal/simcluster"
	"github.com/dovetail-sdk/dovetail/internal/twodays"
)

const (
	weekServices = 200
	deploysADay  = 12 // on working days
)

// week returns a trace of a week with 200 services of 1 to 40 pods, a few of which are large. Two
// thirds of them are scaled by the hour of the day. On working days there are twelve deploys, and
// on Wednesday an image is released. Spot machines are reclaimed after four days on average.
func week(seed uint64) (*life.Trace, error) {
	cloud, err := market(seed, 96*time.Hour)
	if err != nil {
		return nil, err
	}
	pool, err := generalPool()
	if err != nil {
		return nil, err
	}
	return &life.Trace{
		Length: 7 * 24 * time.Hour, Tick: 20 * time.Second, Sample: 2 * time.Hour,
		Cloud: cloud, Provider: guard.New(cloud), Pools: []*v1.NodePool{pool},
		Daemon: twodays.Daemon(), Workloads: weekWorkloads(seed), Events: weekEvents(seed),
	}, nil
}

func weekWorkloads(seed uint64) (all []*simcluster.Workload) {
	sizes := []string{"cpu=50m, memory=128Mi", "cpu=100m, memory=256Mi", "cpu=250m, memory=512Mi", "cpu=250m, memory=1Gi",
		"cpu=500m, memory=1Gi", "cpu=500m, memory=3Gi", "cpu=1, memory=2Gi", "cpu=2, memory=6Gi"}
	for i := range weekServices {
		name := service(i)
		draw := func(what string, n uint64) int { return int(simcluster.Dice(seed, name, what) % n) }
		most := max(1, 40/(1+draw("rank", 40))) // Zipf's law: few are large
		replicas := constant(most)
		if draw("wave", 3) > 0 {
			replicas = daily(seed, name, max(1, most/3), most)
		}
		w := simcluster.Deployment(name, sizes[draw("size", uint64(len(sizes)))], replicas)
		if most >= 3 {
			w.MaxUnavailable = intstr.FromInt(max(1, most/4))
		}
		if draw("spread", 3) == 0 {
			w.Template.TopologySpreadConstraints = []corev1.TopologySpreadConstraint{
				{MaxSkew: 1, TopologyKey: corev1.LabelTopologyZone, WhenUnsatisfiable: corev1.DoNotSchedule}}
		}
		all = append(all, w)
	}
	return all
}

// daily returns a number of replicas over time that is highest in the afternoon, and rises half as
// far on Saturday and Sunday.
func daily(seed uint64, name string, low, high int) func(time.Time) int {
	return func(at time.Time) int {
		share := (1 - math.Cos((at.Sub(twodays.Start).Hours()-4)/24*2*math.Pi)) / 2
		if day := at.Weekday(); day == time.Saturday || day == time.Sunday {
			share /= 2
		}
		noise := float64(simcluster.Dice(seed, name, at.Unix())%2001)/1000 - 1
		return low + int(math.Round(min(1, max(0, share+0.03*noise))*float64(high-low)))
	}
}

func weekEvents(seed uint64) (events []simcluster.Event) {
	for day := range 5 {
		for i := range deploysADay {
			minute := day*24*60 + 9*60 + int(simcluster.Dice(seed, "deploy", day, i)%(8*60))
			name := service(int(simcluster.Dice(seed, "service", day, i) % weekServices))
			events = append(events, at(minute, fmt.Sprintf("a deploy of %s", name), func(w simcluster.World) error {
				w.Cluster().Find(name).Redeploy()
				return nil
			}))
		}
	}
	events = append(events, at((2*24+10)*60, "image-2 is released", func(w simcluster.World) error {
		return w.Cluster().Cloud.Do(fake.Action{Image: fake.Image{ID: "image-2", Architecture: "x86_64"}})
	}))
	slices.SortStableFunc(events, func(a, b simcluster.Event) int { return int(a.After - b.After) })
	return events
}
