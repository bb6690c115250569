package main

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/dovetail-sdk/dovetail/examples/internal/browser"
	"github.com/dovetail-sdk/dovetail/examples/internal/command"
	"github.com/dovetail-sdk/dovetail/examples/internal/output"
	"github.com/dovetail-sdk/dovetail/internal/golden"
	"github.com/dovetail-sdk/dovetail/internal/testlong"
	"github.com/dovetail-sdk/dovetail/internal/twodays"
)

// night returns the first hours of the story: what the program prints, and the report that it
// writes.
func night(t *testing.T) (text string, page []byte) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "report.html")
	code, stdout, stderr := call("-hours", "4", "-html", file)
	require.Equal(t, command.OK, code, stderr)
	require.Empty(t, stderr)
	page, err := os.ReadFile(file)
	require.NoError(t, err)
	text, found := strings.CutSuffix(stdout, "\nThe report with plots is in "+file+".\n")
	require.True(t, found, stdout)
	return text, page
}

// TestNight holds what is printed, to the byte and within 80 columns, that the report needs
// nothing but itself, that every plot is there and well-formed, and what a browser makes of it.
func TestNight(t *testing.T) {
	if testlong.UnderRace {
		t.Skip("TestStory plays the same")
	}
	t.Parallel()
	printed, page := night(t)
	golden.Equal(t, printed, "golden", "night.txt")
	output.Fits(t, printed)
	text := string(page)
	for _, foreign := range []string{"http:", "https:", "src=", "url(", "@import", "<script", "<link", "NaN", "Inf", "ZgotmplZ"} {
		require.False(t, strings.Contains(text, foreign), foreign)
	}
	plots := regexp.MustCompile(`(?s)<svg.*?</svg>`).FindAllString(text, -1)
	require.Len(t, plots, 6)
	for _, plot := range plots {
		shapes := browser.Elements(t, plot)
		require.NotZero(t, shapes["path"]+shapes["rect"], plot)
		require.NotZero(t, shapes["text"])
	}
	for _, wanted := range []string{"the nightly report", "prefers-color-scheme: dark", "@media print", "@media (max-width: 32rem)", `name="viewport"`, "nothing was left on them"} {
		require.True(t, strings.Contains(text, wanted), wanted)
	}

	if testlong.On() {
		_, again := night(t)
		require.True(t, bytes.Equal(page, again), "the same flags make the same bytes")
	}
	t.Run("in a browser", func(t *testing.T) {
		for _, seen := range browser.Look(t, page) {
			require.Len(t, seen.Plots, 6)
			for i, plot := range seen.Plots {
				require.Greater(t, plot.Width, 300.0, i)
				require.Greater(t, plot.Height, 150.0, i)
			}
		}
	})
}

// TestTextOfEmptyHistory checks that a report can be made of very little.
func TestTextOfEmptyHistory(t *testing.T) {
	s, err := newSimulation(1, io.Discard, false)
	require.NoError(t, err)
	s.history.samples = []sample{{at: twodays.Start.Add(time.Hour)}}
	r := s.report(settings{})
	r.to = twodays.Start.Add(time.Hour)
	output.Fits(t, r.text())
	_, err = r.page()
	require.NoError(t, err)
}
