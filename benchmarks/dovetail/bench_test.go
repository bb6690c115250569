package main

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/dovetail-sdk/dovetail/benchmarks/internal/family"
	"github.com/dovetail-sdk/dovetail/benchmarks/internal/snapshot"
	"github.com/dovetail-sdk/dovetail/provisioning"
)

// benched are the scenarios of the Go benchmarks, which benchstat can compare
// between commits:
//
//	go test ./dovetail -run '^$' -bench Solve -count 6 > new.txt
func benched() []family.Spec {
	return []family.Spec{
		{Family: "generic", Types: "fake400", Pods: 5000, Seed: 1},
		{Family: "diverse", Types: "fake400", Pods: 1000, Seed: 1},
		{Family: "production", Types: "aws", Pods: 1000, Seed: 1},
		{Family: "production", Types: "aws", Pods: 5000, Seed: 1},
		{Family: "diverse", Types: "fake400", Pods: 5000, Seed: 1},
		{Family: "mixedexisting", Types: "aws", Pods: 500, Nodes: 100, Seed: 1},
	}
}

func each(b *testing.B, run func(b *testing.B, in provisioning.Input, options *provisioning.Options)) {
	for _, spec := range benched() {
		b.Run(fmt.Sprintf("family=%s/pods=%d/nodes=%d", spec.Family, spec.Pods, spec.Nodes), func(b *testing.B) {
			s := generate(b, spec)
			in, err := snapshot.Input(s)
			require.NoError(b, err)
			b.ReportAllocs()
			run(b, in, snapshot.Options(s))
			b.ReportMetric(float64(spec.Pods)*float64(b.N)/b.Elapsed().Seconds(), "pods/s")
		})
	}
}

func BenchmarkPrepare(b *testing.B) {
	each(b, func(b *testing.B, in provisioning.Input, options *provisioning.Options) {
		for b.Loop() {
			_, err := provisioning.Prepare(in, options)
			require.NoError(b, err)
		}
	})
}

func BenchmarkSolve(b *testing.B) {
	each(b, func(b *testing.B, in provisioning.Input, options *provisioning.Options) {
		problem, err := provisioning.Prepare(in, options)
		require.NoError(b, err)
		for b.Loop() {
			_, err := problem.Solve(context.Background())
			require.NoError(b, err)
		}
	})
}
