package plot

import (
	"fmt"
	"html"
	"html/template"
	"math"
	"strings"
)

// Measures of a row of bars, in units of the view box.
const (
	barRow    = 30
	barHeight = 9
	barLabel  = 70 // letters that fit above a bar
)

// Bar is a row: a label above, and below it an amount for each series.
type Bar struct {
	Label  string
	Values []float64 // by series, 0 or more
	Text   string    // at the right edge of the label
	// Low and High are the ends of an error bar around the first amount; equal if there is
	// none.
	Low, High float64
}

// Bars is a picture of amounts that are told apart by name, from the left.
type Bars struct {
	Title, About string
	Classes      []string // of the series, in the style sheet
	Bars         []Bar
}

// SVG draws the bars.
func (p *Bars) SVG() template.HTML {
	row := barRow + (barHeight+1)*(max(1, len(p.Classes))-1)
	low, high := 0.0, 0.0
	for _, r := range p.Bars {
		for _, v := range r.Values {
			high = max(high, v)
		}
		low, high = min(low, r.Low), max(high, r.High)
	}
	if high <= low {
		high = low + 1
	}
	x := func(v float64) float64 { return 1 + (v-low)/(high-low)*(plotWidth-2) }
	var b strings.Builder
	fmt.Fprintf(&b, `<svg viewBox="0 0 %d %d" role="img" aria-label="%s">`+"\n", plotWidth, max(1, len(p.Bars))*row, html.EscapeString(p.Title+": "+p.About))
	for i, r := range p.Bars {
		top := float64(i * row)
		fmt.Fprintf(&b, `<text class="label" x="0" y="%.1f">%s<title>%s</title></text>`+"\n", top+11, html.EscapeString(shortened(r.Label, barLabel-len(r.Text))), html.EscapeString(r.Label))
		fmt.Fprintf(&b, `<text class="label" x="%d" y="%.1f" text-anchor="end">%s</text>`+"\n", plotWidth, top+11, html.EscapeString(r.Text))
		for k, v := range r.Values {
			y := top + 15 + float64(k*(barHeight+1))
			fmt.Fprintf(&b, `<rect class="area %s" x="%.1f" y="%.1f" width="%.1f" height="%d"/>`+"\n", p.Classes[k], x(0), y, max(.5, x(v)-x(0)), barHeight)
		}
		if low < 0 {
			fmt.Fprintf(&b, `<line class="axis" x1="%.1f" x2="%.1f" y1="%.1f" y2="%.1f"/>`+"\n", x(0), x(0), top+13, top+float64(row)-3)
		}
		if r.High > r.Low {
			y := top + 15 + barHeight/2.0
			fmt.Fprintf(&b, `<path class="range" fill="none" d="M%.1f %.1fH%.1fM%.1f %.1fv6M%.1f %.1fv6"/>`+"\n", x(r.Low), y, x(r.High), x(r.Low), y-3, x(r.High), y-3)
		}
	}
	b.WriteString("</svg>")
	return template.HTML(b.String()) //nolint:gosec // all text in it is escaped above
}

// shortened cuts a text to so many letters.
func shortened(text string, most int) string {
	letters := []rune(text)
	if most = max(1, most); len(letters) <= most {
		return text
	}
	return strings.TrimRight(string(letters[:most-1]), " ") + "…"
}

// Columns is a picture of many things with two shares each: one goes up from the middle, the
// other down.
type Columns struct {
	Title, About string
	Up, Down     string // classes of the style sheet
	Shares       [][2]float64
}

// SVG draws the columns, of shares from 0 to 1.
func (p *Columns) SVG() template.HTML {
	const height, middle = 170, 85
	var b strings.Builder
	fmt.Fprintf(&b, `<svg viewBox="0 0 %d %d" role="img" aria-label="%s">`+"\n", plotWidth, height, html.EscapeString(p.Title+": "+p.About))
	for _, share := range []float64{1, .5, -.5, -1} {
		y := middle - share*(middle-5)
		fmt.Fprintf(&b, `<line class="grid" x1="%d" x2="%d" y1="%.1f" y2="%.1f"/>`+"\n", plotLeft, plotWidth, y, y)
		fmt.Fprintf(&b, `<text class="tick" x="%d" y="%.1f" text-anchor="end">%.0f%%</text>`+"\n", plotLeft-4, y+3.5, 100*math.Abs(share))
	}
	step := float64(plotWidth-plotLeft) / float64(max(1, len(p.Shares)))
	width := max(.4, min(12, step*.85))
	for i, s := range p.Shares {
		x := plotLeft + float64(i)*step
		up, down := min(1, max(0, s[0]))*(middle-5), min(1, max(0, s[1]))*(middle-5)
		fmt.Fprintf(&b, `<rect class="area %s" x="%.2f" y="%.1f" width="%.2f" height="%.1f"/>`+"\n", p.Up, x, middle-up, width, up)
		fmt.Fprintf(&b, `<rect class="area %s" x="%.2f" y="%d" width="%.2f" height="%.1f"/>`+"\n", p.Down, x, middle, width, down)
	}
	fmt.Fprintf(&b, `<line class="axis" x1="%d" x2="%d" y1="%d" y2="%d"/>`+"\n", plotLeft, plotWidth, middle, middle)
	b.WriteString("</svg>")
	return template.HTML(b.String()) //nolint:gosec // all text in it is escaped above
}
