package main

import (
	"context"
	"fmt"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/dovetail-sdk/dovetail/benchmarks/internal/family"
	"github.com/dovetail-sdk/dovetail/benchmarks/internal/snapshot"
	"github.com/dovetail-sdk/dovetail/provisioning"
)

// BenchmarkSmall solves small problems of every family, which a controller asks most often.
// It reports what the plan costs and how far that is above what is proven at least, pods
// without a place, steps, and the CPU time of one Solve: machines are busy with other
// things, and wall-clock time says how busy.
func BenchmarkSmall(b *testing.B) {
	for _, quick := range []bool{false, true} {
		for _, spec := range small() {
			mode := "default"
			if quick {
				mode = "quick"
			}
			b.Run(fmt.Sprintf("mode=%s/family=%s/pods=%d", mode, spec.Family, spec.Pods), func(b *testing.B) {
				solveSmall(b, spec, quick)
			})
		}
	}
}

// small are 100, 300 and 1,000 pods of each family that has pods to place.
func small() (specs []family.Spec) {
	for _, name := range family.Names() {
		for _, pods := range []int{100, 300, 1000} {
			spec := family.Spec{Family: name, Types: "fake400", Pods: pods, Seed: 1}
			switch name {
			case "consolidate":
				continue
			case "mixedexisting":
				spec.Types, spec.Nodes = "aws", pods/5
			case "constrained", "production":
				spec.Types = "aws"
			}
			specs = append(specs, spec)
		}
	}
	return specs
}

func solveSmall(b *testing.B, spec family.Spec, quick bool) {
	s := generate(b, spec)
	in, err := snapshot.Input(s)
	require.NoError(b, err)
	options := snapshot.Options(s)
	options.Quick = quick
	problem, err := provisioning.Prepare(in, options)
	require.NoError(b, err)
	plan, err := problem.Solve(context.Background()) // what is worked out once is not measured
	require.NoError(b, err)
	began := cpu(b)
	for b.Loop() {
		plan, err = problem.Solve(context.Background())
		require.NoError(b, err)
	}
	b.ReportMetric(float64((cpu(b)-began).Microseconds())/1000/float64(b.N), "cpu-ms/op")
	b.ReportMetric(plan.Cost, "USD/h")
	if plan.PackingBound > 0 {
		b.ReportMetric(100*(plan.Cost/plan.PackingBound-1), "%gap")
	}
	b.ReportMetric(float64(plan.Stats.Steps), "steps")
	b.ReportMetric(float64(len(plan.Unplaced)), "left")
}

// cpu is how long this program has had a processor.
func cpu(b *testing.B) time.Duration {
	var used syscall.Rusage
	require.NoError(b, syscall.Getrusage(syscall.RUSAGE_SELF, &used))
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}
