package main

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/dovetail-sdk/dovetail/benchmarks/internal/life"
	"github.com/dovetail-sdk/dovetail/benchmarks/internal/results"
)

func someRows() []row {
	a := &life.Figures{Bill: 12, FromEmpty: 10, Bound: 8, Evictions: 30, PodDays: 10, Lost: 1, Launches: 7, Median: 5 * time.Second, P99: time.Minute, EndRate: 0.3, EndFromEmpty: 0.2}
	b := &life.Figures{Bill: 15, FromEmpty: 10, Bound: 8, Evictions: 60, PodDays: 10, Pending: 2}
	return []row{{"churn", "dovetail", "", a}, {"churn", "dovetail", "2", b}, {"churn", "karpenter", "WhenEmpty", b}}
}

// TestSection writes a section, and leaves the others of the file alone.
func TestSection(t *testing.T) {
	about := results.Circumstances{Date: "2026-11-29", Machine: "m", Version: "go", Commit: "abc", Command: "go run ./day"}
	text := section(about, someRows(), "frontier.svg")
	require.Contains(t, text, "| churn | dovetail | 12.00 | +20.0% | +50.0% | 30 | 3.00 | 1 | 7 | 5s | 1m0s | 0.300 | +50.0% |\n")
	require.Contains(t, text, "| churn | karpenter WhenEmpty | 15.00 | +50.0% | +87.5% | 60 | 6.00 | 0 | 0 | 0s | 0s (2 pending) | 0.000 | - |\n")
	require.Contains(t, text, "](frontier.svg)")
	require.Contains(t, text, "Contenders: dovetail and karpenter v1.")
	file := filepath.Join(t.TempDir(), "RESULTS.md")
	require.NoError(t, os.WriteFile(file, []byte("# Results\n\n## A\n\na\n\n"+title+"\n\nold\n\n## B\n\nb\n"), 0o600))
	require.NoError(t, results.WriteSection(file, title, text))
	got, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Equal(t, "# Results\n\n## A\n\na\n\n"+text+"\n## B\n\nb\n", string(got))
}

// TestAgainst compares with the best setting that is no worse in the other figure.
func TestAgainst(t *testing.T) {
	rows := someRows()
	require.Equal(t, "| trace | dovetail against | bill at equal evictions | evictions at an equal bill |\n|---|---|--:|--:|\n"+
		"| churn | karpenter WhenEmpty | -20.0% | -50.0% |\n", against(rows))
	rows[2].figures = &life.Figures{Bill: 11, Evictions: 20, PodDays: 10}
	require.Contains(t, against(rows), "| churn | karpenter WhenEmpty | no setting | no setting |\n")
	require.Empty(t, against(rows[:2]))
}

// TestFrontier draws a picture that is XML, with a point for each row inside of it.
func TestFrontier(t *testing.T) {
	picture := frontier(someRows())
	require.Equal(t, 3+2, strings.Count(picture, "<circle"), "also those of the legend")
	decoder := xml.NewDecoder(strings.NewReader(picture))
	for {
		_, err := decoder.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		require.NoError(t, err)
	}
	require.Equal(t, picture, frontier(someRows()))
}

// TestLabelsStandApart: labels of points that lie close together cover neither each other nor the points.
func TestLabelsStandApart(t *testing.T) {
	var crowd []row
	for i := range 7 {
		crowd = append(crowd, row{"churn", "dovetail", fmt.Sprint(0.25 * float64(i)),
			&life.Figures{Bill: 1.2 + 0.01*float64(i%3), FromEmpty: 1, Evictions: 560 + 10*i, PodDays: 10}})
	}
	l := newLabels(crowd, func(x float64) float64 { return 4 * x }, func(y float64) float64 { return 4 * y })
	for _, r := range crowd {
		x, y := r.point()
		l.write(&strings.Builder{}, 4*x, 4*y, r.setting, "#000")
	}
	require.Len(t, l.taken, 2*len(crowd))
	for i, label := range l.taken[len(crowd):] {
		for k, other := range l.taken {
			require.True(t, k == len(crowd)+i || label.overlap(other) == 0, "label %d covers %d", i, k)
		}
	}
}

// TestTickStep: an axis has three to ten ticks.
func TestTickStep(t *testing.T) {
	for _, most := range []float64{0.013, 0.5, 1, 2.9, 3, 7, 9.9, 75, 480} {
		ticks := most / tickStep(most)
		require.GreaterOrEqual(t, ticks, 2.99, most)
		require.LessOrEqual(t, ticks, 10.0, most)
	}
}
