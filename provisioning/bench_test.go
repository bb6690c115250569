package provisioning_test

import (
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/provisioning"
	"github.com/dovetail-sdk/dovetail/provisioning/internal/scenes"
	"github.com/dovetail-sdk/dovetail/provisioning/resources"
)

func BenchmarkSolve(b *testing.B) {
	for _, pods := range []int{100, 1000, 5000, 20000, 100000} {
		in := scenes.Generic(pods, 700)
		b.Run(fmt.Sprintf("family=generic/pods=%d/types=700", pods), func(b *testing.B) {
			problem, err := provisioning.Prepare(in, nil)
			if err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			var plan *provisioning.Plan
			for b.Loop() {
				if plan, err = problem.Solve(context.Background()); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(pods)*float64(b.N)/b.Elapsed().Seconds(), "pods/s")
			b.ReportMetric(plan.Cost/plan.LowerBound, "cost/bound")
			b.ReportMetric(float64(len(plan.Create)), "nodes")
		})
	}
}

func BenchmarkPrepare(b *testing.B) {
	for _, pods := range []int{1000, 5000, 100000} {
		in := scenes.Generic(pods, 700)
		b.Run(fmt.Sprintf("family=generic/pods=%d/types=700", pods), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := provisioning.Prepare(in, nil); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(pods)*float64(b.N)/b.Elapsed().Seconds(), "pods/s")
		})
	}
}

// BenchmarkOptions reports what each option makes of the same 1,000 pods: its
// figures are the ones in benchmarks/README.md.
func BenchmarkOptions(b *testing.B) {
	const generation = "karpenter.k8s.aws/instance-generation"
	zones := []corev1.TopologySpreadConstraint{{
		MaxSkew: 1, TopologyKey: corev1.LabelTopologyZone, WhenUnsatisfiable: corev1.ScheduleAnyway,
	}}
	older := &v1.NodeOverlay{ObjectMeta: metav1.ObjectMeta{Name: "older-generations"}}
	older.Spec.Requirements = []v1.NodeSelectorRequirement{{Key: generation, Operator: corev1.NodeSelectorOpLt, Values: []string{"7"}}}
	older.Spec.PriceAdjustment = new("+60%")
	for _, c := range []struct {
		name  string
		opts  provisioning.Options
		types int // few leave spot capacity little choice
	}{
		{"default", provisioning.Options{}, 700},
		{"newer", provisioning.Options{}, 700},
		{"fee=0.05", provisioning.Options{NodeFee: 0.05}, 700},
		{"fee=0.50", provisioning.Options{NodeFee: 0.5}, 700},
		{"on-demand=25%", provisioning.Options{CapacityMix: &provisioning.CapacityMix{OnDemandPercent: 25}}, 700},
		{"on-demand=base2", provisioning.Options{CapacityMix: &provisioning.CapacityMix{OnDemandBase: 2}}, 700},
		{"zones", provisioning.Options{DefaultSpread: zones}, 700},
		{"few-types", provisioning.Options{}, 30},
		{"few-types/flexibility=15", provisioning.Options{SpotFlexibility: 15}, 30},
		{"few-types/flexibility=40", provisioning.Options{SpotFlexibility: 40}, 30},
	} {
		b.Run(c.name, func(b *testing.B) {
			in := scenes.Generic(1000, c.types)
			for _, p := range in.Pods {
				p.Labels = map[string]string{"app": "web"}
			}
			service := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "web"}}
			service.Spec.Selector = map[string]string{"app": "web"}
			in.Services = []*corev1.Service{service}
			if c.name == "newer" {
				in.Overlays = []*v1.NodeOverlay{older}
			}
			var plan *provisioning.Plan
			for b.Loop() {
				var err error
				if plan, err = provisioning.Solve(context.Background(), in, &c.opts); err != nil {
					b.Fatal(err)
				}
			}
			spot, least, newer := 0, math.MaxInt, 0
			perZone := map[string]int{}
			for _, n := range plan.Create {
				perZone[n.Options[0].Offering.Zone] += len(n.Pods)
				if n.Options[0].Offering.CapacityType == v1.CapacityTypeSpot {
					spot += len(n.Pods)
				}
				if g, _ := n.Options[0].InstanceType.Requirements.Get(generation); g.String() >= generation+" = 7" {
					newer += len(n.Pods)
				}
				names := map[string]bool{}
				for _, o := range n.Options {
					names[o.InstanceType.Name] = true
				}
				least = min(least, len(names))
			}
			b.ReportMetric(plan.Cost, "USD/h")
			b.ReportMetric(plan.Cost/plan.LowerBound, "cost/bound")
			b.ReportMetric(plan.Cost/plan.PackingBound, "cost/packing-bound")
			b.ReportMetric(float64(len(plan.Create)), "nodes")
			b.ReportMetric(float64(spot)/10, "%spot")
			b.ReportMetric(float64(least), "types/node")
			b.ReportMetric(float64(newer)/10, "%generation7+")
			skew := slices.Max(slices.Collect(maps.Values(perZone)))
			b.ReportMetric(float64(skew)/10, "%in-fullest-zone")
		})
	}
}

// busyCluster returns a cluster of nodes of one pool, each with a few pods of 50
// bin types and some room left.
func busyCluster(nodes int) provisioning.Input {
	in := scenes.Generic(0, 700)
	pods := scenes.Generic(nodes*8, 700).Pods
	for i := range nodes {
		name := fmt.Sprintf("node-%05d", i)
		zone := string(rune('a' + i%3))
		node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{
			corev1.LabelHostname: name, corev1.LabelInstanceTypeStable: "m5.2xlarge", corev1.LabelTopologyZone: "us-east-1" + zone,
			corev1.LabelArchStable: "amd64", corev1.LabelOSStable: "linux", v1.CapacityTypeLabelKey: v1.CapacityTypeOnDemand,
			v1.NodePoolLabelKey: "default", v1.NodeRegisteredLabelKey: "true", v1.NodeInitializedLabelKey: "true",
		}}}
		node.Status.Allocatable = resources.MustParse("cpu=7900m, memory=29Gi, pods=58").ResourceList()
		node.Status.Capacity = node.Status.Allocatable
		for _, p := range pods[8*i : 8*i+8] {
			p.Spec.NodeName = name
		}
		in.Nodes = append(in.Nodes, provisioning.Node{Node: node, Pods: pods[8*i : 8*i+8 : 8*i+8]})
	}
	return in
}

// BenchmarkWithout asks what becomes of the pods of one node after another.
func BenchmarkWithout(b *testing.B) {
	for _, nodes := range []int{100, 1000, 5000} {
		in := busyCluster(nodes)
		b.Run(fmt.Sprintf("nodes=%d", nodes), func(b *testing.B) {
			problem, err := provisioning.Prepare(in, nil)
			if err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			i := 0
			for b.Loop() {
				without, err := problem.Without(in.Nodes[i%nodes].Name())
				if err != nil {
					b.Fatal(err)
				}
				if _, err := without.Solve(context.Background()); err != nil {
					b.Fatal(err)
				}
				i++
			}
		})
	}
}
