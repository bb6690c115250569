package page

import (
	"fmt"
	"html"
	"html/template"
	"math"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/dovetail-sdk/dovetail/examples/internal/command"
)

// Sizes in a plot, in units of its view box. A plot is as wide as a phone and is scaled up on wider
// screens, so that its text is readable on both.
const (
	plotWidth  = 400
	plotHeight = 210
	plotLeft   = 34
	plotRight  = 8
	plotTop    = 20
	plotBottom = 22
)

// Curve is values over time, or one layer of a stack of them.
type Curve struct {
	Name   string
	Class  string // class of the style sheet, which sets the colour
	Values []float64
}

// Plot is a picture of curves over time.
type Plot struct {
	Caption
	Unit     string
	From, To time.Time
	Stack    []Curve // areas on top of one another
	Lines    []Curve
	Bars     []Curve         // one stack of bars for each hour or other interval of the values
	Marks    []time.Duration // times of events since from, in order
	Most     float64         // upper end of the axis; 0 for the largest value
}

// Legend names the curves.
func (p *Plot) Legend() (out [][2]string) {
	for _, c := range slices.Concat(p.Stack, p.Bars, p.Lines) {
		out = append(out, [2]string{c.Class, c.Name})
	}
	return out
}

// SVG draws the plot.
func (p *Plot) SVG() template.HTML {
	var b strings.Builder
	most, step := p.scale()
	p.open(&b, plotWidth, plotHeight)
	y := func(v float64) float64 {
		return plotTop + (1-v/most)*(plotHeight-plotTop-plotBottom)
	}
	for v := 0.0; v <= most+step/2; v += step {
		fmt.Fprintf(&b, `<line class="grid" x1="%d" x2="%d" y1="%.1f" y2="%.1f"/>`+"\n", plotLeft, plotWidth-plotRight, y(v), y(v))
		fmt.Fprintf(&b, `<text class="tick" x="%d" y="%.1f" text-anchor="end">%s</text>`+"\n", plotLeft-5, y(v)+3.5, tickText(v, step))
	}
	fmt.Fprintf(&b, `<text class="tick" x="%d" y="%d">%s</text>`+"\n", 2, 11, html.EscapeString(p.Unit))
	p.drawTime(&b)
	p.drawStack(&b, y)
	p.drawBars(&b, y)
	for _, c := range p.Lines {
		fmt.Fprintf(&b, `<path class="line %s" d="%s"/>`+"\n", c.Class, path(p.points(c.Values), y))
	}
	p.drawMarks(&b)
	return closed(&b)
}

// scale returns the upper end of the axis and the step between its ticks.
func (p *Plot) scale() (most, step float64) {
	most = p.Most
	for _, stack := range [][]Curve{p.Stack, p.Bars} {
		if len(stack) == 0 {
			continue
		}
		for i := range stack[0].Values {
			sum := 0.0
			for _, c := range stack {
				sum += c.Values[i]
			}
			most = max(most, sum)
		}
	}
	for _, c := range p.Lines {
		for _, v := range c.Values {
			most = max(most, v)
		}
	}
	if most <= 0 {
		most = 1
	}
	step = math.Pow(10, math.Floor(math.Log10(most)))
	for _, finer := range []float64{5, 2} {
		if most/step < 2.5 {
			step = step * finer / 10
			break
		}
	}
	if most/step > 6 {
		step *= 2
	}
	return step * math.Ceil(most/step-1e-9), step
}

// tickText formats a number on the axis, with the decimals that its step needs.
func tickText(v, step float64) string {
	decimals := max(0, int(-math.Floor(math.Log10(step)+1e-9)))
	return fmt.Sprintf("%.*f", decimals, v)
}

// x returns the horizontal position of an instant.
func (p *Plot) x(at time.Time) float64 {
	return plotLeft + float64(at.Sub(p.From))/float64(p.To.Sub(p.From))*(plotWidth-plotLeft-plotRight)
}

// point is a point of a curve: x in units of the picture, v in units of the axis.
type point struct{ x, v float64 }

// points spreads values over the time of the plot.
func (p *Plot) points(values []float64) []point {
	out := make([]point, len(values))
	for i, v := range values {
		at := p.From.Add(time.Duration(float64(p.To.Sub(p.From)) * float64(i+1) / float64(len(values))))
		out[i] = point{p.x(at), v}
	}
	return out
}

func path(points []point, y func(float64) float64) string {
	var b strings.Builder
	for i, at := range points {
		fmt.Fprintf(&b, "%c%.1f %.1f", "ML"[min(i, 1)], at.x, y(at.v))
	}
	return b.String()
}

// drawTime draws the axis of time: a line at midnight, a label every few hours.
func (p *Plot) drawTime(b *strings.Builder) {
	every := 3 * time.Hour
	for p.To.Sub(p.From)/every > 9 {
		every *= 2
	}
	for at := p.From; !at.After(p.To); at = at.Add(every) {
		label, anchor := at.Format("15h"), "middle"
		if at.Hour() == 0 {
			label = at.Format("Mon")
		}
		if at.Equal(p.To) {
			anchor = "end"
		}
		fmt.Fprintf(b, `<line class="grid" x1="%.1f" x2="%.1f" y1="%d" y2="%d"/>`+"\n", p.x(at), p.x(at), plotTop, plotHeight-plotBottom+3)
		fmt.Fprintf(b, `<text class="tick" x="%.1f" y="%d" text-anchor="%s">%s</text>`+"\n", p.x(at), plotHeight-plotBottom+15, anchor, label)
	}
}

// drawStack draws areas, the first at the bottom.
func (p *Plot) drawStack(b *strings.Builder, y func(float64) float64) {
	if len(p.Stack) == 0 {
		return
	}
	below := make([]float64, len(p.Stack[0].Values))
	for _, c := range p.Stack {
		above := make([]float64, len(below))
		for i := range below {
			above[i] = below[i] + c.Values[i]
		}
		lower := p.points(below)
		slices.Reverse(lower)
		outline := append(p.points(above), lower...)
		fmt.Fprintf(b, `<path class="area %s" d="%sZ"/>`+"\n", c.Class, path(outline, y))
		below = above
	}
}

// drawBars draws a stack of bars for each value.
func (p *Plot) drawBars(b *strings.Builder, y func(float64) float64) {
	if len(p.Bars) == 0 {
		return
	}
	n := len(p.Bars[0].Values)
	width := float64(plotWidth-plotLeft-plotRight) / float64(n)
	for i := range n {
		sum := 0.0
		for _, c := range p.Bars {
			v := c.Values[i]
			if v == 0 {
				continue
			}
			fmt.Fprintf(b, `<rect class="area %s" x="%.1f" y="%.1f" width="%.1f" height="%.1f"><title>%s: %.0f</title></rect>`+"\n", c.Class,
				plotLeft+float64(i)*width+width*0.08, y(sum+v), width*0.84, y(sum)-y(sum+v), html.EscapeString(c.Name), v)
			sum += v
		}
	}
}

// drawMarks draws the events as numbers on vertical lines. A list next to the plots explains the
// numbers. If numbers would overlap, the later one is drawn lower.
func (p *Plot) drawMarks(b *strings.Builder) {
	const apart = 15
	last, high := -1.0e9, true
	for i, after := range p.Marks {
		x := p.x(p.From.Add(after))
		high = x-last >= apart || !high
		last = x
		y := float64(plotTop - 10)
		if !high {
			y += apart
		}
		fmt.Fprintf(b, `<line class="mark" x1="%.1f" x2="%.1f" y1="%.1f" y2="%d"/>`+"\n", x, x, y, plotHeight-plotBottom)
		fmt.Fprintf(b, `<circle class="mark" cx="%.1f" cy="%.1f" r="7"/>`+"\n", x, y)
		fmt.Fprintf(b, `<text class="number" x="%.1f" y="%.1f" text-anchor="middle">%d</text>`+"\n", x, y+3.2, i+1)
	}
}

// Sizes in a row of bars, in units of the view box.
const (
	barLine   = 12 // height of one line of the label
	barHeight = 9
	barGap    = 7  // space below the last bar of a row
	barLabel  = 74 // largest number of letters in a line
)

// Bar is a row: a label above, and below it an amount for each series.
type Bar struct {
	Label  string
	Values []float64 // by series; a negative value extends to the left of the axis
	Text   string    // at the right edge of the label
	// Low and High are the ends of an error bar at the first amount; equal for none.
	Low, High float64
}

// Bars is a picture of named amounts as horizontal bars.
type Bars struct {
	Caption
	Series [][2]string // class of the style sheet and name of each series; a single series needs no name
	Bars   []Bar
}

// Legend names the series.
func (p *Bars) Legend() [][2]string { return p.Series }

// SVG draws the bars. Labels longer than a line are broken, never cut.
func (p *Bars) SVG() template.HTML {
	low, high, height := 0.0, 0.0, 0
	labels := make([][]string, len(p.Bars))
	tops := make([]int, len(p.Bars)) // of the bars of each row
	for i, r := range p.Bars {
		for _, v := range append([]float64{r.Low, r.High}, r.Values...) {
			low, high = min(low, v), max(high, v)
		}
		labels[i] = brokenLabel(r.Label, barLabel-utf8.RuneCountInString(r.Text)-2)
		tops[i] = height + len(labels[i])*barLine + 3
		height = tops[i] + len(p.Series)*(barHeight+1) + barGap
	}
	if high <= low {
		high = low + 1
	}
	x := func(v float64) float64 { return 1 + (v-low)/(high-low)*(plotWidth-2) }
	var b strings.Builder
	p.open(&b, plotWidth, max(1, height))
	for i, r := range p.Bars {
		label := tops[i] - len(labels[i])*barLine + 8
		fmt.Fprintf(&b, `<text class="label" x="%d" y="%d" text-anchor="end">%s</text>`+"\n", plotWidth, label, html.EscapeString(r.Text))
		for k, line := range labels[i] {
			fmt.Fprintf(&b, `<text class="label" x="0" y="%d">%s</text>`+"\n", label+k*barLine, html.EscapeString(line))
		}
		for k, v := range r.Values {
			from, to := x(min(0, v)), x(max(0, v))
			fmt.Fprintf(&b, `<rect class="area %s" x="%.1f" y="%d" width="%.1f" height="%d"/>`+"\n", p.Series[k][0], from, tops[i]+k*(barHeight+1), max(.5, to-from), barHeight)
		}
		if low < 0 {
			fmt.Fprintf(&b, `<line class="axis" x1="%.1f" x2="%.1f" y1="%d" y2="%d"/>`+"\n", x(0), x(0), tops[i]-2, tops[i]+len(p.Series)*(barHeight+1)+2)
		}
		if r.High > r.Low {
			y := float64(tops[i]) + barHeight/2.0
			fmt.Fprintf(&b, `<path class="range" fill="none" d="M%.1f %.1fH%.1fM%.1f %.1fv6M%.1f %.1fv6"/>`+"\n", x(r.Low), y, x(r.High), x(r.Low), y-3, x(r.High), y-3)
		}
	}
	return closed(&b)
}

// brokenLabel breaks a label into lines of at most most letters: at blanks, and within a word only
// if the word is longer than a line.
func brokenLabel(text string, most int) (lines []string) {
	most = max(most, 10)
	for _, line := range command.Wrap(text, most, "") {
		letters := []rune(line)
		for ; len(letters) > most; letters = letters[most:] {
			lines = append(lines, string(letters[:most]))
		}
		lines = append(lines, string(letters))
	}
	return lines
}

// Columns is a picture of many things with two shares each: one is drawn upwards from the middle,
// the other downwards.
type Columns struct {
	Caption
	Up, Down [2]string // class of the style sheet and name
	Shares   [][2]float64
}

// Legend names both shares.
func (p *Columns) Legend() [][2]string { return [][2]string{p.Up, p.Down} }

// SVG draws the columns. Shares are from 0 to 1.
func (p *Columns) SVG() template.HTML {
	const height, middle = 170, 85
	var b strings.Builder
	p.open(&b, plotWidth, height)
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
		fmt.Fprintf(&b, `<rect class="area %s" x="%.2f" y="%.1f" width="%.2f" height="%.1f"/>`+"\n", p.Up[0], x, middle-up, width, up)
		fmt.Fprintf(&b, `<rect class="area %s" x="%.2f" y="%d" width="%.2f" height="%.1f"/>`+"\n", p.Down[0], x, middle, width, down)
	}
	fmt.Fprintf(&b, `<line class="axis" x1="%d" x2="%d" y1="%d" y2="%d"/>`+"\n", plotLeft, plotWidth, middle, middle)
	return closed(&b)
}
