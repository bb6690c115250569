package main

import (
	"context"
	_ "embed"
	"math"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/examples/internal/simcluster"
	"github.com/dovetail-sdk/dovetail/fake"
)

// The sample: a shop with a daily wave of customers and a report every night.

// start is a Monday.
var start = time.Date(2026, 3, 2, 0, 0, 0, 0, time.UTC)

//go:embed pools.yaml
var poolManifests string

// samplePools are the NodePools of pools.yaml, as anybody would write them.
func samplePools() (pools []*v1.NodePool, err error) {
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

// sampleWorkloads are what runs in the cluster. The seed makes customers come a
// little differently.
func sampleWorkloads(seed uint64) []*simcluster.Workload {
	spread := []corev1.TopologySpreadConstraint{{MaxSkew: 2, TopologyKey: corev1.LabelTopologyZone, WhenUnsatisfiable: corev1.DoNotSchedule}}
	web := simcluster.Deployment("web", "cpu=500m, memory=768Mi", wave(seed, "web", 8, 56))
	web.Template.TopologySpreadConstraints, web.MaxUnavailable = spread, 4
	cart := simcluster.Deployment("cart", "cpu=250m, memory=1Gi", wave(seed, "cart", 4, 20))
	cart.MaxUnavailable = 2
	search := simcluster.Deployment("search", "cpu=1, memory=5Gi", wave(seed, "search", 3, 14))
	search.MaxUnavailable = 1
	checkout := simcluster.Deployment("checkout", "cpu=750m, memory=1536Mi", wave(seed, "checkout", 4, 12))
	checkout.Template.NodeSelector = map[string]string{v1.CapacityTypeLabelKey: v1.CapacityTypeOnDemand}
	checkout.Template.TopologySpreadConstraints, checkout.MaxUnavailable = spread, 2
	report := &simcluster.Workload{Name: "report", Every: time.Minute, Runs: 35 * time.Minute, Template: simcluster.PodSpec("cpu=1900m, memory=3Gi"),
		Annotations: map[string]string{v1.DoNotDisruptAnnotationKey: "true"}, Replicas: nightly(2*time.Hour, 30)}
	report.Template.Tolerations = []corev1.Toleration{{Key: "batch", Operator: corev1.TolerationOpExists}}
	return []*simcluster.Workload{web, cart, search, checkout, report}
}

// wave is a number of replicas that follows the day: fewest at four in the
// morning, most in the afternoon, a little more or less than expected each time.
func wave(seed uint64, name string, low, high int) func(time.Time) int {
	return func(at time.Time) int {
		hour := at.Sub(start).Hours()
		share := (1 - math.Cos((hour-4)/24*2*math.Pi)) / 2
		share = share * share * (3 - 2*share) // longer nights and days, steeper between them
		noise := float64(simcluster.Dice(seed, name, at.Unix())%2001)/1000 - 1
		share = min(1, max(0, share+0.04*noise))
		return low + int(math.Round(share*float64(high-low)))
	}
}

// nightly is a burst of pods at one time of the day, and none outside of the six
// hours after it.
func nightly(at time.Duration, pods int) func(time.Time) int {
	return func(now time.Time) int {
		if since := now.Sub(start) % (24 * time.Hour); since < at || since >= at+6*time.Hour {
			return 0
		}
		return pods
	}
}

// sampleDaemon is what runs on every node.
func sampleDaemon() *appsv1.DaemonSet {
	ds := &appsv1.DaemonSet{ObjectMeta: metav1.ObjectMeta{Namespace: "kube-system", Name: "agent"}}
	ds.Spec.Template.Labels = map[string]string{simcluster.AppLabel: "agent"}
	ds.Spec.Template.Spec = simcluster.PodSpec("cpu=100m, memory=200Mi")
	ds.Spec.Template.Spec.Tolerations = []corev1.Toleration{{Operator: corev1.TolerationOpExists}}
	return ds
}

// event is something that happens so long after the start.
type event struct {
	after  time.Duration
	name   string // for plots
	text   string
	happen func(*simulation) error
}

// sampleEvents are what happens in the two days, in the order of time.
func sampleEvents() []event {
	spot := cloudprovider.Scope{CapacityType: "spot"}
	return []event{
		{2 * time.Hour, "report", "the nightly report: 30 pods of 35 minutes, on spot capacity only", nothing},
		{8 * time.Hour, "lost answer", "the answers of the cloud to the next three launches get lost", func(s *simulation) error {
			return s.cluster.Cloud.Script(fake.Fault{Op: fake.OpCreate, Times: 3, Err: fake.ErrLost})
		}},
		{11 * time.Hour, "interruption", "the cloud takes three spot machines back, with a warning of two minutes", func(s *simulation) error {
			return s.cluster.Cloud.Do(fake.Action{Target: fake.Target{Scope: spot, Count: 3}, Notice: cloudprovider.InterruptionSpot, Warning: 2 * time.Minute})
		}},
		{15 * time.Hour, "deploy", "a deploy: checkout wants 2560Mi of memory from now on", func(s *simulation) error {
			s.cluster.Find("checkout").Deploy("cpu=750m, memory=2560Mi")
			return nil
		}},
		{25 * time.Hour, "drought", "spot capacity runs dry everywhere", func(s *simulation) error {
			return s.cluster.Cloud.Do(fake.Action{Stock: &fake.Stock{Scope: spot, Count: 0}})
		}},
		{26 * time.Hour, "report", "the nightly report: 30 pods of 35 minutes, on spot capacity if there is any", nothing},
		{27 * time.Hour, "", "there is spot capacity again", func(s *simulation) error {
			return s.cluster.Cloud.Do(fake.Action{Stock: &fake.Stock{Scope: spot, Count: fake.Unlimited}})
		}},
		{32 * time.Hour, "panic", "for an hour the provider panics when it is to launch something", nothing},
		{34 * time.Hour, "image", "image-2 is released: every node has drifted", func(s *simulation) error {
			return s.cluster.Cloud.Do(fake.Action{Image: fake.Image{ID: "image-2", Architecture: "x86_64"}})
		}},
		{35 * time.Hour, "restart", "the autoscaler is restarted, and remembers nothing but what is in the cluster", (*simulation).restart},
	}
}

func nothing(*simulation) error { return nil }

// moody is a cloud with a fault in it.
type moody struct {
	*fake.Cloud
}

func (m moody) Create(ctx context.Context, req cloudprovider.LaunchRequest) (*cloudprovider.Instance, error) {
	if since := m.Now().Sub(start); since >= 32*time.Hour && since < 33*time.Hour {
		_ = req.Options[len(req.Options)] // what such faults are like
	}
	return m.Cloud.Create(ctx, req)
}
