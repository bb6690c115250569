package main

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/dovetail-sdk/dovetail/examples/internal/browser"
)

// look opens the report in a browser, as wide as a phone and as a desk, light and
// dark: every plot is painted, letters can be read, and nothing is wider than the window.
func look(t *testing.T, page []byte) {
	t.Helper()
	for _, seen := range browser.Look(t, page) {
		require.Len(t, seen.Plots, 6)
		require.LessOrEqual(t, seen.Width, seen.Window, "nothing is cut off at the side")
		require.Zero(t, seen.Cut, "tables are seen whole")
		for i, plot := range seen.Plots {
			require.Greater(t, plot.Width, 300.0, i)
			require.Greater(t, plot.Height, 150.0, i)
			require.NotZero(t, plot.Shapes, i)
			require.True(t, plot.Painted, i)
			require.Greater(t, plot.Letters, 9.0, i)
		}
	}
}
