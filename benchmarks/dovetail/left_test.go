package main

import (
	"context"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/dovetail-sdk/dovetail/benchmarks/internal/snapshot"
	"github.com/dovetail-sdk/dovetail/benchmarks/scenario"
	"github.com/dovetail-sdk/dovetail/provisioning"
	"github.com/dovetail-sdk/dovetail/provisioning/verify"
)

// TestLeftOver: clusters in which pods were left over that others can make room for.
func TestLeftOver(t *testing.T) {
	for name, most := range map[string]int{
		"spread-before": 1,  // a pod that came before those that its spread counts leans on nobody
		"few-for-many":  45, // a pod with anti-affinity over capacity type is in the way of three
		"long-search":   34, // what there is to find is not among the first that is tried
	} {
		t.Run(name, func(t *testing.T) {
			s, err := scenario.ReadScenario(filepath.Join("testdata", "left", name+".json.gz"))
			require.NoError(t, err)
			in, err := snapshot.Input(s)
			require.NoError(t, err)
			opts := snapshot.Options(s)
			plan, err := provisioning.Solve(context.Background(), in, opts)
			require.NoError(t, err)
			require.Empty(t, verify.Plan(in, plan, opts))
			require.LessOrEqual(t, len(plan.Unplaced), most)
		})
	}
}
