package plot

import (
	"encoding/xml"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
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
	p := Plot{Title: "<title>", About: "a & b", Unit: "<u>", From: from, To: from.Add(3 * time.Hour), Stack: curves, Bars: curves, Lines: curves,
		Marks: []time.Duration{time.Hour, time.Hour + time.Minute}}
	elements := map[string]int{}
	for d := xml.NewDecoder(strings.NewReader(string(p.SVG()))); ; {
		token, err := d.Token()
		if err == io.EOF {
			break
		}
		require.NoError(t, err)
		if start, ok := token.(xml.StartElement); ok {
			elements[start.Name.Local]++
		}
	}
	require.Equal(t, 4, elements["path"], "two areas and two lines")
	require.Equal(t, 4, elements["rect"], "a bar for each value above zero")
	require.Equal(t, 2, elements["circle"])
	require.NotContains(t, string(p.SVG()), "<a>")
}
