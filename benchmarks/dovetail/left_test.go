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
		"limit-left":    31, // a node may be larger by what is left of a limit
		"shared-node":   3,  // pods that must share a node are on one that is too small for all
	} {
		t.Run(name, func(t *testing.T) {
			require.LessOrEqual(t, len(solved(t, "left", name).Unplaced), most)
		})
	}
}

// TestDearer: clusters for which a cheaper plan had been made, and was not taken.
func TestDearer(t *testing.T) {
	for name, most := range map[string]float64{
		"later-attempt": 0.0771, // of two attempts that leave a pod over, the second is cheaper
	} {
		t.Run(name, func(t *testing.T) {
			require.LessOrEqual(t, solved(t, "cheaper", name).Cost, most)
		})
	}
}

// solved is a plan for a scenario of testdata that breaks no rule.
func solved(t *testing.T, dir, name string) *provisioning.Plan {
	t.Helper()
	s, err := scenario.ReadScenario(filepath.Join("testdata", dir, name+".json.gz"))
	require.NoError(t, err)
	in, err := snapshot.Input(s)
	require.NoError(t, err)
	opts := snapshot.Options(s)
	plan, err := provisioning.Solve(context.Background(), in, opts)
	require.NoError(t, err)
	require.Empty(t, verify.Plan(in, plan, opts))
	return plan
}
