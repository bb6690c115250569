// Package browser renders HTML pages in a browser and measures them, for tests of the programs that
// write them.
package browser

import (
	"context"
	_ "embed"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"html"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/dovetail-sdk/dovetail/internal/testlong"
)

// probe is a script that measures the page it is part of, and sends the result to the page around
// its frame.
//
//go:embed probe.html
var probe string

// frame is a frame of a given size and colour scheme. The page in it is rendered as in a window of
// that size.
const frame = `<iframe name="%d" style="width: %dpx; height: 2000px; border: 0; color-scheme: %s" srcdoc="%s"></iframe>
`

// The page around the frames puts their results into its title, which --dump-dom prints.
const (
	before = "<!DOCTYPE html><title></title><script>var seen = []; onload = () => { document.title = `probe ${JSON.stringify(seen)} end` }</script>\n"
	begins = "<title>probe "
	ends   = " end</title>"
)

// Seen is the layout of a page, in pixels.
type Seen struct {
	Plots []struct {
		Width, Height float64
		Shapes        int
		Painted       bool
		Letters       float64 // the least height of a text
		Over          float64 // how far a text is over the right edge
	}
	Width, Window float64
	Cut           int    // number of tables that are wider than their place
	Paper, Ink    string // colours of the background and of the text
}

// windows are the sizes and colour schemes to test: a phone and a desk.
var windows = []struct {
	width  int
	scheme string // of colours
}{{500, "dark"}, {1200, "light"}}

// Look renders a page in a dark window of a phone and a light window of a desk, and fails the test
// unless the page sets its own colours in each, nothing is wider than the window, and every plot is
// painted with letters that can be read. It skips the test if no browser runs, and under the race
// detector.
func Look(t *testing.T, page []byte) (seen []Seen) {
	t.Helper()
	browser := find(t)
	text := html.EscapeString(string(page) + probe)
	frames := before
	for i, w := range windows {
		frames += fmt.Sprintf(frame, i, w.width, w.scheme, text)
	}
	file := filepath.Join(t.TempDir(), "page.html")
	require.NoError(t, os.WriteFile(file, []byte(frames), 0o600))
	dom, err := render(t, browser, "file://"+file)
	if err != nil {
		if _, err := render(t, browser, "about:blank"); err != nil {
			t.Skipf("%s does not run here, so nobody has seen the page: %v", browser, err)
		}
	}
	require.NoError(t, err)
	_, after, found := strings.Cut(dom, begins)
	require.True(t, found, "the browser ran no script")
	text, _, _ = strings.Cut(after, ends)
	require.NoError(t, json.Unmarshal([]byte(html.UnescapeString(text)), &seen), text)
	require.Len(t, seen, len(windows))
	paper := map[string]bool{}
	for _, s := range seen {
		paper[s.Paper] = true
		require.NotEqual(t, s.Paper, s.Ink)
		require.LessOrEqual(t, s.Width, s.Window, "nothing is cut off at the side")
		require.Zero(t, s.Cut, "tables are seen whole")
		for i, plot := range s.Plots {
			require.NotZero(t, plot.Shapes, i)
			require.True(t, plot.Painted, i)
			require.Greater(t, plot.Letters, 9.0, i)
		}
	}
	require.Len(t, paper, len(windows), "one page is light and one is dark")
	return seen
}

// Elements reads a picture to its end and counts its elements by name.
func Elements(t *testing.T, svg string) map[string]int {
	t.Helper()
	d := xml.NewDecoder(strings.NewReader(svg))
	elements := map[string]int{}
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return elements
		}
		require.NoError(t, err, svg)
		if start, ok := token.(xml.StartElement); ok {
			elements[start.Name.Local]++
			for _, a := range start.Attr {
				require.False(t, strings.HasPrefix(a.Value, "-"), "%s %s=%s", start.Name.Local, a.Name.Local, a.Value)
			}
		}
	}
}

func find(t *testing.T) string {
	t.Helper()
	if testlong.UnderRace {
		t.Skip("a browser has no races of ours")
	}
	for _, name := range []string{"chromium", "google-chrome", "chrome"} {
		if browser, err := exec.LookPath(name); err == nil {
			return browser
		}
	}
	t.Skip("no chromium in PATH: nobody has seen the page")
	return ""
}

// render returns the HTML of a page after the browser has run its scripts.
func render(t *testing.T, browser, url string) (string, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	profile, err := os.MkdirTemp("", "page-browser-")
	require.NoError(t, err)
	defer os.RemoveAll(profile) // what is left of a browser that is slow to go does not matter
	dom, err := exec.CommandContext(ctx, browser, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--user-data-dir="+profile,
		"--window-size=1300,2000", "--dump-dom", url).Output()
	return string(dom), err
}
