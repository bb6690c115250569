package layout

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/dovetail-sdk/dovetail/examples/internal/command"
)

// Page is a text that is built line by line.
type Page struct {
	Style command.Style
	lines []string
}

// String is the text.
func (p *Page) String() string { return strings.Join(p.lines, "\n") + "\n" }

// Add adds lines, without the blanks at their ends.
func (p *Page) Add(lines ...string) {
	for _, line := range lines {
		p.lines = append(p.lines, strings.TrimRight(line, " "))
	}
}

// Heading begins a section, with a remark at the right edge.
func (p *Page) Heading(left, right string) {
	p.Add("", p.Style.Heading(strings.TrimRight(Sides(left, right), " ")))
}

// Fill writes words after a label, breaking lines below the first word.
func (p *Page) Fill(label, words string, paint func(string) string) {
	for _, line := range Hang(label, words) {
		p.Add(paint(line))
	}
}

// Table begins a section with a table, and after each row has what stands below it added.
func (p *Page) Table(g *Grid, below func(row int)) {
	lines := g.Lines()
	p.Add("", p.Style.Heading(lines[0]))
	for i, line := range lines[1:] {
		p.Add(line)
		below(i)
	}
}

// Plain leaves a line as it is: for Page.Fill.
func Plain(text string) string { return text }

// Timed is a text behind the minutes and seconds since a start, in a column of a width.
func Timed(since time.Duration, column int, text string) []string {
	lines := command.Wrap(text, command.PageWidth-column, "  ")
	for i, line := range lines {
		stamp := ""
		if i == 0 {
			stamp = fmt.Sprintf("%02d:%02d", int(since.Minutes()), int(since.Seconds())%60)
		}
		lines[i] = fmt.Sprintf("%-*s%s", column, stamp, line)
	}
	return lines
}

// Tally lists what there are several of, the most numerous first: "web ×3".
func Tally(counts map[string]int) []string {
	names := slices.SortedFunc(maps.Keys(counts), func(a, b string) int {
		return cmp.Or(cmp.Compare(counts[b], counts[a]), strings.Compare(a, b))
	})
	for i, name := range names {
		if counts[name] > 1 {
			names[i] = fmt.Sprintf("%s ×%d", name, counts[name])
		}
	}
	return names
}
