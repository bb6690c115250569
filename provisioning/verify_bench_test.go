package provisioning_test

import (
	"context"
	"fmt"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/dovetail-sdk/dovetail/provisioning"
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
		if found := provisioning.Verify(in, plan, nil); len(found) > 0 {
			b.Fatal(found[0])
		}
	}
	b.ReportMetric(float64(len(in.Pods))*float64(b.N)/b.Elapsed().Seconds(), "pods/s")
	b.ReportMetric(float64(len(plan.Create)), "nodes")
}

func BenchmarkVerify(b *testing.B) {
	same := func(*provisioning.Plan) {}
	for _, size := range []struct{ pods, types int }{{1000, 700}, {5000, 700}, {20000, 989}} {
		in := genericInput(size.pods, size.types)
		b.Run(fmt.Sprintf("family=generic/pods=%d/types=%d", size.pods, size.types), func(b *testing.B) {
			benchmarkVerify(b, in, same)
		})
	}
	// Nodes of a plan that was read from a file share no lists.
	b.Run("family=generic-unshared/pods=5000/types=700", func(b *testing.B) {
		benchmarkVerify(b, genericInput(5000, 700), unshare)
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
	in := genericInput(pods, types)
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
