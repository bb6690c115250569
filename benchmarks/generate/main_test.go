package main

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/dovetail-sdk/dovetail/benchmarks/internal/family"
	"github.com/dovetail-sdk/dovetail/benchmarks/scenario"
)

func TestRun(t *testing.T) {
	file := filepath.Join(t.TempDir(), "s.json.gz")
	spec := family.Spec{Family: "generic10", Types: "fake5", Pods: 25, Seed: 1}
	require.NoError(t, run(spec, "", -1, file))
	s, err := scenario.ReadScenario(file)
	require.NoError(t, err)
	require.Equal(t, spec.Name(), s.Name)
	require.Len(t, s.Pods, 25)

	require.ErrorContains(t, run(spec, "", -1, ""), "-o is required")
	spec.Family = "x"
	require.ErrorContains(t, run(spec, "", -1, file), `no family "x"`)
}
