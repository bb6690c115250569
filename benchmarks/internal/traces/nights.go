package traces

import (
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/util/intstr"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/benchmarks/internal/life"
	"github.com/dovetail-sdk/dovetail/cloudprovider/guard"
	"github.com/dovetail-sdk/dovetail/internal/simcluster"
	"github.com/dovetail-sdk/dovetail/internal/twodays"
)

// gangsANight is the number of gangs in each night.
const gangsANight = 24

// nights returns a trace of two nights of batch work. Between 20:00 and 4:00 gangs of 8 to 47 pods
// are created, each gang at once. They run for 20 to 79 minutes and may not be evicted. Some
// services run all the time.
func nights(seed uint64) (*life.Trace, error) {
	cloud, err := market(seed, 72*time.Hour)
	if err != nil {
		return nil, err
	}
	pool, err := generalPool()
	if err != nil {
		return nil, err
	}
	var all []*simcluster.Workload
	for i := range 6 {
		name := service(i)
		w := simcluster.Deployment(name, "cpu=500m, memory=1536Mi", constant(3+int(simcluster.Dice(seed, name)%6)))
		w.MaxUnavailable = intstr.FromInt32(1)
		all = append(all, w)
	}
	sizes := []string{"cpu=900m, memory=1500Mi", "cpu=1900m, memory=3Gi", "cpu=1900m, memory=7Gi", "cpu=3800m, memory=7Gi"}
	for night := range 2 {
		for i := range gangsANight {
			name := fmt.Sprintf("gang-%d-%02d", night, i)
			draw := func(what string, n uint64) int { return int(simcluster.Dice(seed, name, what) % n) }
			after := time.Duration(night)*24*time.Hour + 20*time.Hour + time.Duration(draw("minute", 8*60))*time.Minute
			pods := 8 + draw("pods", 40)
			all = append(all, &simcluster.Workload{Name: name, Every: time.Minute, Runs: time.Duration(20+draw("runs", 60)) * time.Minute,
				Template: simcluster.PodSpec(sizes[draw("size", uint64(len(sizes)))]), Replicas: burst(after, pods),
				Annotations: map[string]string{v1.DoNotDisruptAnnotationKey: "true"}})
		}
	}
	return &life.Trace{
		Length: 60 * time.Hour, Tick: 10 * time.Second, Sample: 20 * time.Minute,
		Cloud: cloud, Provider: guard.New(cloud), Pools: []*v1.NodePool{pool}, Daemon: twodays.Daemon(), Workloads: all,
	}, nil
}

// burst returns a number of replicas over time: pods from after on, for twelve hours, which is
// enough to finish.
func burst(after time.Duration, pods int) func(time.Time) int {
	return func(at time.Time) int {
		if since := at.Sub(twodays.Start); since < after || since >= after+12*time.Hour {
			return 0
		}
		return pods
	}
}

func constant(pods int) func(time.Time) int { return func(time.Time) int { return pods } }
