// Package browser looks at HTML pages as a browser lays them out, for tests of the programs
// that write them.
package browser

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
  const right = Math.max(...[...svg.querySelectorAll("text")].map(t => t.getBoundingClientRect().right));
  return {Width: box.width, Height: box.height, Shapes: shapes.length, Painted: painted, Letters: Math.min(...letters), Over: right - box.right};
});
document.title = "probe " + JSON.stringify({Plots: plots, Width: document.documentElement.scrollWidth, Window: innerWidth,
  Cut: [...document.querySelectorAll(".wide")].filter(w => w.scrollWidth > w.clientWidth).length,
  Paper: getComputedStyle(document.body).backgroundColor, Ink: getComputedStyle(document.body).color}) + " end";
</script>`

// Seen is a page as it was laid out, in pixels.
type Seen struct {
	Plots []struct {
		Width, Height float64
		Shapes        int
		Painted       bool
		Letters       float64 // the least height of a text
		Over          float64 // how far a text is over the right edge
	}
	Width, Window float64
	Cut           int    // tables wider than their place
	Paper, Ink    string // colours of the page and of its letters
}

// Needed skips a test that nobody can look for: where no browser runs, and under the race
// detector. Call it before the page is made.
func Needed(t *testing.T) {
	t.Helper()
	browser := find(t)
	if _, err := render(t, browser, "about:blank", 500, false); err != nil {
		t.Skipf("%s does not run here, so nobody has seen the page: %v", browser, err)
	}
}

// Look has a browser lay a page out in a window of a width, 500 at least, on a light or a dark
// screen. Call Needed first, which skips the test where no browser runs.
func Look(t *testing.T, page []byte, width int, dark bool) (seen Seen) {
	t.Helper()
	browser := find(t)
	file := filepath.Join(t.TempDir(), "page.html")
	require.NoError(t, os.WriteFile(file, append(page, probe...), 0o600))
	dom, err := render(t, browser, "file://"+file, width, dark)
	require.NoError(t, err)
	_, after, found := strings.Cut(dom, "<title>probe ")
	require.True(t, found, "the browser ran no script")
	text, _, _ := strings.Cut(after, " end</title>")
	require.NoError(t, json.Unmarshal([]byte(text), &seen), text)
	return seen
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

// render returns a page as the browser has it after running its scripts.
func render(t *testing.T, browser, url string, width int, dark bool) (string, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	profile, err := os.MkdirTemp("", "page-browser-")
	require.NoError(t, err)
	defer os.RemoveAll(profile) // what is left of a browser that is slow to go does not matter
	scheme := 1
	if dark {
		scheme = 0
	}
	dom, err := exec.CommandContext(ctx, browser, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--user-data-dir="+profile,
		fmt.Sprintf("--blink-settings=preferredColorScheme=%d", scheme), fmt.Sprintf("--window-size=%d,2000", width), "--dump-dom", url).Output()
	return string(dom), err
}
