package main

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// pageWidth is the number of columns of the table output.
const pageWidth = 80

const ellipsis = "…"

// column is one column of a table.
type column struct {
	title string
	// number columns are right-aligned and keep their width; the others are
	// cut with an ellipsis where the page is too narrow.
	number bool
}

// minText is the width below which a text column is not narrowed.
const minText = 5

// grid is a table to be laid out: as wide as the page less the indent, the
// last column ending on its right edge.
type grid struct {
	columns []column
	rows    [][]string
	indent  int

	gapBeforeNumber int
}

// dropEmpty leaves out the text columns that say nothing in any row.
func (g *grid) dropEmpty() {
	for i := len(g.columns) - 1; i >= 0; i-- {
		empty := !g.columns[i].number
		for _, row := range g.rows {
			empty = empty && (row[i] == "-" || row[i] == "")
		}
		if !empty {
			continue
		}
		g.columns = slices.Delete(g.columns, i, i+1)
		for r := range g.rows {
			g.rows[r] = slices.Delete(g.rows[r], i, i+1)
		}
	}
}

// lines lays the table out: the titles, then a line for each row.
func (g *grid) lines() []string {
	g.gapBeforeNumber = 2
	widths, ok := g.widths()
	if !ok { // first let the numbers move together, then cut the texts
		g.gapBeforeNumber = 1
		widths, _ = g.widths()
	}
	titles := make([]string, len(g.columns))
	for i, c := range g.columns {
		titles[i] = c.title
	}
	lines := make([]string, 0, len(g.rows)+1)
	for _, cells := range append([][]string{titles}, g.rows...) {
		line := []byte(strings.Repeat(" ", g.indent))
		for i, cell := range cells {
			line = append(line, strings.Repeat(" ", g.gap(i))...)
			line = append(line, g.cell(i, cell, widths[i])...)
		}
		lines = append(lines, strings.TrimRight(string(line), " "))
	}
	return lines
}

// gap is the space before column i.
func (g *grid) gap(i int) int {
	switch {
	case i == 0:
		return 0
	case g.columns[i].number:
		return g.gapBeforeNumber
	}
	return 2
}

func (g *grid) cell(i int, text string, width int) string {
	text = shorten(text, width)
	pad := strings.Repeat(" ", width-utf8.RuneCountInString(text))
	if g.columns[i].number {
		return pad + text
	}
	return text + pad
}

// widths fits the columns to the page. Text columns share what the numbers
// leave: the widest is narrowed first, and what is left over goes to the last.
// It reports whether nothing had to be narrowed.
func (g *grid) widths() ([]int, bool) {
	widths := make([]int, len(g.columns))
	room := pageWidth - g.indent
	for i, c := range g.columns {
		widths[i] = utf8.RuneCountInString(c.title)
		for _, row := range g.rows {
			widths[i] = max(widths[i], utf8.RuneCountInString(row[i]))
		}
		room -= widths[i] + g.gap(i)
	}
	fits := room >= 0
	last := -1
	for i, c := range g.columns {
		if !c.number {
			last = i
		}
	}
	for ; room < 0; room++ {
		widest := -1
		for i, c := range g.columns {
			if !c.number && widths[i] > minText && (widest < 0 || widths[i] > widths[widest]) {
				widest = i
			}
		}
		if widest < 0 {
			break
		}
		widths[widest]--
	}
	if last >= 0 {
		widths[last] += max(0, room)
	}
	return widths, fits
}

// shorten cuts a text to a width, ending it in an ellipsis.
func shorten(text string, width int) string {
	if utf8.RuneCountInString(text) <= width {
		return text
	}
	if width < 1 {
		return ""
	}
	return string([]rune(text)[:width-1]) + ellipsis
}

// wrap breaks a text into lines that fit between the indent and the right edge
// of the page, at blanks where it can. Every line gets the indent.
func wrap(text string, indent int) []string { return wrapWords(strings.Fields(text), indent) }

// wrapWords is wrap of words that may have blanks in them.
func wrapWords(words []string, indent int) []string {
	width := pageWidth - indent
	margin := strings.Repeat(" ", indent)
	var lines []string
	var line []rune
	add := func(line []rune) { lines = append(lines, strings.TrimRight(margin+string(line), " ")) }
	flush := func() {
		if len(line) > 0 {
			add(line)
			line = nil
		}
	}
	for _, word := range words {
		runes := []rune(word)
		if len(line)+1+len(runes) > width {
			flush()
		}
		for len(runes) > width {
			add(runes[:width])
			runes = runes[width:]
		}
		if len(line) > 0 {
			line = append(line, ' ')
		}
		line = append(line, runes...)
	}
	flush()
	return lines
}

// wrapHanging is wrap that sets every line but the first two further in.
func wrapHanging(text string, indent int) []string {
	lines := wrap(text, indent+2)
	if len(lines) > 0 {
		lines[0] = lines[0][2:]
	}
	return lines
}

// enumerate lists items, separated by commas, on at most so many lines. Those
// that find no room are counted.
func enumerate(items []string, indent, limit int) []string {
	// An item takes three characters at least, with its comma and blank.
	for shown := min(len(items), limit*pageWidth/3); ; shown-- {
		words := make([]string, 0, shown+1)
		for i, item := range items[:shown] {
			if i+1 < len(items) {
				item += ","
			}
			words = append(words, item)
		}
		if hidden := len(items) - shown; hidden > 0 {
			words = append(words, fmt.Sprintf("and %d more", hidden))
		}
		if lines := wrapWords(words, indent); len(lines) <= limit || shown == 0 {
			return lines
		}
	}
}

// sides puts one text at the left edge of the page and one at the right.
func sides(left, right string) string {
	room := pageWidth - utf8.RuneCountInString(right) - 2
	left = shorten(left, room)
	return left + strings.Repeat(" ", pageWidth-utf8.RuneCountInString(left)-utf8.RuneCountInString(right)) + right
}

// printable replaces what a terminal would not show as one character, or would
// obey.
func printable(text string) string {
	return strings.Map(func(r rune) rune {
		if r == utf8.RuneError || !unicode.IsPrint(r) {
			return '?'
		}
		return r
	}, text)
}
