package proposalreport

import (
	"fmt"
	"math"
	"strings"
	"unicode/utf8"

	"github.com/dovetail-sdk/dovetail/examples/internal/command"
	"github.com/dovetail-sdk/dovetail/examples/internal/layout"
)

// page is built line by line.
type page struct {
	style command.Style
	lines []string
}

func (p *page) String() string { return strings.Join(p.lines, "\n") + "\n" }

func (p *page) add(line string) { p.lines = append(p.lines, strings.TrimRight(line, " ")) }

// heading begins a section.
func (p *page) heading(left, right string) {
	p.add("")
	p.add(p.style.Heading(strings.TrimRight(layout.Sides(left, right), " ")))
}

// fill writes words after a label, breaking lines below the first word.
func (p *page) fill(label, words string, paint func(string) string) {
	for _, line := range layout.Hang(label, words) {
		p.add(paint(line))
	}
}

// plain leaves a line as it is.
func plain(text string) string { return text }

// fit is a text in a column of a width.
func fit(text string, width int) string {
	text = layout.Shorten(layout.Printable(text), width)
	return text + strings.Repeat(" ", width-utf8.RuneCountInString(text))
}

// listed joins items by commas, so many of them at most.
func listed(items []string, most int) string {
	if hidden := len(items) - most; hidden > 0 {
		items = append(append([]string{}, items[:most]...), fmt.Sprintf("and %d more", hidden))
	}
	return strings.Join(items, ", ")
}

// bar draws a share from 0 to 1 as a bar of a width.
func bar(share float64, width int) string {
	n := int(math.Round(share * float64(width)))
	n = min(max(n, 0), width)
	return strings.Repeat("█", n) + strings.Repeat("░", width-n)
}
