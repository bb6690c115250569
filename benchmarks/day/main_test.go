package main

import (
	"bytes"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/dovetail-sdk/dovetail/benchmarks/internal/life"
)

// play runs the program without kube-scheduler, which takes minutes to build.
func play(t *testing.T, c settings) string {
	var out bytes.Buffer
	c.kubescheduler = "none"
	require.NoError(t, run(t.Context(), c, &out))
	return out.String()
}

// TestSameBytes plays the same hour twice, and one of another seed.
func TestSameBytes(t *testing.T) {
	first := play(t, settings{traces: "hour", only: "dovetail", seed: 1})
	require.Contains(t, first, "| hour | dovetail |")
	require.Equal(t, first, play(t, settings{traces: "hour", only: "dovetail", seed: 1}))
	require.NotEqual(t, first, play(t, settings{traces: "hour", only: "dovetail", seed: 2}))
}

// TestUnknown names what is not there.
func TestUnknown(t *testing.T) {
	var out bytes.Buffer
	require.ErrorContains(t, run(t.Context(), settings{traces: "hour", only: "nobody", kubescheduler: "none"}, &out), `"nobody"`)
	require.ErrorContains(t, run(t.Context(), settings{traces: "year", kubescheduler: "none"}, &out), `"year"`)
}

// TestLimit plays the first minutes of a trace, and says so in the command.
func TestLimit(t *testing.T) {
	c := settings{traces: "two-days", only: "dovetail", seed: 1, limit: 10 * time.Minute, results: "R.md"}
	trace, err := c.trace("two-days", c.seed)
	require.NoError(t, err)
	require.Equal(t, 10*time.Minute, trace.Length)
	require.Equal(t, "go run ./day -trace two-days -seed 1 -limit 10m0s -only dovetail -o R.md", c.command())
}

// TestSeeds plays two seeds and reports their mean.
func TestSeeds(t *testing.T) {
	c := settings{traces: "hour", only: "dovetail", seed: 3, seeds: 2, kubescheduler: "none", results: "R.md"}
	require.Equal(t, "go run ./day -trace hour -seed 3 -seeds 2 -only dovetail -kubescheduler none -o R.md", c.command())
	one := contender{"dovetail", "", func() life.Start { return startDovetail(0, 0, false) }}
	var plays []*life.Figures
	for _, seed := range []uint64{3, 4} {
		figures, err := c.play(t.Context(), "hour", seed, one, nil)
		require.NoError(t, err)
		plays = append(plays, figures)
	}
	c.results = ""
	require.Equal(t, table([]row{{"hour", "dovetail", "", life.Mean(plays)}}), play(t, c))
	require.NotEqual(t, plays[0].Bill, plays[1].Bill)
	require.InDelta(t, (plays[0].Bill+plays[1].Bill)/2, life.Mean(plays).Bill, 1e-9)
}
