package main

import (
	"flag"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/dovetail-sdk/dovetail/benchmarks/internal/family"
	"github.com/dovetail-sdk/dovetail/benchmarks/internal/snapshot"
	"github.com/dovetail-sdk/dovetail/internal/kubescheduler"
	"github.com/dovetail-sdk/dovetail/internal/testlong"
	"github.com/dovetail-sdk/dovetail/provisioning"
)

var schedulers = flag.String("kubescheduler", "", "programs of kubescheduler, as MINOR=PATH, separated by commas")

// kube-scheduler binds the pods of the plans of all families in the order of the plan, each new
// node being the cheapest or the dearest of its options.
func TestKubeSchedulerBindsFamilies(t *testing.T) {
	all := kubescheduler.ForTest(t, *schedulers)
	bound := 0
	specs := planSpecs()
	specs = specs[:testlong.Seeds(5, len(specs))]
	for seed := range testlong.Seeds(12, 60) {
		specs = append(specs, family.Spec{Family: "constrained", Pods: 60, Nodes: seed % 3 * 10, Types: "aws", Seed: uint64(seed) + 1})
	}
	for _, spec := range specs {
		s, err := family.Generate(spec)
		require.NoError(t, err)
		in, err := snapshot.Input(s)
		require.NoError(t, err)
		in = kubescheduler.WithoutSharedClaims(kubescheduler.Started(in))
		for _, quick := range []bool{false, true} {
			options := snapshot.Options(s)
			options.Quick = quick
			plan, err := provisioning.Solve(t.Context(), in, options)
			require.NoError(t, err)
			for _, o := range all {
				refused, err := o.Refusals(in, plan, func(options int) int {
					if quick {
						return options - 1
					}
					return 0
				})
				require.NoError(t, err)
				bound += len(plan.Order)
				for _, r := range slices.Collect(slices.Chunk(refused, 3))[:min(1, len(refused))] {
					t.Errorf("%s: %s, quick %t: %d refused: %v", o.Minor, spec.Name(), quick, len(refused), r)
				}
			}
		}
	}
	t.Logf("%d pods bound", bound)
}
