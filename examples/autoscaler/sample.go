package main

import (
	_ "embed"
	"math"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/examples/internal/simcluster"
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
func sampleDaemon() *corev1.Pod {
	p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "kube-system", Name: "agent", Labels: map[string]string{simcluster.AppLabel: "agent"},
		OwnerReferences: []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "DaemonSet", Name: "agent", Controller: new(true)}}}}
	p.Spec = simcluster.PodSpec("cpu=100m, memory=200Mi")
	p.Spec.Tolerations = []corev1.Toleration{{Operator: corev1.TolerationOpExists}}
	p.Status.Phase = corev1.PodRunning
	return p
}
