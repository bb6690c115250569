package main

import (
	"fmt"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/benchmarks/internal/family"
	"github.com/dovetail-sdk/dovetail/benchmarks/internal/snapshot"
	"github.com/dovetail-sdk/dovetail/disruption"
	"github.com/dovetail-sdk/dovetail/disruption/compare"
	"github.com/dovetail-sdk/dovetail/provisioning/advice"
)

// runs is a cluster of so many nodes as a side of a comparison.
func runs(b *testing.B, nodes int) (compare.Side, *family.Spec) {
	spec := family.Spec{Family: "consolidate", Types: "aws", Nodes: nodes, Seed: 1}
	s := generate(b, spec)
	in, err := snapshot.Input(s)
	require.NoError(b, err)
	return compare.Side{Input: disruption.Input{Input: in, PodDisruptionBudgets: s.PodDisruptionBudgets},
		Options: &disruption.Options{Provisioning: snapshot.Options(s)}}, &spec
}

// BenchmarkCompare follows a cluster as it is, and with ARM machines allowed everywhere.
func BenchmarkCompare(b *testing.B) {
	for _, nodes := range []int{100, 500, 5000} {
		b.Run(fmt.Sprintf("nodes=%d", nodes), func(b *testing.B) {
			before, spec := runs(b, nodes)
			policies := before.Policies()
			policies.NodePools = nil
			for _, p := range before.Input.NodePools {
				p = p.DeepCopy()
				for i := range p.Spec.Template.Spec.Requirements {
					if r := &p.Spec.Template.Spec.Requirements[i]; r.Key == corev1.LabelArchStable {
						r.Values = []string{v1.ArchitectureAmd64, v1.ArchitectureArm64}
					}
				}
				policies.NodePools = append(policies.NodePools, p)
			}
			after, err := before.With(policies)
			require.NoError(b, err)
			now, used := generate(b, *spec).Now, processorTime(b)
			for b.Loop() {
				c, err := compare.Compare(b.Context(), now, before, after, &compare.Options{Parallel: 2})
				require.NoError(b, err)
				b.ReportMetric(float64(len(c.Old.Settled.Rounds)+len(c.New.Settled.Rounds)), "rounds")
				b.ReportMetric(float64(len(c.Differences)), "differences")
			}
			b.ReportMetric((processorTime(b)-used)/float64(b.N), "cpu-s/op")
		})
	}
}

// BenchmarkAdvice asks what the constraints of a cluster cost that is planned from empty.
func BenchmarkAdvice(b *testing.B) {
	for _, nodes := range []int{100, 500, 5000} {
		b.Run(fmt.Sprintf("nodes=%d", nodes), func(b *testing.B) {
			s, spec := runs(b, nodes)
			in, err := compare.Emptied(generate(b, *spec).Now, s)
			require.NoError(b, err)
			used := processorTime(b)
			for b.Loop() {
				r, err := advice.Ask(b.Context(), in.Input, &advice.Options{Provisioning: s.Options.Provisioning, Parallel: 2})
				require.NoError(b, err)
				b.ReportMetric(float64(r.Pods), "pods")
				b.ReportMetric(float64(len(advice.Constraints(in.Input))), "constraints")
				b.ReportMetric(float64(r.Steps), "steps")
			}
			b.ReportMetric((processorTime(b)-used)/float64(b.N), "cpu-s/op")
		})
	}
}

// BenchmarkAdviceOfFew asks the same of more than 5,000 pods where forty constraints are left,
// beside what is requested.
func BenchmarkAdviceOfFew(b *testing.B) {
	s, spec := runs(b, 600)
	in, err := compare.Emptied(generate(b, *spec).Now, s)
	require.NoError(b, err)
	var left []advice.Constraint
	for _, c := range advice.Constraints(in.Input) {
		if c.Kind != advice.KindRequest {
			left = append(left, c)
		}
	}
	for i, c := range left {
		if i*40/len(left) == (i+1)*40/len(left) {
			in.Input = c.Without(in.Input)
		}
	}
	used := processorTime(b)
	for b.Loop() {
		r, err := advice.Ask(b.Context(), in.Input, &advice.Options{Provisioning: s.Options.Provisioning, Parallel: 2})
		require.NoError(b, err)
		b.ReportMetric(float64(r.Pods), "pods")
		b.ReportMetric(float64(r.Free+len(r.Prices)+len(r.Needed)), "asked")
		b.ReportMetric(float64(r.Steps), "steps")
	}
	b.ReportMetric((processorTime(b)-used)/float64(b.N), "cpu-s/op")
}

// processorTime is how many seconds of processors this process has used. It grows little when
// others use the machine as well, as the time on the wall does.
func processorTime(b *testing.B) float64 {
	var usage syscall.Rusage
	require.NoError(b, syscall.Getrusage(syscall.RUSAGE_SELF, &usage))
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano()).Seconds()
}
