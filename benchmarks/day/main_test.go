package main

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"
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
