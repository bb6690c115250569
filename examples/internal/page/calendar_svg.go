package page

import (
	"fmt"
	"html"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

// Sizes in the picture of a week, in the units of a plot, whose width and margins it has.
const (
	hourHeight = 16
	legendTop  = plotTop + 24*hourHeight + 12
	legendLine = 26
	legendItem = 100
)

// frame is some days in a picture.
type frame struct{ first, days, dayWidth int }

// Page returns the calendar as a page with one picture for each week.
func (c *Calendar) Page() Page {
	const week = 7
	out := Page{Title: c.title(), Lead: []string{c.span()}, Below: "Remarks"}
	out.Tables = append(out.Tables, c.budgetTable())
	for i := range c.sections {
		s := &c.sections[i]
		for first := 0; first < c.Days; first += week {
			f := frame{first, min(week, c.Days-first), (plotWidth - plotLeft) / min(week, c.Days)}
			found := levels(*s)
			p := &picture{}
			about := fmt.Sprintf("%s to %s", c.day(first).Format("Mon 2 Jan"), c.day(first+f.days-1).Format("Mon 2 Jan"))
			p.line(`<svg viewBox="0 0 %d %d" role="img" aria-label="%s">`, plotWidth, legendTop+legendHeight(found), html.EscapeString(s.title()+", "+about))
			c.panel(p, s, f)
			c.legend(p, found)
			p.line(`</svg>`)
			out.Figures = append(out.Figures, &Drawing{Caption: Caption{Title: s.title(), About: about}, Text: p.String()})
		}
		out.Tables = append(out.Tables, s.table())
	}
	for _, line := range c.remarks() {
		out.Log = append(out.Log, Entry{Text: line})
	}
	return out
}

// panel draws days of one section.
func (c *Calendar) panel(p *picture, s *section, f frame) {
	p.line(`<defs><pattern id="hatch" width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)"><line class="hatch" x1="0" y1="0" x2="0" y2="6"/></pattern></defs>`)
	for i := range f.days {
		format := "Mon 2 Jan"
		if f.dayWidth < 60 {
			format = "Mon 2"
		}
		p.text(plotLeft+i*f.dayWidth+f.dayWidth/2, plotTop-8, 11, "middle", "tick", c.day(f.first+i).Format(format))
	}
	for i := range f.days {
		c.column(p, s, f, i)
	}
	for hour := 0; hour <= 24; hour += 3 {
		at := plotTop + hour*hourHeight
		p.text(plotLeft-5, at+4, 11, "end", "tick", fmt.Sprintf("%02d:00", hour))
		if hour%24 != 0 {
			p.line(`<line class="hour" x1="%d" y1="%d" x2="%d" y2="%d"/>`, plotLeft, at, plotLeft+f.days*f.dayWidth, at)
		}
	}
	p.WriteString(p.labels.String())
	p.labels.Reset()
}

// column draws the windows of one day, in wall time. For an hour that the clock shows twice it
// draws the second; an hour that the clock skips stays blank.
func (c *Calendar) column(p *picture, s *section, f frame, i int) {
	x := plotLeft + i*f.dayWidth
	start, end := c.day(f.first+i), c.day(f.first+i+1)
	for _, w := range s.windows {
		from := slices.MaxFunc([]time.Time{w.From, start}, time.Time.Compare)
		to := slices.MinFunc([]time.Time{w.To, end}, time.Time.Compare)
		for from.Before(to) {
			// Where the clock moves the rectangle is broken in two.
			until := to
			if _, zoneEnd := from.ZoneBounds(); zoneEnd.After(from) && zoneEnd.Before(until) {
				until = zoneEnd
			}
			y1 := float64(from.Hour()) + float64(from.Minute())/60 + float64(from.Second())/3600 // in wall time
			y2 := y1 + until.Sub(from).Hours()
			l := levelOf(w)
			c.cell(p, l, float64(x+1), plotTop+y1*hourHeight, f.dayWidth-2, (y2-y1)*hourHeight, fmt.Sprintf("%s to %s: %s", stamp(w.From), stamp(w.To), l))
			if y2-y1 >= 1.5 {
				text := l.String()
				if f.dayWidth < 60 && l != unlimited {
					text = fmt.Sprint(int(l))
				}
				c.label(p, l, x+f.dayWidth/2, plotTop+int((y1+y2)/2*hourHeight)+4, f.dayWidth-2, text)
			}
			from = until
		}
	}
}

// cell draws a rectangle for a level. Zero nodes is hatched and no limit has a border, so that both
// can be recognised without colours. For other levels, larger ones have stronger colours, as long
// as text on them stays readable.
func (c *Calendar) cell(p *picture, l level, x, y float64, width int, height float64, title string) {
	place := fmt.Sprintf(`x="%.0f" y="%.2f" width="%d" height="%.2f"`, x, y, width, height)
	switch l {
	case unlimited:
		p.line(`<rect class="area free" %s><title>%s</title></rect>`, place, html.EscapeString(title))
	case 0:
		p.line(`<rect class="area none" %s><title>%s</title></rect>`, place, html.EscapeString(title))
		p.line(`<rect fill="url(#hatch)" fill-opacity=".5" pointer-events="none" %s/>`, place)
	default:
		p.line(`<rect class="area some" style="fill-opacity: %.2f" %s><title>%s</title></rect>`, .12+.43*c.share(l), place, html.EscapeString(title))
	}
}

// label writes a text in the middle of a window, on a plain background, because lines and hatching
// would cross the text. most is the width of the window.
func (c *Calendar) label(p *picture, l level, x, y, most int, text string) {
	width := min(most, 7*utf8.RuneCountInString(text)+4)
	place := fmt.Sprintf(`x="%d" y="%d" width="%d" height="14"`, x-width/2, y-11, width)
	fmt.Fprintf(&p.labels, `<rect class="paper" %s/>`+"\n", place)
	if l != unlimited && l > 0 {
		fmt.Fprintf(&p.labels, `<rect class="area some" style="fill-opacity: %.2f" %s/>`+"\n", .12+.43*c.share(l), place)
	}
	fmt.Fprintf(&p.labels, textFormat+"\n", "label", x, y, 11, "middle", html.EscapeString(text))
}

// perLine is how many levels a line of the legend has.
const perLine = plotWidth / legendItem

func legendHeight(levels []level) int { return (len(levels) + perLine - 1) / perLine * legendLine }

// legend shows what levels look like.
func (c *Calendar) legend(p *picture, levels []level) {
	for i, l := range levels {
		x, y := i%perLine*legendItem, legendTop+i/perLine*legendLine
		c.cell(p, l, float64(x), float64(y), 16, 16, l.String())
		p.text(x+23, y+12, 12, "start", "label", l.String())
	}
}

// share returns a level as a share of the largest level with a limit.
func (c *Calendar) share(l level) float64 {
	most := level(1)
	for _, o := range levels(c.sections...) {
		if o != unlimited {
			most = max(most, o)
		}
	}
	return float64(l) / float64(most)
}

// picture is an SVG picture being drawn.
type picture struct {
	strings.Builder
	labels strings.Builder // drawn last, above all lines
}

func (p *picture) line(format string, args ...any) { fmt.Fprintf(p, format+"\n", args...) }

func (p *picture) text(x, y, size int, anchor, class, text string) {
	p.line(textFormat, class, x, y, size, anchor, html.EscapeString(text))
}

const textFormat = `<text class="%s" x="%d" y="%d" font-size="%d" text-anchor="%s">%s</text>`
