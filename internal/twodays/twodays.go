package twodays

import (
	"context"
	_ "embed"
	"math"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/cloudprovider/guard"
	"github.com/dovetail-sdk/dovetail/fake"
	"github.com/dovetail-sdk/dovetail/fake/catalog"
	"github.com/dovetail-sdk/dovetail/internal/simcluster"
	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
)

// Start is a Monday.
var Start = time.Date(2026, 3, 2, 0, 0, 0, 0, time.UTC)

//go:embed pools.yaml
var poolManifests string

// Pools returns the NodePools of pools.yaml, with the defaults of their fields.
func Pools() (pools []*v1.NodePool, err error) {
	for _, text := range strings.Split(poolManifests, "\n---\n") {
		pool, err := v1.DecodeNodePool([]byte(text))
		if err != nil {
			return nil, err
		}
		pool.Default()
		pools = append(pools, pool)
	}
	return pools, nil
}

// Cloud returns the cloud of the simulation: three zones, with spot prices that change and spot
// machines that are interrupted.
func Cloud(seed uint64) (*fake.Cloud, error) {
	types, err := catalog.New(&catalog.Options{
		Families: []string{"c5", "c6a", "c6i", "c7a", "m5", "m6a", "m6i", "m7a", "r5", "r6a", "r6i"},
		Where:    requirements.MustParse("karpenter.k8s.aws/instance-cpu < 17"),
		Zones:    []catalog.Zone{{Name: "us-east-1a"}, {Name: "us-east-1b"}, {Name: "us-east-1c"}},
	})
	if err != nil {
		return nil, err
	}
	return fake.New(&fake.Options{
		InstanceTypes: types,
		Now:           func() time.Time { return Start },
		Seed:          seed,
		Timing: fake.Timing{
			Launch:         fake.Span{Min: 30 * time.Second, Max: 50 * time.Second},
			Initialization: fake.Span{Min: 10 * time.Second, Max: 25 * time.Second},
			Shutdown:       fake.Exactly(40 * time.Second),
		},
		Unregistered: true, // the autoscaler does that

		ListLag: 10 * time.Second,
		Spot:    fake.Spot{Every: time.Hour, Swing: 0.1, Lifetime: 72 * time.Hour},
		Images:  []fake.Image{{ID: "image-1", Architecture: "x86_64", Created: Start.Add(-24 * time.Hour)}},
	})
}

// Provider returns the cloud as an autoscaler calls it. During one hour, launches panic, which the
// provider returns as an error.
func Provider(cloud *fake.Cloud) cloudprovider.CloudProvider { return guard.New(moody{cloud}) }

// moody is a cloud with a fault in it.
type moody struct {
	*fake.Cloud
}

// Create launches a machine, except in the hour of panic.
func (m moody) Create(ctx context.Context, req cloudprovider.LaunchRequest) (*cloudprovider.Instance, error) {
	if since := m.Now().Sub(Start); since >= 32*time.Hour && since < 33*time.Hour {
		_ = req.Options[len(req.Options)] // an index out of range is what such faults are like
	}
	return m.Cloud.Create(ctx, req)
}

// Workloads returns the workloads of the cluster. The seed varies the number of customers a little.
func Workloads(seed uint64) []*simcluster.Workload {
	spread := []corev1.TopologySpreadConstraint{{MaxSkew: 2, TopologyKey: corev1.LabelTopologyZone, WhenUnsatisfiable: corev1.DoNotSchedule}}
	web := simcluster.Deployment("web", "cpu=500m, memory=768Mi", wave(seed, "web", 8, 56))
	web.Template.TopologySpreadConstraints, web.MaxUnavailable = spread, intstr.FromInt32(4)
	cart := simcluster.Deployment("cart", "cpu=250m, memory=1Gi", wave(seed, "cart", 4, 20))
	cart.MaxUnavailable = intstr.FromInt32(2)
	search := simcluster.Deployment("search", "cpu=1, memory=5Gi", wave(seed, "search", 3, 14))
	search.MaxUnavailable = intstr.FromInt32(1)
	checkout := simcluster.Deployment("checkout", "cpu=750m, memory=1536Mi", wave(seed, "checkout", 4, 12))
	checkout.Template.NodeSelector = map[string]string{v1.CapacityTypeLabelKey: v1.CapacityTypeOnDemand}
	checkout.Template.TopologySpreadConstraints, checkout.MaxUnavailable = spread, intstr.FromInt32(2)
	report := &simcluster.Workload{Name: "report", Every: time.Minute, Runs: 35 * time.Minute, Template: simcluster.PodSpec("cpu=1900m, memory=3Gi"),
		Annotations: map[string]string{v1.DoNotDisruptAnnotationKey: "true"}, Replicas: nightly(2*time.Hour, 30)}
	report.Template.Tolerations = []corev1.Toleration{{Key: "batch", Operator: corev1.TolerationOpExists}}
	return []*simcluster.Workload{web, cart, search, checkout, report}
}

// wave returns a function of time: a number of replicas that is lowest at four in the morning and
// highest in the afternoon, with small random deviations.
func wave(seed uint64, name string, low, high int) func(time.Time) int {
	return func(at time.Time) int {
		hour := at.Sub(Start).Hours()
		share := (1 - math.Cos((hour-4)/24*2*math.Pi)) / 2
		share = share * share * (3 - 2*share) // longer nights and days, steeper between them
		noise := float64(simcluster.Dice(seed, name, at.Unix())%2001)/1000 - 1
		share = min(1, max(0, share+0.04*noise))
		return low + int(math.Round(share*float64(high-low)))
	}
}

// nightly returns a function of time: a number of pods for six hours from a time of the day, and
// none at other times.
func nightly(at time.Duration, pods int) func(time.Time) int {
	return func(now time.Time) int {
		if since := now.Sub(Start) % (24 * time.Hour); since < at || since >= at+6*time.Hour {
			return 0
		}
		return pods
	}
}

// Daemon returns the DaemonSet that runs on every node.
func Daemon() *appsv1.DaemonSet {
	ds := &appsv1.DaemonSet{ObjectMeta: metav1.ObjectMeta{Namespace: "kube-system", Name: "agent"}}
	ds.Spec.Template.Labels = map[string]string{simcluster.AppLabel: "agent"}
	ds.Spec.Template.Spec = simcluster.PodSpec("cpu=100m, memory=200Mi")
	ds.Spec.Template.Spec.Tolerations = []corev1.Toleration{{Operator: corev1.TolerationOpExists}}
	return ds
}

// Events returns the events of the two days, in the order of time.
func Events() []simcluster.Event {
	spot := cloudprovider.Scope{CapacityType: "spot"}
	return []simcluster.Event{
		event(2, "report", "the nightly report: 30 pods of 35 minutes, on spot capacity only", nothing),
		event(8, "lost answer", "the answers of the cloud to the next three launches get lost", func(w simcluster.World) error {
			return w.Cluster().Cloud.Script(fake.Fault{Op: fake.OpCreate, Times: 3, Err: fake.ErrLost})
		}),
		event(11, "interruption", "the cloud takes three spot machines back, with a warning of two minutes", func(w simcluster.World) error {
			return w.Cluster().Cloud.Do(fake.Action{Target: fake.Target{Scope: spot, Count: 3}, Notice: cloudprovider.InterruptionSpot, Warning: 2 * time.Minute})
		}),
		event(15, "deploy", "a deploy: checkout wants 2560Mi of memory from now on", func(w simcluster.World) error {
			w.Cluster().Find("checkout").Deploy("cpu=750m, memory=2560Mi")
			return nil
		}),
		event(25, "drought", "spot capacity runs dry everywhere", func(w simcluster.World) error {
			return w.Cluster().Cloud.Do(fake.Action{Stock: &fake.Stock{Scope: spot, Count: 0}})
		}),
		event(26, "report", "the nightly report: 30 pods of 35 minutes, on spot capacity if there is any", nothing),
		event(27, "", "there is spot capacity again", func(w simcluster.World) error {
			return w.Cluster().Cloud.Do(fake.Action{Stock: &fake.Stock{Scope: spot, Count: fake.Unlimited}})
		}),
		event(32, "panic", "for an hour the provider panics when it is to launch something", nothing),
		event(34, "image", "image-2 is released: every node has drifted", func(w simcluster.World) error {
			return w.Cluster().Cloud.Do(fake.Action{Image: fake.Image{ID: "image-2", Architecture: "x86_64"}})
		}),
		event(35, "restart", "the autoscaler is restarted, and remembers nothing but what is in the cluster", simcluster.World.Restart),
	}
}

func nothing(simcluster.World) error { return nil }

// event returns an event at the given number of hours after the start.
func event(hours int, name, text string, happen func(simcluster.World) error) simcluster.Event {
	return simcluster.Event{After: time.Duration(hours) * time.Hour, Name: name, Text: text, Happen: happen}
}
