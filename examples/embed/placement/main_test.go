package main

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/dovetail-sdk/dovetail/examples/internal/output"
)

// TestOutput holds what the program prints against the text that README.md shows.
func TestOutput(t *testing.T) {
	want, got := output.Of(t, main)
	require.Equal(t, want, got)
	for line := range strings.Lines(got) {
		require.LessOrEqual(t, len(strings.TrimSuffix(line, "\n")), 80, "%s", line)
	}
}
