//go:build unix

package provisioning_test

import (
	"context"
	"fmt"
	"syscall"
	"testing"
	"time"

	"github.com/dovetail-sdk/dovetail/provisioning"
)

// processorTime is how long this program has had a processor.
func processorTime(b *testing.B) time.Duration {
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		b.Fatal(err)
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
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
