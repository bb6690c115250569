package main

import (
	"cmp"
	"fmt"
	"html"
	"math"
	"slices"
	"strings"
)

// Dimensions of the picture, in pixels.
const (
	frontierWidth  = 640
	frontierHeight = 320
	frontierLeft   = 56
	frontierRight  = 20
	frontierTop    = 28
	frontierBottom = 44
)

// frontier returns an SVG with one diagram for each trace: the bill over from-empty, in percent,
// against evictions per pod and day. Each setting of a contender is a point, and a line connects
// the settings, which are their labels. Lower and further left is better.
func frontier(rows []row) string {
	var traces []string
	for _, r := range rows {
		if !slices.Contains(traces, r.trace) {
			traces = append(traces, r.trace)
		}
	}
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" font-family="sans-serif" font-size="11">`+"\n", frontierWidth, frontierHeight*len(traces))
	fmt.Fprintf(&b, `<rect width="%d" height="%d" fill="#fff"/>`+"\n", frontierWidth, frontierHeight*len(traces))
	for i, trace := range traces {
		fmt.Fprintf(&b, `<g transform="translate(0 %d)">`+"\n", i*frontierHeight)
		drawTrace(&b, trace, slices.DeleteFunc(slices.Clone(rows), func(r row) bool { return r.trace != trace }))
		b.WriteString("</g>\n")
	}
	b.WriteString("</svg>\n")
	return b.String()
}

// point returns the position of a row: x is evictions per pod and day, y the bill over from-empty
// in percent.
func (r row) point() (x, y float64) {
	x = r.figures.EvictionsPerPodDay()
	if r.figures.FromEmpty > 0 {
		y = 100 * (r.figures.Bill/r.figures.FromEmpty - 1)
	}
	return x, y
}

func drawTrace(b *strings.Builder, trace string, rows []row) {
	mostX, mostY := 0.0, 0.0
	for _, r := range rows {
		x, y := r.point()
		mostX, mostY = max(mostX, x), max(mostY, y)
	}
	stepX, stepY := tickStep(mostX), tickStep(mostY)
	mostX, mostY = stepX*math.Ceil(mostX/stepX+0.01), stepY*math.Ceil(mostY/stepY+0.01)
	left := func(x float64) float64 {
		return frontierLeft + x/mostX*(frontierWidth-frontierLeft-frontierRight)
	}
	top := func(y float64) float64 {
		return frontierTop + (1-max(0, y)/mostY)*(frontierHeight-frontierTop-frontierBottom)
	}
	fmt.Fprintf(b, `<text x="%d" y="16" font-weight="bold">%s: bill over from empty</text>`+"\n", frontierLeft, html.EscapeString(trace))
	for y := 0.0; y <= mostY+stepY/2; y += stepY {
		fmt.Fprintf(b, `<line x1="%d" x2="%.1f" y1="%.1f" y2="%.1f" stroke="#ddd"/><text x="%d" y="%.1f" text-anchor="end">%.4g%%</text>`+"\n",
			frontierLeft, left(mostX), top(y), top(y), frontierLeft-6, top(y)+4, y)
	}
	for x := 0.0; x <= mostX+stepX/2; x += stepX {
		fmt.Fprintf(b, `<text x="%.1f" y="%d" text-anchor="middle">%.4g</text>`+"\n", left(x), frontierHeight-frontierBottom+16, x)
	}
	fmt.Fprintf(b, `<text x="%.1f" y="%d" text-anchor="middle">evictions of a pod in a day</text>`+"\n", left(mostX/2), frontierHeight-frontierBottom+32)
	labels := newLabels(rows, left, top)
	for i, of := range []struct{ contender, about, colour string }{
		{"dovetail", "Dovetail, by MinimumScore", "#0a7"}, {"karpenter", "Karpenter, by consolidationPolicy", "#c33"}} {
		fmt.Fprintf(b, `<circle cx="%d" cy="12" r="4" fill="%s"/><text x="%d" y="16" fill="%s">%s</text>`+"\n",
			264+168*i, of.colour, 264+168*i+8, of.colour, of.about)
		var path []string
		for _, r := range rows {
			if r.contender != of.contender {
				continue
			}
			x, y := r.point()
			path = append(path, fmt.Sprintf("%.1f,%.1f", left(x), top(y)))
			fmt.Fprintf(b, `<circle cx="%.1f" cy="%.1f" r="4" fill="%s"/>`+"\n", left(x), top(y), of.colour)
			labels.write(b, left(x), top(y), cmp.Or(r.setting, "default"), of.colour)
		}
		fmt.Fprintf(b, `<polyline points="%s" fill="none" stroke="%s" stroke-opacity="0.5"/>`+"\n", strings.Join(path, " "), of.colour)
	}
}

// box is a rectangle of the picture.
type box struct{ left, top, right, bottom float64 }

// overlap returns the area that two boxes share.
func (a box) overlap(b box) float64 {
	return max(0, min(a.right, b.right)-max(a.left, b.left)) * max(0, min(a.bottom, b.bottom)-max(a.top, b.top))
}

// labels has what labels must not cover: the points, and the labels written so far.
type labels struct{ taken []box }

func newLabels(rows []row, left, top func(float64) float64) *labels {
	l := &labels{}
	for _, r := range rows {
		x, y := r.point()
		l.taken = append(l.taken, box{left(x) - 5, top(y) - 5, left(x) + 5, top(y) + 5})
	}
	return l
}

// write writes the label of a point where the label covers the least. It tries places next to the point
// first, and then places further away, from which it draws a line to the point.
func (l *labels) write(b *strings.Builder, x, y float64, text, colour string) {
	const letter, height = 6.2, 11.0 // of the font, in pixels, and no less
	width, least, best := letter*float64(len(text)), math.Inf(1), box{}
	for _, away := range []float64{8, 24, 40, 56} {
		for _, to := range [][2]float64{{1, -0.5}, {-1, -0.5}, {1, 0.7}, {-1, 0.7}, {0, -1}, {0, 1}} {
			middle := x + to[0]*(away+width/2)
			at := box{middle - width/2, y + to[1]*away*1.5 - height/2, middle + width/2, y + to[1]*away*1.5 + height/2}
			if at.left < frontierLeft || at.right > frontierWidth || at.top < frontierTop || at.bottom > frontierHeight-frontierBottom {
				continue
			}
			covered := 0.0
			for _, other := range l.taken {
				covered += at.overlap(other)
			}
			if covered < least {
				least, best = covered, at
			}
		}
		if least == 0 {
			if away > 8 {
				fmt.Fprintf(b, `<line x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f" stroke="%s" stroke-opacity="0.4"/>`+"\n",
					x, y, min(max(x, best.left), best.right), min(max(y, best.top), best.bottom), colour)
			}
			break
		}
	}
	l.taken = append(l.taken, best)
	fmt.Fprintf(b, `<text x="%.1f" y="%.1f" fill="%s">%s</text>`+"\n", best.left, best.bottom-2, colour, html.EscapeString(text))
}

// tickStep returns the distance between the ticks of an axis that ends at most: 1, 2 or 5 times a
// power of ten.
func tickStep(most float64) float64 {
	if most <= 0 {
		return 1
	}
	decade := math.Pow(10, math.Floor(math.Log10(most)))
	for _, step := range []float64{decade, decade / 2} {
		if most/step >= 3 {
			return step
		}
	}
	return decade / 5
}
