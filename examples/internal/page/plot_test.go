package page

import (
	"encoding/xml"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/dovetail-sdk/dovetail/examples/internal/browser"
)

func TestScale(t *testing.T) {
	for most, want := range map[float64][2]float64{
		0: {1, 0.5}, 1: {1, 0.5}, 1.18: {1.5, 0.5}, 2.6: {3, 1}, 5: {5, 1}, 9: {10, 2}, 21: {25, 5}, 34: {40, 10}, 102: {150, 50}, 0.04: {0.04, 0.01},
	} {
		p := Plot{Lines: []Curve{{Values: []float64{most / 2, most}}}}
		upper, step := p.scale()
		require.InDelta(t, want[0], upper, 1e-9, most)
		require.InDelta(t, want[1], step, 1e-9, most)
		require.GreaterOrEqual(t, upper, most)
	}
	require.Equal(t, "1.5", tickText(1.5, 0.5))
	require.Equal(t, "20", tickText(20, 5))
}

// A plot of everything is well-formed, and says nothing that it was not told to mark up.
func TestSVG(t *testing.T) {
	from := time.Date(2026, 3, 2, 0, 0, 0, 0, time.UTC)
	curves := []Curve{{Name: "<a>", Class: "a", Values: []float64{1, 2, 0}}, {Name: "b", Class: "b", Values: []float64{3, 0, 1}}}
	p := Plot{Caption: Caption{"<title>", "a & b"}, Unit: "<u>", From: from, To: from.Add(3 * time.Hour), Stack: curves, Bars: curves, Lines: curves,
		Marks: []time.Duration{time.Hour, time.Hour + time.Minute}}
	elements := browser.Elements(t, string(p.SVG()))
	require.Equal(t, 4, elements["path"], "two areas and two lines")
	require.Equal(t, 4, elements["rect"], "a bar for each value above zero")
	require.Equal(t, 2, elements["circle"])
	require.NotContains(t, string(p.SVG()), "<a>")
}

// Bars and columns are well-formed, and escape what they are told.
func TestBarsAndColumns(t *testing.T) {
	bars := Bars{Caption: Caption{"<a>", "b & c"}, Series: [][2]string{{"a"}, {"b"}}, Bars: []Bar{
		{Label: "<one> " + strings.Repeat("long ", 30), Values: []float64{2, 1}, Text: "2 & 1", Low: -1, High: 3}, {Label: "two", Values: []float64{0, 0}}}}
	columns := Columns{Caption: Caption{"<a>", "b & c"}, Up: [2]string{"a"}, Down: [2]string{"b"}, Shares: [][2]float64{{1, .5}, {2, -1}}}
	for _, svg := range []string{string(bars.SVG()), string(columns.SVG()), string((&Bars{}).SVG()), string((&Columns{}).SVG())} {
		browser.Elements(t, svg)
	}
	require.Contains(t, string(bars.SVG()), `class="axis"`)
	require.NotContains(t, string(columns.SVG()), `height="-`)
}

// A label is told in full, and an amount below zero has a bar to the left of the axis.
func TestBarsInFull(t *testing.T) {
	label := "NodePool general: requirement karpenter.k8s.aws/instance-generation " + strings.Repeat("x", 80) + " (3 pods)"
	bars := Bars{Series: [][2]string{{"a"}}, Bars: []Bar{{Label: label, Values: []float64{1}, Text: "+1 pod, 0.4624"}, {Label: "taint", Values: []float64{-3}}}}
	var svg struct {
		Texts []string `xml:"text"`
		Rects []struct {
			X     float64 `xml:"x,attr"`
			Width float64 `xml:"width,attr"`
		} `xml:"rect"`
		Axes []struct {
			X float64 `xml:"x1,attr"`
		} `xml:"line"`
	}
	require.NoError(t, xml.Unmarshal([]byte(bars.SVG()), &svg))
	require.Equal(t, strings.ReplaceAll(label, " ", ""), strings.ReplaceAll(strings.Join(svg.Texts[1:len(svg.Texts)-2], ""), " ", ""))
	for _, line := range svg.Texts {
		require.LessOrEqual(t, len(line), barLabel)
	}
	require.InDelta(t, svg.Axes[0].X, svg.Rects[0].X, .1)
	require.InDelta(t, svg.Axes[1].X, svg.Rects[1].X+svg.Rects[1].Width, .1)
	require.InDelta(t, 3*svg.Rects[0].Width, svg.Rects[1].Width, .3)
}
