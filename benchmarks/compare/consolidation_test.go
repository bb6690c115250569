package main

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/dovetail-sdk/dovetail/benchmarks/internal/results"
)

func shrunken() *consolidation {
	return &consolidation{
		about: circumstances{Circumstances: results.Circumstances{Date: "2026-11-21", Machine: "m", Version: "go", Commit: "abc", Command: "make consolidate SIZES=full LIMIT=20m0s"}},
		limit: 20 * time.Minute,
		clusters: []*shrinking{{name: "consolidate-100", nodes: 100, cost: 40, entries: []shrunk{
			{contender: "dovetail abc", first: 0.25, seconds: 1.5, actions: 20, rounds: 4, nodes: 60, cost: 20, moved: 300, judged: 20, quiet: true},
			{contender: "karpenter v1", first: 2, seconds: 90, actions: 40, rounds: 41, nodes: 62, cost: 40, moved: 310, refused: 1, judged: 40},
			{contender: "broken v0", fault: errors.New("boom")},
		}}},
	}
}

func TestTheSectionOnConsolidation(t *testing.T) {
	text := shrunken().markdown()
	for _, want := range []string{
		"## Consolidation\n", "`make consolidate SIZES=full LIMIT=20m0s`", "Contenders: dovetail abc and karpenter v1 and broken v0.",
		"consolidate-100 (100 nodes at 40.00 USD/h)\n",
		"dovetail        0.25      1.50      20      4     60    20.00     300    15.0     0/20\n",
		"karpenter       2.00     90.00      40     41     62    40.00     310       -     1/40  not quiet\n",
		"broken      failed\n",
	} {
		require.Contains(t, text, want)
	}
	for line := range strings.Lines(text) {
		require.LessOrEqual(t, len(line), 110)
	}
}

// Each part of the file survives the other being written anew.
func TestPartsOfTheFileStay(t *testing.T) {
	path := filepath.Join(t.TempDir(), "RESULTS.md")
	require.NoError(t, shrunken().write(path))
	alone, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, shrunken().markdown(), string(alone))
	require.NoError(t, (&report{}).write(path))
	both, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, (&report{}).markdown()+"\n"+shrunken().markdown(), string(both))
	other := shrunken()
	other.about.Date = "2027-01-01"
	require.NoError(t, other.write(path))
	require.NoError(t, (&report{}).write(path))
	both, err = os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, (&report{}).markdown()+"\n"+other.markdown(), string(both))
	const foreign = "## On a control plane\n\nWritten by another command.\n"
	require.NoError(t, os.WriteFile(path, []byte(string(both)+"\n"+foreign), 0o600))
	require.NoError(t, shrunken().write(path))
	require.NoError(t, (&report{}).write(path))
	all, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, (&report{}).markdown()+"\n"+shrunken().markdown()+"\n"+foreign, string(all))
}

func TestWhatCannotBeConsolidated(t *testing.T) {
	require.ErrorContains(t, run(t.Context(), settings{consolidate: true, sizes: "vast"}), `-sizes is "vast"`)
	require.ErrorContains(t, run(t.Context(), settings{consolidate: true, sizes: "small", only: "("}), "-only")
}
