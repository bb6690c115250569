package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/dovetail-sdk/dovetail/examples/internal/command"

	"github.com/dovetail-sdk/dovetail/internal/testlong"
)

// probe measures the page as a browser lays it out, and writes what it finds into
// the title, where --dump-dom shows it.
const probe = `<script>
const plots = [...document.querySelectorAll("svg")].map(svg => {
  const box = svg.getBoundingClientRect();
  const shapes = [...svg.querySelectorAll(".area, path.line")].filter(s => s.getBoundingClientRect().width > 0);
  const painted = shapes.every(s => { const c = getComputedStyle(s); return (s.classList.contains("line") ? c.stroke : c.fill) !== "none"; });
  const letters = [...svg.querySelectorAll("text")].map(t => t.getBoundingClientRect().height);
  return {Width: box.width, Height: box.height, Shapes: shapes.length, Painted: painted, Letters: Math.min(...letters)};
});
document.title = "probe " + JSON.stringify({Plots: plots, Width: document.documentElement.scrollWidth, Window: innerWidth,
  Cut: [...document.querySelectorAll(".wide")].filter(w => w.scrollWidth > w.clientWidth).length}) + " end";
</script>`

// TestBrowser opens the report in a browser, as wide as a phone and as a desk:
// every plot is painted, letters can be read, and nothing is wider than the
// window.
func TestBrowser(t *testing.T) {
	browser := ""
	for _, name := range []string{"chromium", "google-chrome", "chrome"} {
		if path, err := exec.LookPath(name); err == nil && browser == "" {
			browser = path
		}
	}
	if browser == "" {
		t.Skip("no chromium in PATH: nobody has seen the report")
	}
	if testlong.UnderRace {
		t.Skip("a browser has no races of ours")
	}
	if _, err := render(t, browser, "about:blank", 500); err != nil {
		t.Skipf("%s does not run here, so nobody has seen the report: %v", browser, err)
	}
	file := filepath.Join(t.TempDir(), "report.html")
	code, _, stderr := call("-hours", "4", "-html", file)
	require.Equal(t, command.OK, code, stderr)
	page, err := os.ReadFile(file)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(file, append(page, probe...), 0o666))
	for _, width := range []int{500, 1200} { // a window is not made narrower than 500
		seen := look(t, browser, file, width)
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

// probed is what the probe finds.
type probed struct {
	Plots []struct {
		Width, Height float64
		Shapes        int
		Painted       bool
		Letters       float64
	}
	Width, Window float64
	Cut           int // tables wider than their place
}

// look lets a browser lay the page out.
func look(t *testing.T, browser, file string, width int) (seen probed) {
	dom, err := render(t, browser, "file://"+file, width)
	require.NoError(t, err)
	_, after, found := strings.Cut(dom, "<title>probe ")
	require.True(t, found, "the browser ran no script")
	text, _, _ := strings.Cut(after, " end</title>")
	require.NoError(t, json.Unmarshal([]byte(text), &seen), text)
	return seen
}

// render returns a page as the browser has it after running its scripts.
func render(t *testing.T, browser, url string, width int) (string, error) {
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	profile, err := os.MkdirTemp("", "autoscaler-browser-")
	require.NoError(t, err)
	defer os.RemoveAll(profile) // what is left of a browser that is slow to go does not matter
	dom, err := exec.CommandContext(ctx, browser, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--user-data-dir="+profile,
		fmt.Sprintf("--window-size=%d,2000", width), "--dump-dom", url).Output()
	return string(dom), err
}
