//go:build unix

package provisioning_test

import (
	"context"
	"fmt"
	"slices"
	"syscall"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/dovetail-sdk/dovetail/provisioning"
	"github.com/dovetail-sdk/dovetail/provisioning/internal/scenes"
)

// BenchmarkScale compiles and solves problems that are large in one way only, each at
// three sizes, of which each is about three times the one before: what grows with the
// square shows. CPU time is reported beside wall-clock time.
func BenchmarkScale(b *testing.B) {
	for _, c := range []struct {
		name  string
		sizes []int
		input func(n int) provisioning.Input
	}{
		{"requests", []int{1_000, 3_000, 10_000}, manyRequests},
		{"spreads", []int{2_000, 6_000, 20_000}, manySpreads},
		{"terms", []int{1_000, 3_000, 10_000}, manyTerms},
		{"values", []int{1_000, 3_000, 10_000}, manyValues},
	} {
		for _, n := range c.sizes {
			b.Run(fmt.Sprintf("of=%s/n=%d", c.name, n), func(b *testing.B) {
				in := c.input(n)
				began := processorTime(b)
				var plan *provisioning.Plan
				for b.Loop() {
					var err error
					if plan, err = provisioning.Solve(context.Background(), in, nil); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(float64((processorTime(b)-began).Microseconds())/1000/float64(b.N), "cpu-ms/op")
				b.ReportMetric(float64(plan.Stats.Steps), "steps")
				b.ReportMetric(float64(len(plan.Unplaced)), "left")
			})
		}
	}
}

// processorTime is how long this program has had a processor.
func processorTime(b *testing.B) time.Duration {
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		b.Fatal(err)
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}

// manyRequests are pods of which no two ask for the same.
func manyRequests(n int) provisioning.Input {
	in := scenes.Generic(0, 700)
	for i := range n {
		in.Pods = append(in.Pods, scenes.Pod(fmt.Sprintf("pod-%05d", i), fmt.Sprintf("%dm", 100+i%997), fmt.Sprintf("%dMi", 128+i/7)))
	}
	return in
}

// manySpreads are pods that are spread over zones, each by a constraint of its own.
func manySpreads(n int) provisioning.Input {
	in := scenes.Generic(0, 700)
	for i := range n {
		pod := scenes.Pod(fmt.Sprintf("pod-%05d", i), "250m", "512Mi")
		pod.Labels = map[string]string{"app": pod.Name}
		pod.Spec.TopologySpreadConstraints = []corev1.TopologySpreadConstraint{{
			MaxSkew: 1, TopologyKey: corev1.LabelTopologyZone, WhenUnsatisfiable: corev1.DoNotSchedule,
			LabelSelector: &metav1.LabelSelector{MatchLabels: pod.Labels},
		}}
		in.Pods = append(in.Pods, pod)
	}
	return in
}

// manyTerms returns one pod with the given number of terms of required node affinity, of which the last holds.
func manyTerms(n int) provisioning.Input {
	terms := make([]corev1.NodeSelectorTerm, n)
	for i := range terms {
		value := fmt.Sprintf("zone-%05d", i)
		if i == n-1 {
			value = "us-east-1a"
		}
		terms[i].MatchExpressions = []corev1.NodeSelectorRequirement{{Key: corev1.LabelTopologyZone, Operator: corev1.NodeSelectorOpIn, Values: []string{value}}}
	}
	return withAffinity(terms)
}

// manyValues returns one pod with a requirement of the given number of values, of which the last is there.
func manyValues(n int) provisioning.Input {
	values := make([]string, n)
	for i := range values {
		values[i] = fmt.Sprintf("zone-%05d", i)
	}
	values[n-1] = "us-east-1a"
	slices.Sort(values)
	return withAffinity([]corev1.NodeSelectorTerm{{MatchExpressions: []corev1.NodeSelectorRequirement{{
		Key: corev1.LabelTopologyZone, Operator: corev1.NodeSelectorOpIn, Values: values,
	}}}})
}

func withAffinity(terms []corev1.NodeSelectorTerm) provisioning.Input {
	in := scenes.Generic(0, 700)
	pod := scenes.Pod("picky", "250m", "512Mi")
	pod.Spec.Affinity = &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{
		RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{NodeSelectorTerms: terms},
	}}
	in.Pods = []*corev1.Pod{pod}
	return in
}

// BenchmarkRounds derives the problem of the next moment, in which five nodes and fifty
// pending pods are others, and solves it quickly. The pods have no constraints, or are of five
// workloads that are spread over zones and select their nodes.
func BenchmarkRounds(b *testing.B) {
	for _, size := range []struct{ nodes, bound int }{{1_500, 20_000}, {5_000, 60_000}, {15_000, 200_000}} {
		for _, kind := range []string{"plain", "spread"} {
			b.Run(fmt.Sprintf("nodes=%d/bound=%d/pods=%s", size.nodes, size.bound, kind), func(b *testing.B) {
				rounds(b, crowdedCluster(size.nodes, size.bound), kind == "spread")
			})
		}
	}
}

func rounds(b *testing.B, in provisioning.Input, spread bool) {
	problem, err := provisioning.Prepare(in, &provisioning.Options{Quick: true})
	if err != nil {
		b.Fatal(err)
	}
	var compiling, solving time.Duration
	round := 0
	for b.Loop() {
		round++
		in.Nodes, in.Pods = nextMoment(in, round)
		if spread {
			spreadOverZones(in.Pods)
		}
		began := processorTime(b)
		if problem, err = problem.WithInput(in); err != nil {
			b.Fatal(err)
		}
		compiled := processorTime(b)
		if _, err := problem.Solve(context.Background()); err != nil {
			b.Fatal(err)
		}
		compiling, solving = compiling+compiled-began, solving+processorTime(b)-compiled
	}
	b.ReportMetric(float64(compiling.Microseconds())/1000/float64(b.N), "compile-cpu-ms/op")
	b.ReportMetric(float64(solving.Microseconds())/1000/float64(b.N), "solve-cpu-ms/op")
}
