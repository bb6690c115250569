package main

import (
	"fmt"
	"math"
	"strconv"
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
	for _, line := range wrap(label, words) {
		p.add(paint(line))
	}
}

func plain(text string) string { return text }

// wrap breaks words into lines that begin with a label, or with as many blanks.
// What is longer than a line is cut into pieces.
func wrap(label, words string) []string {
	label = layout.Shorten(layout.Printable(label), command.PageWidth/2)
	indent := strings.Repeat(" ", utf8.RuneCountInString(label))
	var lines []string
	line, empty := label, true
	for _, word := range strings.Fields(layout.Printable(words)) {
		for {
			room := command.PageWidth - utf8.RuneCountInString(line)
			if !empty {
				room--
			}
			runes := []rune(word)
			if len(runes) <= room {
				break
			}
			if empty {
				lines, line, word = append(lines, line+string(runes[:room])), indent, string(runes[room:])
				continue
			}
			lines, line, empty = append(lines, line), indent, true
		}
		if !empty {
			line += " "
		}
		line, empty = line+word, false
	}
	return append(lines, line)
}

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

// phrase is "1 node" or "2 nodes".
func phrase(n int, one, many string) string {
	if n == 1 {
		return strconv.Itoa(n) + " " + one
	}
	return strconv.Itoa(n) + " " + many
}

// usd renders an amount of money. A catalog can hold absurd prices, and those
// must not break the layout.
func usd(amount float64) string {
	if math.Abs(amount) >= 1e6 || math.IsNaN(amount) {
		return strconv.FormatFloat(amount, 'g', 3, 64)
	}
	return strconv.FormatFloat(amount, 'f', 4, 64)
}

// percent renders a share from 0 to 1.
func percent(share float64) string {
	if share > 9.99 {
		return ">999%"
	}
	return strconv.FormatFloat(math.Floor(100*share+1e-6), 'f', 0, 64) + "%"
}

// bar draws a share from 0 to 1 as a bar of a width.
func bar(share float64, width int) string {
	n := int(math.Round(share * float64(width)))
	n = min(max(n, 0), width)
	return strings.Repeat("█", n) + strings.Repeat("░", width-n)
}
