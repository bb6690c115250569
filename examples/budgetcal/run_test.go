package main

import (
	"encoding/xml"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/dovetail-sdk/dovetail/examples/internal/browser"
	"github.com/dovetail-sdk/dovetail/examples/internal/output"
	"github.com/dovetail-sdk/dovetail/internal/golden"
)

// program and call run the program of this folder.
var (
	program = output.Program(run)
	call    = program.Call
)

// TestQuestions runs the commands of docs/questions.md.
func TestQuestions(t *testing.T) { output.Questions(t, run) }

func TestGolden(t *testing.T) {
	const pools = "testdata/pools.yaml"
	for name, args := range map[string][]string{
		"sample.txt":     nil,
		"sample.html":    {"-o", "html"},
		"spring.txt":     {"-f", pools, "-pool", "web", "-from", "2026-03-28", "-days", "3", "-tz", "Europe/Berlin", "-nodes", "9"},
		"spring.html":    {"-f", pools, "-pool", "web", "-from", "2026-03-28", "-days", "3", "-tz", "Europe/Berlin", "-nodes", "9", "-o", "html"},
		"autumn.txt":     {"-f", pools, "-pool", "web", "-from", "2026-10-24", "-days", "3", "-tz", "Europe/Berlin", "-nodes", "9"},
		"autumn.html":    {"-f", pools, "-pool", "web", "-from", "2026-10-24", "-days", "3", "-tz", "Europe/Berlin", "-nodes", "900", "-o", "html"},
		"unlimited.txt":  {"-f", pools, "-pool", "batch", "-days", "1"},
		"unlimited.html": {"-f", pools, "-pool", "batch", "-days", "1", "-o", "html"},
		"inverted.txt":   {"-f", pools, "-pool", "a-b", "-days", "2", "-reason", "Empty", "-reason", "Drifted"},
		"large.txt":      {"-f", pools, "-pool", "web", "-nodes", "5000", "-days", "2"},
		"only.txt":       {"-only", "0 22 * * mon-fri for 6h", "-only", "0 1 * * sun for 90m", "-reason", "Empty", "-reason", "Expired"},
	} {
		code, stdout, stderr := call("", args...)
		require.Equal(t, 0, code, stderr)
		require.Empty(t, stderr)
		golden.Equal(t, stdout, "golden", name)
		if strings.HasSuffix(name, ".txt") {
			output.Fits(t, stdout)
		}
	}
}

// The page has pictures for each week, and can be read on a phone and on a desk, light and dark.
func TestPage(t *testing.T) {
	code, page, stderr := call("", "-o", "html", "-days", "14", "-reason", "Drifted")
	require.Equal(t, 0, code, stderr)
	require.Equal(t, 2, strings.Count(page, "<svg"))
	require.NotContains(t, page, "http", "it needs no network")
	require.Contains(t, page, "budgets[2]: Karpenter 1.15 cannot read the schedule")
	t.Run("in a browser", func(t *testing.T) {
		for _, seen := range browser.Look(t, []byte(page)) {
			for i, plot := range seen.Plots {
				require.Greater(t, plot.Shapes, 14, i)
				require.LessOrEqual(t, plot.Over, 1.0, i)
			}
		}
	})
}

// shape is one of a picture.
type shape struct {
	XMLName xml.Name
	X       float64 `xml:"x,attr"`
	Y       float64 `xml:"y,attr"`
	Y1      float64 `xml:"y1,attr"`
	Width   float64 `xml:"width,attr"`
	Height  float64 `xml:"height,attr"`
	Anchor  string  `xml:"text-anchor,attr"`
	Text    string  `xml:",chardata"`
}

// A line of the hours that runs through a label is hidden by a patch between the two.
func TestLinesStrikeThroughNoLabel(t *testing.T) {
	for _, file := range []string{"sample", "spring", "autumn", "unlimited"} {
		page, err := os.ReadFile("testdata/golden/" + file + ".html")
		require.NoError(t, err)
		struck := 0
		for _, svg := range regexp.MustCompile(`(?s)<svg.*?</svg>`).FindAll(page, -1) {
			var picture struct {
				Shapes []shape `xml:",any"`
			}
			require.NoError(t, xml.Unmarshal(svg, &picture))
			for i, label := range picture.Shapes {
				if label.XMLName.Local != "text" || label.Anchor != "middle" {
					continue
				}
				for j, line := range picture.Shapes[:i] {
					if line.XMLName.Local != "line" || line.Y1 < label.Y-9 || line.Y1 > label.Y+2 {
						continue
					}
					struck++
					half := 2.8 * float64(len(label.Text)) // of 11 pixels' letters, about
					require.True(t, slices.ContainsFunc(picture.Shapes[j:i], func(s shape) bool {
						return s.XMLName.Local == "rect" && s.Y <= line.Y1 && s.Y+s.Height >= line.Y1 && s.X <= label.X-half && s.X+s.Width >= label.X+half
					}), "%s: %s at %v", file, label.Text, label.Y)
				}
			}
		}
		require.NotZero(t, struck, file)
	}
}

func TestStandardInput(t *testing.T) {
	_, want, _ := call("")
	code, got, _ := call(string(sample), "-f", "-")
	require.Equal(t, 0, code)
	require.Equal(t, want, got)
}

func TestHelp(t *testing.T) { program.Help(t, about) }

func TestBadInput(t *testing.T) {
	for name, row := range map[string]struct {
		args []string
		want []string
	}{
		"flags": {[]string{"-o", "png", "-nodes", "-1", "-days", "0", "-tz", "Nowhere", "-from", "soon", "rest"}, []string{
			`budgetcal: unexpected argument "rest"; files are named with -f`,
			`budgetcal: invalid value -1 for flag -nodes: must not be negative`,
			`budgetcal: invalid value 0 for flag -days: must be 1 to 35`,
			`budgetcal: invalid value "png" for flag -o: must be table or html`,
			`budgetcal: invalid value "Nowhere" for flag -tz: must be a zone such as Europe/Berlin`,
			`budgetcal: invalid value "soon" for flag -from: must be a date such as 2026-03-02`,
		}},
		"reason":          {[]string{"-reason", "Bored"}, []string{`budgetcal: invalid value "Bored" for flag -reason: must be Drifted, Empty, Underutilized, Unhealthy or Expired`}},
		"only":            {[]string{"-only", "0 22 * * *"}, []string{`budgetcal: invalid value "0 22 * * *" for flag -only: must be a schedule and how long, such as "0 22 * * mon-fri for 6h"`}},
		"only's length":   {[]string{"-only", "0 22 * * * for 90s"}, []string{`"90s" is no number of whole minutes above 0`}},
		"only's schedule": {[]string{"-only", "0 25 * * * for 1h"}, []string{`for flag -only: `, `"25" is not a number from 0 to 23`}},
		"no file":         {[]string{"-f", "testdata/none.yaml"}, []string{`budgetcal: open testdata/none.yaml: no such file or directory`}},
		"several":         {[]string{"-f", "testdata/pools.yaml"}, []string{`budgetcal: the input holds 3 objects of kind NodePool; name one of a-b, batch, web with -pool`}},
		"unknown":         {[]string{"-pool", "x"}, []string{`budgetcal: the input holds no NodePool x; -pool is one of default`}},
		"zone": {[]string{"-f", "testdata/zone.yaml"}, []string{`budgetcal: testdata/zone.yaml:13 (document 1): NodePool zone: spec.disruption.budgets[0].schedule: Invalid value: ` +
			`"CRON_TZ=Europe/Atlantis 0 2 * * *": the time zone database has no zone "Europe/Atlantis"; correct the name, or give the program time zone data`}},
		"manifest": {[]string{"-f", "testdata/faulty.yaml"}, []string{
			`spec.disruption.budgets[0].nodes`, `"half"`, `spec.disruption.budgets[1].schedule`, `"25" is not a number from 0 to 23`,
		}},
	} {
		t.Run(name, func(t *testing.T) { program.Refuses(t, "", row.args, row.want...) })
	}
	program.Refuses(t, "", []string{"-f", "-"}, "budgetcal: ")
}

func TestOneNode(t *testing.T) {
	_, stdout, _ := call("", "-nodes", "1", "-days", "1")
	require.True(t, strings.HasPrefix(stdout, "NodePool default: whether its one node may be disrupted\n"), stdout)
}
