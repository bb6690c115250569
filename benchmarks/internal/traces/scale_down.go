package traces

import (
	_ "embed"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/benchmarks/internal/life"
	"github.com/dovetail-sdk/dovetail/cloudprovider/guard"
	"github.com/dovetail-sdk/dovetail/internal/simcluster"
	"github.com/dovetail-sdk/dovetail/internal/twodays"
)

//go:embed scale_down.yaml
var scaleDownPool string

// scaleDownWarmup is how long all pods run before most of them go.
const scaleDownWarmup = 2 * time.Minute

// scaleDown returns a trace of the scenario ScaleDown of examples/controller. Twelve workloads with
// spreads, affinity and disruption budgets have 300 pods. After the warm-up each workload keeps 30% of
// its pods, and the cluster has 20 minutes to come to rest. All nodes are on-demand, and no price
// changes. With a seed above 1 each workload has 70 to 130% of these pods and keeps 20 to 45% of them.
func scaleDown(seed uint64) (*life.Trace, error) {
	cloud, err := market(seed, 0)
	if err != nil {
		return nil, err
	}
	pool, err := decoded(scaleDownPool)
	if err != nil {
		return nil, err
	}
	return &life.Trace{
		Warmup: scaleDownWarmup, Length: 20 * time.Minute, Tick: time.Second, Sample: 30 * time.Second, Every: 10 * time.Second,
		Cloud: cloud, Provider: guard.New(cloud), Pools: []*v1.NodePool{pool},
		Daemon: twodays.Daemon(), Workloads: scaledDown(seed),
	}, nil
}

// scaledDown returns the workloads of the trace.
func scaledDown(seed uint64) []*simcluster.Workload {
	dice := func(name, what string, from, to int) int {
		return from + int(simcluster.Dice(seed, name, what)%uint64(to-from+1))
	}
	add := func(name, requests string, pods int, maxUnavailable string) *simcluster.Workload {
		kept := 30
		if seed > 1 {
			pods, kept = pods*dice(name, "pods", 70, 130)/100, dice(name, "kept", 20, 45)
		}
		w := simcluster.Deployment(name, requests, func(at time.Time) int {
			if at.Sub(twodays.Start) < scaleDownWarmup {
				return pods
			}
			return (pods*kept + 99) / 100
		})
		w.Every, w.MaxUnavailable = time.Second, intstr.Parse(maxUnavailable)
		return w
	}
	spread := func(skew int32, key string, unsatisfiable corev1.UnsatisfiableConstraintAction) corev1.TopologySpreadConstraint {
		return corev1.TopologySpreadConstraint{MaxSkew: skew, TopologyKey: key, WhenUnsatisfiable: unsatisfiable}
	}
	with := func(app, key string) corev1.PodAffinityTerm {
		return corev1.PodAffinityTerm{TopologyKey: key, LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{simcluster.AppLabel: app}}}
	}
	apart := func(app string) *corev1.Affinity {
		return &corev1.Affinity{PodAntiAffinity: &corev1.PodAntiAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{with(app, corev1.LabelHostname)}}}
	}

	web := add("web", "cpu=500m, memory=1Gi", 40, "10%")
	web.Template.TopologySpreadConstraints = []corev1.TopologySpreadConstraint{spread(1, corev1.LabelTopologyZone, corev1.DoNotSchedule)}
	api := add("api", "cpu=750m, memory=1500Mi", 40, "20%")
	api.Template.TopologySpreadConstraints = []corev1.TopologySpreadConstraint{spread(1, corev1.LabelTopologyZone, corev1.DoNotSchedule), spread(1, corev1.LabelHostname, corev1.ScheduleAnyway)}
	db := add("db", "cpu=1, memory=4Gi", 9, "1")
	db.Template.Affinity = apart("db")
	cache := add("cache", "cpu=250m, memory=3Gi", 20, "2")
	cache.Template.TopologySpreadConstraints = []corev1.TopologySpreadConstraint{spread(2, corev1.LabelHostname, corev1.DoNotSchedule)}
	search := add("search", "cpu=1500m, memory=4Gi", 15, "1")
	search.Template.TopologySpreadConstraints = []corev1.TopologySpreadConstraint{spread(1, corev1.LabelTopologyZone, corev1.ScheduleAnyway)}
	queue := add("queue", "cpu=500m, memory=2Gi", 6, "1")
	queue.Template.Affinity = apart("queue")
	side := add("side", "cpu=200m, memory=256Mi", 20, "0")
	side.Template.Affinity = &corev1.Affinity{PodAffinity: &corev1.PodAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{with("web", corev1.LabelTopologyZone)}}}
	zonal := add("zonal", "cpu=400m, memory=1Gi", 12, "25%")
	zonal.Template.NodeSelector = map[string]string{corev1.LabelTopologyZone: "us-east-1b"}
	pref := add("pref", "cpu=600m, memory=1200Mi", 18, "0")
	pref.Template.Affinity = &corev1.Affinity{PodAntiAffinity: &corev1.PodAntiAffinity{PreferredDuringSchedulingIgnoredDuringExecution: []corev1.WeightedPodAffinityTerm{{Weight: 100, PodAffinityTerm: with("pref", corev1.LabelHostname)}}}}
	ports := add("ports", "cpu=300m, memory=512Mi", 10, "1")
	ports.Template.Containers[0].Ports = []corev1.ContainerPort{{ContainerPort: 8080, HostPort: 8080}}
	return []*simcluster.Workload{web, api, db, cache, add("batch", "cpu=300m, memory=512Mi", 50, "0"), add("tiny", "cpu=100m, memory=128Mi", 60, "0"), search, queue, side, zonal, pref, ports}
}
