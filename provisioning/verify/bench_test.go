package verify_test

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"github.com/dovetail-sdk/dovetail/provisioning"
	"github.com/dovetail-sdk/dovetail/provisioning/internal/scenes"
	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
	"github.com/dovetail-sdk/dovetail/provisioning/resources"
	"github.com/dovetail-sdk/dovetail/provisioning/verify"
)

// benchmarkVerify judges the plan of Solve for an input, as changed.
func benchmarkVerify(b *testing.B, in provisioning.Input, change func(*provisioning.Plan)) {
	plan, err := provisioning.Solve(context.Background(), in, nil)
	if err != nil {
		b.Fatal(err)
	}
	change(plan)
	b.ReportAllocs()
	for b.Loop() {
		if found := verify.Plan(in, plan, nil); len(found) > 0 {
			b.Fatal(found[0])
		}
	}
	b.ReportMetric(float64(len(in.Pods))*float64(b.N)/b.Elapsed().Seconds(), "pods/s")
	b.ReportMetric(float64(len(plan.Create)), "nodes")
}

func BenchmarkPlan(b *testing.B) {
	same := func(*provisioning.Plan) {}
	for _, size := range []struct{ pods, types int }{{1000, 700}, {5000, 700}, {20000, 989}} {
		in := scenes.Generic(size.pods, size.types)
		b.Run(fmt.Sprintf("family=generic/pods=%d/types=%d", size.pods, size.types), func(b *testing.B) {
			benchmarkVerify(b, in, same)
		})
	}
	// Nodes of a plan that was read from a file share no lists.
	b.Run("family=generic-unshared/pods=5000/types=700", func(b *testing.B) {
		benchmarkVerify(b, scenes.Generic(5000, 700), unshare)
	})
	// Pods that select make for many ways to look at the catalog.
	b.Run("family=selecting/pods=5000/types=700", func(b *testing.B) {
		benchmarkVerify(b, selectingInput(5000, 700), same)
	})
}

// unshare gives each new node a list of options of its own.
func unshare(plan *provisioning.Plan) {
	for i := range plan.Create {
		plan.Create[i].Options = slices.Clone(plan.Create[i].Options)
	}
}

// selectingInput is genericInput with pods that select zones, architectures and
// systems, in each combination.
func selectingInput(pods, types int) provisioning.Input {
	in := scenes.Generic(pods, types)
	zones := map[string]bool{}
	for _, t := range in.InstanceTypes["default"] {
		for i := range t.Offerings {
			zones[t.Offerings[i].Zone] = true
		}
	}
	names := make([]string, 0, len(zones))
	for zone := range zones {
		names = append(names, zone)
	}
	slices.Sort(names)
	for i, pod := range in.Pods {
		pod.Spec.NodeSelector = map[string]string{}
		if i%3 > 0 {
			pod.Spec.NodeSelector[corev1.LabelArchStable] = []string{"amd64", "arm64"}[i%3-1]
		}
		if zone := i / 3 % (len(names) + 1); zone > 0 {
			pod.Spec.NodeSelector[corev1.LabelTopologyZone] = names[zone-1]
		}
		if i/20%2 == 0 {
			pod.Spec.NodeSelector[corev1.LabelOSStable] = "linux"
		}
	}
	return in
}

// spreadScene returns a plan of nodes in zones a and b in turn, each with a pod of
// every workload. Pods are spread over zones and hosts, half of the workloads
// keep their pods apart, and some follow others.
func spreadScene(nodes, workloads int) *scene {
	s := newScene()
	// As many nodes exist as are to be launched.
	s.In.Nodes, s.In.Pods, s.Plan.Create, s.Plan.Bind, s.Plan.Unplaced = nil, nil, nil, nil, nil
	for i := range nodes {
		zone := []string{"a", "b"}[i%2]
		node := provisioning.Node{Node: scenes.Node(fmt.Sprintf("node-%05d", i), map[string]string{corev1.LabelTopologyZone: zone})}
		n := provisioning.NewNode{
			Name: fmt.Sprintf("general-%05d", i), Pool: s.General, Requirements: requirements.MustParse("kubernetes.io/arch = amd64"),
			Daemons: resources.MustParse("cpu=100m, memory=64Mi, pods=1"),
		}
		n.Options = scenes.Options(s.Large)
		for w := range workloads {
			for _, kind := range []string{"present", "web"} {
				pod := scenes.Pod(fmt.Sprintf("%s-%05d-%02d", kind, i, w), "1m", "1Mi")
				scenes.Team(fmt.Sprintf("team-%02d", w), pod)
				spread(pod, corev1.LabelTopologyZone, 1)
				spread(pod, corev1.LabelHostname, 1)
				if w%2 == 0 {
					scenes.Avoid(pod, scenes.AffinityTerm(corev1.LabelHostname, pod.Labels["team"]))
				}
				if w%5 == 1 {
					scenes.Follow(pod, scenes.AffinityTerm(corev1.LabelHostname, fmt.Sprintf("team-%02d", w-1)))
				}
				if kind == "present" {
					node.Pods = append(node.Pods, pod)
				} else {
					n.Pods = append(n.Pods, pod)
				}
			}
		}
		s.In.Nodes = append(s.In.Nodes, node)
		s.Plan.Create = append(s.Plan.Create, n)
		s.pin(&s.Plan.Create[i], zone)
		s.In.Pods = append(s.In.Pods, n.Pods...)
		for _, pod := range n.Pods {
			requests, _ := resources.PodRequests(pod)
			s.Plan.Create[i].Requests, _ = s.Plan.Create[i].Requests.Add(requests)
		}
		s.Plan.Cost += n.Price()
	}
	s.Plan.Cost, s.Plan.LowerBound, s.Plan.Stats.Pods = 0.2*float64(nodes), 0, len(s.In.Pods)
	s.Reorder()
	return s
}

func TestSpreadScene(t *testing.T) {
	s := spreadScene(20, 10)
	require.Empty(t, verify.Plan(s.In, s.Plan, nil))
	last := len(s.Plan.Order) - 1
	s.Plan.Create[0].Pods[0].Labels["team"] = "team-01"
	require.NotEmpty(t, verify.Plan(s.In, s.Plan, nil))
	require.Contains(t, s.Plan.Order[last].Name, "web-00019-09")
}

func BenchmarkConstraints(b *testing.B) {
	for _, nodes := range []int{100, 500} {
		s := spreadScene(nodes, 10)
		b.Run(fmt.Sprintf("family=spread/pods=%d/nodes=%d", 10*nodes, 2*nodes), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if found := verify.Plan(s.In, s.Plan, nil); len(found) > 0 {
					b.Fatal(found[0])
				}
			}
		})
	}
}
