package main

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/dovetail-sdk/dovetail/examples/internal/command"
	"github.com/dovetail-sdk/dovetail/examples/internal/output"
	"github.com/dovetail-sdk/dovetail/internal/testlong"
)

// TestPage holds that the report needs nothing but itself, and that every plot is
// there and well-formed.
func TestPage(t *testing.T) {
	file := filepath.Join(t.TempDir(), "report.html")
	code, stdout, stderr := call("-hours", "3", "-html", file)
	require.Equal(t, command.OK, code, stderr)
	require.Contains(t, stdout, file)
	page, err := os.ReadFile(file)
	require.NoError(t, err)
	text := string(page)
	for _, foreign := range []string{"http:", "https:", "src=", "url(", "@import", "<script", "<link", "NaN", "Inf", "ZgotmplZ"} {
		require.False(t, strings.Contains(text, foreign), foreign)
	}
	plots := regexp.MustCompile(`(?s)<svg.*?</svg>`).FindAllString(text, -1)
	require.Len(t, plots, 6)
	for _, plot := range plots {
		shapes := wellFormed(t, plot)
		require.NotZero(t, shapes["path"]+shapes["rect"], plot)
		require.NotZero(t, shapes["text"])
	}
	for _, wanted := range []string{"the nightly report", "prefers-color-scheme: dark", "@media print", "@media (max-width: 32rem)", `name="viewport"`, "nothing was left on them"} {
		require.True(t, strings.Contains(text, wanted), wanted)
	}

	if testlong.UnderRace {
		return
	}
	again := filepath.Join(t.TempDir(), "report.html")
	call("-hours", "3", "-html", again)
	repeated, err := os.ReadFile(again)
	require.NoError(t, err)
	require.True(t, bytes.Equal(page, repeated), "the same flags make the same bytes")
}

// wellFormed reads a picture to its end and counts its elements.
func wellFormed(t *testing.T, text string) map[string]int {
	d := xml.NewDecoder(strings.NewReader(text))
	elements := map[string]int{}
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return elements
		}
		require.NoError(t, err)
		if start, ok := token.(xml.StartElement); ok {
			elements[start.Name.Local]++
			for _, a := range start.Attr {
				require.False(t, strings.HasPrefix(a.Value, "-"), "%s %s=%s", start.Name.Local, a.Name.Local, a.Value)
			}
		}
	}
}

// TestTextOfEmptyHistory holds that a report can be made of very little.
func TestTextOfEmptyHistory(t *testing.T) {
	r := &report{from: start, to: start.Add(time.Hour), journal: &journal{}, samples: []sample{{at: start.Add(time.Hour)}}}
	output.Fits(t, r.text())
	_, err := r.page()
	require.NoError(t, err)
}
