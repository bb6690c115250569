package disruption_test

import (
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/disruption"
)

// halfFull returns a cluster of 200 types in three zones, whose nodes are 20% to 60%
// full of pods of 40 sizes, some of which ask for their zone.
func halfFull(nodes int) disruption.Input {
	m := newMaker(7)
	var types []*cloudprovider.InstanceType
	for i := range 200 {
		cpu := []int64{2, 4, 8, 16}[i%4]
		price := float64(cpu) * (0.04 + 0.02*m.Float64())
		var offerings []cloudprovider.Offering
		for _, zone := range []string{"a", "b", "c"} {
			offerings = append(offerings, onDemand(zone, price))
		}
		types = append(types, sizedType(fmt.Sprintf("t%03d", i), cpu, price, offerings...))
	}
	in := fleetOf(types)
	for i := range nodes {
		name := fmt.Sprintf("n%05d", i)
		zone := pick(m, "a", "b", "c")
		t := types[m.IntN(len(types))]
		n := with(machine(name, "default", t), withLabel(corev1.LabelTopologyZone, zone))
		left := t.Capacity.Get(corev1.ResourceCPU) * int64(20+m.IntN(40)) / 100
		for j := 0; j < 12; j++ {
			size := 100 + 50*int64(m.IntN(40))
			if size > left {
				continue
			}
			left -= size
			p := load(fmt.Sprintf("p%05d-%02d", i, j), size)
			p.Spec.NodeName = name
			if m.chance(20) {
				p.Spec.NodeSelector = map[string]string{corev1.LabelTopologyZone: zone}
			}
			n.Pods = append(n.Pods, p)
		}
		in.Nodes = append(in.Nodes, n)
	}
	return in
}

func BenchmarkPropose(b *testing.B) {
	for _, nodes := range []int{100, 1000, 5000} {
		in := halfFull(nodes)
		b.Run(fmt.Sprintf("nodes=%d", nodes), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				p := propose(b, in, nil)
				b.ReportMetric(100*p.Savings()/p.CostBefore, "%saved")
			}
		})
	}
}

// BenchmarkPodDeletionCosts measures PodDeletionCosts with the CatalogCache of a proposal,
// and without one.
func BenchmarkPodDeletionCosts(b *testing.B) {
	for _, nodes := range []int{100, 1000, 5000} {
		in := halfFull(nodes)
		cache := propose(b, in, ignoringCosts()).CatalogCache
		for name, c := range map[string]*disruption.CatalogCache{"cached": cache, "uncached": nil} {
			in.CatalogCache = c
			f := observe(b, in, ignoringCosts())
			b.Run(fmt.Sprintf("nodes=%d/%s", nodes, name), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					f.PodDeletionCosts()
				}
			})
		}
	}
}

// BenchmarkWhatIf measures the time of one what-if: the removal of a single node.
func BenchmarkWhatIf(b *testing.B) {
	for _, nodes := range []int{100, 1000, 5000} {
		in := halfFull(nodes)
		b.Run(fmt.Sprintf("nodes=%d", nodes), func(b *testing.B) {
			f := observe(b, in, &disruption.Options{Consolidation: disruption.ConsolidationOptions{MinimumScore: 1e9}})
			looks := 0
			for b.Loop() {
				c, err := f.Consolidate(b.Context())
				if err != nil {
					b.Fatal(err)
				}
				looks = c.Stats.WhatIfs
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(max(looks, 1)), "ns/whatif")
			b.ReportMetric(float64(looks), "whatifs")
		})
	}
}

// BenchmarkFewCandidates proposes for a cluster in which all nodes but six may not
// be disrupted.
func BenchmarkFewCandidates(b *testing.B) {
	for _, nodes := range []int{100, 1000, 5000} {
		in := halfFull(nodes)
		for i := range in.Nodes[6:] {
			in.Nodes[6+i].Node.Annotations = map[string]string{v1.DoNotDisruptAnnotationKey: "true"}
		}
		b.Run(fmt.Sprintf("nodes=%d", nodes), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				p := propose(b, in, nil)
				b.ReportMetric(float64(p.Stats.Simulations), "solves")
				b.ReportMetric(p.Savings(), "$/h")
			}
		})
	}
}

// BenchmarkDrift proposes for a cluster in which one node in ten has drifted, with pods
// that are spread over zones, most of them evenly.
func BenchmarkDrift(b *testing.B) {
	for _, nodes := range []int{100, 1000, 5000} {
		in := halfFull(nodes)
		in.NodePools[0].Spec.Disruption.ConsolidationPolicy = v1.ConsolidationPolicyWhenEmpty
		in.Drift = map[string]cloudprovider.Drift{}
		k := 0
		for i := range in.Nodes {
			if i%10 == 0 {
				in.Drift[in.Nodes[i].NodeClaim.Name] = cloudprovider.Drift{Reason: "ImageDrift"}
			}
			for _, p := range in.Nodes[i].Pods {
				if k++; p.Spec.NodeSelector == nil && k%3 > 0 {
					spreading(fmt.Sprintf("app-%d", k%(nodes/2)), corev1.LabelTopologyZone)(p)
					p.Spec.TopologySpreadConstraints[0].MaxSkew = int32(1 + k%5)
				}
			}
		}
		b.Run(fmt.Sprintf("nodes=%d", nodes), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				p := propose(b, in, nil)
				b.ReportMetric(float64(len(p.Actions)), "actions")
			}
		})
	}
}

// herd returns a cluster of the given number of nodes. Every twentieth node is empty except
// for DaemonSet pods, and every tenth has drifted. Each node has twenty pods.
func herd(nodes int) disruption.Input {
	in := newInput()
	in.Drift = map[string]cloudprovider.Drift{}
	in.NodePools = []*v1.NodePool{newPool("web", budgetOf("10%"))}
	for i := range nodes {
		n := newNode(fmt.Sprintf("n%05d", i), "web")
		for j := range 20 {
			p := newPod(fmt.Sprintf("%s-%d", n.Name(), j))
			p.Labels = map[string]string{"app": fmt.Sprint(i % 100)}
			if i%20 == 0 {
				owner("apps/v1", "DaemonSet")(p)
			}
			n.Pods = append(n.Pods, p)
		}
		in.Nodes = append(in.Nodes, n)
		if i%10 == 3 {
			in.Drift[n.Name()+"-claim"] = cloudprovider.Drift{Reason: "AMIDrift"}
		}
	}
	for i := range 100 {
		b := newPDB(fmt.Sprintf("pdb-%d", i), 1)
		b.Spec.Selector.MatchLabels["app"] = fmt.Sprint(i)
		in.PodDisruptionBudgets = append(in.PodDisruptionBudgets, b)
	}
	return in
}

func BenchmarkObserve(b *testing.B) {
	for _, nodes := range []int{100, 1000, 5000} {
		in := herd(nodes)
		b.Run(fmt.Sprintf("nodes=%d", nodes), func(b *testing.B) {
			for b.Loop() {
				observe(b, in, nil)
			}
		})
	}
}

func BenchmarkActions(b *testing.B) {
	for _, nodes := range []int{100, 1000, 5000} {
		f := observe(b, herd(nodes), nil)
		b.Run(fmt.Sprintf("nodes=%d", nodes), func(b *testing.B) {
			for b.Loop() {
				if len(f.Pace(f.Actions().Actions).Go) == 0 {
					b.Fatal("nothing goes")
				}
			}
		})
	}
}

func BenchmarkCandidates(b *testing.B) {
	f := observe(b, herd(1000), nil)
	for _, m := range methods() {
		b.Run("method="+string(m), func(b *testing.B) {
			for b.Loop() {
				f.Candidates(m)
			}
		})
	}
	b.Run("next", func(b *testing.B) {
		for b.Loop() {
			if f.Next() != (time.Time{}) {
				b.Fatal("time changes nothing here")
			}
		}
	})
}
