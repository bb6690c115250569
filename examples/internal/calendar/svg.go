package calendar

import (
	"encoding/xml"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"
)

// Measures of the picture, in pixels.
const (
	margin     = 24
	axisWidth  = 48
	hourHeight = 16
	headHeight = 64 // title and span
	nameHeight = 52 // reasons and days of a section
	gridHeight = 24 * hourHeight
	legendLine = 26
)

// SVG is the calendar as a picture: days across, hours down, one panel for the
// reasons of each section.
func (c *Calendar) SVG() string {
	levels := c.levels()
	dayWidth := 84
	switch {
	case c.Days > 14:
		dayWidth = 44
	case c.Days < 5:
		dayWidth = 140
	}
	title := c.title()
	width := max(len(title)*9+2*margin, 2*margin+axisWidth+c.Days*dayWidth)
	perLine := max(1, (width-2*margin)/120)
	legend := (len(levels) + perLine - 1) / perLine * legendLine
	height := headHeight + len(c.sections)*(nameHeight+gridHeight+24) + legend + margin
	p := &picture{}
	p.line(`<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %d %d" font-family="Helvetica, Arial, sans-serif">`, width, height, width, height)
	p.line(`<title>%s</title>`, escape(title))
	p.line(`<rect width="%d" height="%d" fill="#ffffff"/>`, width, height)
	p.text(margin, 32, 17, "start", "#1b2733", title)
	p.text(margin, 53, 12, "start", "#5b6975", c.span())
	y := headHeight
	for i := range c.sections {
		c.panel(p, &c.sections[i], y, dayWidth)
		y += nameHeight + gridHeight + 24
	}
	for i, l := range levels {
		x, y := margin+i%perLine*120, y+i/perLine*legendLine
		p.line(`<rect x="%d" y="%d" width="16" height="16" rx="3" fill="%s"/>`, x, y, c.colour(l))
		p.text(x+23, y+13, 12, "start", "#1b2733", l.String())
	}
	p.line(`</svg>`)
	return p.String()
}

// panel draws one section with its upper edge at y.
func (c *Calendar) panel(p *picture, s *section, y, dayWidth int) {
	left, top := margin+axisWidth, y+nameHeight
	p.text(margin, y+16, 13, "start", "#1b2733", s.title())
	for i := range c.Days {
		day := c.day(i)
		format := "Mon 2 Jan"
		if dayWidth < 60 {
			format = "2 Jan"
		}
		p.text(left+i*dayWidth+dayWidth/2, y+nameHeight-8, 11, "middle", "#5b6975", day.Format(format))
	}
	for i := range c.Days {
		c.column(p, s, i, left+i*dayWidth, top, dayWidth)
	}
	for hour := 0; hour <= 24; hour += 3 {
		at := top + hour*hourHeight
		p.text(left-8, at+4, 11, "end", "#5b6975", fmt.Sprintf("%02d:00", hour))
		if hour%24 != 0 {
			p.line(`<line x1="%d" y1="%d" x2="%d" y2="%d" stroke="#ffffff" stroke-opacity="0.45"/>`, left, at, left+c.Days*dayWidth, at)
		}
	}
	p.flush()
}

// column draws the windows of one day, in wall time. Of an hour that the clock
// shows twice the second is seen, and one that it skips stays blank.
func (c *Calendar) column(p *picture, s *section, i, x, top, dayWidth int) {
	start, end := c.day(i), c.day(i+1)
	for _, w := range s.windows {
		from, to := later(w.From, start), sooner(w.To, end)
		for from.Before(to) {
			// Where the clock moves the rectangle is broken in two.
			until := to
			if _, zoneEnd := from.ZoneBounds(); !zoneEnd.IsZero() && zoneEnd.After(from) {
				until = sooner(until, zoneEnd)
			}
			y1 := wall(from)
			y2 := y1 + until.Sub(from).Hours()
			l := level{w.Nodes, w.Unlimited}
			p.line(`<rect x="%d" y="%.2f" width="%d" height="%.2f" fill="%s"><title>%s</title></rect>`,
				x+1, float64(top)+y1*hourHeight, dayWidth-2, (y2-y1)*hourHeight, c.colour(l),
				escape(fmt.Sprintf("%s to %s: %s", stamp(w.From), stamp(w.To), l)))
			if y2-y1 >= 1.5 {
				text := l.String()
				if dayWidth < 60 && !l.unlimited {
					text = fmt.Sprint(l.nodes)
				}
				p.label(x+dayWidth/2, top+int((y1+y2)/2*hourHeight)+4, dayWidth-2, c.colour(l), c.ink(l), text)
			}
			from = until
		}
	}
}

// wall is the time of day in hours.
func wall(t time.Time) float64 {
	return float64(t.Hour()) + float64(t.Minute())/60 + float64(t.Second())/3600
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

func sooner(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}

// colour is red for none, blue for no limit, and between them a green that is
// the darker the more nodes may go.
func (c *Calendar) colour(l level) string {
	switch {
	case l.unlimited:
		return "#3f7cac"
	case l.nodes == 0:
		return "#d1495b"
	}
	share := c.share(l)
	mix := func(light, dark int) int { return light + int(share*float64(dark-light)) }
	return fmt.Sprintf("#%02x%02x%02x", mix(0xbf, 0x2e), mix(0xe3, 0x8b), mix(0xb4, 0x57))
}

// ink can be read on the colour.
func (c *Calendar) ink(l level) string {
	if !l.unlimited && l.nodes > 0 && c.share(l) < 0.6 {
		return "#1b2733"
	}
	return "#ffffff"
}

// share is how near a level is to the largest bounded one.
func (c *Calendar) share(l level) float64 {
	most := 0
	for _, o := range c.levels() {
		if !o.unlimited {
			most = max(most, o.nodes)
		}
	}
	if most == 0 {
		return 0
	}
	return float64(l.nodes) / float64(most)
}

// picture is SVG in the making.
type picture struct {
	strings.Builder
	labels strings.Builder // what is to lie over all lines
}

func (p *picture) line(format string, args ...any) { fmt.Fprintf(p, format+"\n", args...) }

func (p *picture) text(x, y, size int, anchor, colour, text string) {
	p.line(textFormat, x, y, size, anchor, colour, escape(text))
}

// label writes over the middle of a window, on a patch of its colour: the lines of the
// hours would strike through the text. The window is so wide at most.
func (p *picture) label(x, y, most int, ground, colour, text string) {
	width := min(most, 7*utf8.RuneCountInString(text)+4)
	fmt.Fprintf(&p.labels, `<rect x="%d" y="%d" width="%d" height="14" fill="%s"/>`+"\n", x-width/2, y-11, width, ground)
	fmt.Fprintf(&p.labels, textFormat+"\n", x, y, 11, "middle", colour, escape(text))
}

const textFormat = `<text x="%d" y="%d" font-size="%d" text-anchor="%s" fill="%s">%s</text>`

// flush draws the labels that wait.
func (p *picture) flush() {
	p.WriteString(p.labels.String())
	p.labels.Reset()
}

func escape(text string) string {
	var b strings.Builder
	_ = xml.EscapeText(&b, []byte(text)) // a Builder does not fail
	return b.String()
}
