// Package layout sets texts for people: tables, wrapped lines and headings of a page that
// is Width columns wide.
package layout

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

const ellipsis = "…"

// Column is one column of a table.
type Column struct {
	Title string
	// Number columns are right-aligned and keep their width; the texts of others
	// are broken into lines where the page is too narrow.
	Number bool
}

// Columns returns a column for each title. That of a number begins with #, which is not
// shown.
func Columns(titles ...string) (columns []Column) {
	for _, title := range titles {
		text, number := strings.CutPrefix(title, "#")
		columns = append(columns, Column{Title: text, Number: number})
	}
	return columns
}

// minText is the width below which a text column is not narrowed.
const minText = 5

// Grid is a table to be laid out: as wide as the page less the indent, the
// last column ending on its right edge.
type Grid struct {
	Columns []Column
	Rows    [][]string
	indent  int

	gapBeforeNumber int
}

// DropEmpty leaves out the text columns that say nothing in any row.
func (g *Grid) DropEmpty() {
	for i := len(g.Columns) - 1; i >= 0; i-- {
		empty := !g.Columns[i].Number
		for _, row := range g.Rows {
			empty = empty && (row[i] == "-" || row[i] == "")
		}
		if !empty {
			continue
		}
		g.Columns = slices.Delete(g.Columns, i, i+1)
		for r := range g.Rows {
			g.Rows[r] = slices.Delete(g.Rows[r], i, i+1)
		}
	}
}

// Lines lays the table out: the titles, then each row. A text that is too long for its column
// goes on in the lines below.
func (g *Grid) Lines() []string { return slices.Concat(g.blocks()...) }

// blocks returns the lines of the titles and of each row.
func (g *Grid) blocks() [][]string {
	g.gapBeforeNumber = 2
	widths, ok := g.widths()
	if !ok { // first let the numbers move together, then break the texts
		g.gapBeforeNumber = 1
		widths, _ = g.widths()
	}
	titles := make([]string, len(g.Columns))
	for i, c := range g.Columns {
		titles[i] = c.Title
	}
	blocks := make([][]string, 0, len(g.Rows)+1)
	for _, cells := range append([][]string{titles}, g.Rows...) {
		blocks = append(blocks, g.block(cells, widths))
	}
	return blocks
}

// block returns the lines of one row.
func (g *Grid) block(cells []string, widths []int) (lines []string) {
	pieces, height := make([][]string, len(cells)), 1
	for i, cell := range cells {
		pieces[i] = Break(cell, widths[i])
		height = max(height, len(pieces[i]))
	}
	for n := range height {
		line := strings.Repeat(" ", g.indent)
		for i := range cells {
			piece := ""
			if n < len(pieces[i]) {
				piece = pieces[i][n]
			}
			line += strings.Repeat(" ", g.gap(i)) + g.cell(i, piece, widths[i])
		}
		lines = append(lines, strings.TrimRight(line, " "))
	}
	return lines
}

// Break divides a text into pieces of at most the given width. It breaks after a mark that
// separates the words of a name, if there is one after the first third of a piece. The joined
// pieces are equal to the text.
func Break(text string, width int) (pieces []string) {
	rest := []rune(text)
	for width > 0 && len(rest) > width {
		at := width
		for i := width; i > width/3; i-- {
			if strings.ContainsRune("-./: ", rest[i-1]) {
				at = i
				break
			}
		}
		pieces, rest = append(pieces, string(rest[:at])), rest[at:]
	}
	return append(pieces, string(rest))
}

// gap returns the number of blanks before column i.
func (g *Grid) gap(i int) int {
	switch {
	case i == 0:
		return 0
	case g.Columns[i].Number:
		return g.gapBeforeNumber
	}
	return 2
}

func (g *Grid) cell(i int, text string, width int) string {
	pad := strings.Repeat(" ", width-utf8.RuneCountInString(text))
	if g.Columns[i].Number {
		return pad + text
	}
	return text + pad
}

// widths fits the columns to the page. Text columns share the space that number columns leave: the
// widest is narrowed first, and remaining space goes to the last. It reports whether nothing was
// narrowed.
func (g *Grid) widths() ([]int, bool) {
	widths := make([]int, len(g.Columns))
	room := Width - g.indent
	for i, c := range g.Columns {
		widths[i] = utf8.RuneCountInString(c.Title)
		for _, row := range g.Rows {
			widths[i] = max(widths[i], utf8.RuneCountInString(row[i]))
		}
		room -= widths[i] + g.gap(i)
	}
	fits := room >= 0
	last := -1
	for i, c := range g.Columns {
		if !c.Number {
			last = i
		}
	}
	for ; room < 0; room++ {
		widest := -1
		for i, c := range g.Columns {
			if !c.Number && widths[i] > minText && (widest < 0 || widths[i] > widths[widest]) {
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

// Shorten cuts a text to a width, ending it in an ellipsis.
func Shorten(text string, width int) string {
	if utf8.RuneCountInString(text) <= width {
		return text
	}
	if width < 1 {
		return ""
	}
	return string([]rune(text)[:width-1]) + ellipsis
}

// Wrap breaks a text into lines that fit between the indent and the right edge
// of the page, at blanks where it can. Every line gets the indent.
func Wrap(text string, indent int) []string { return wrapWords(strings.Fields(text), indent) }

// wrapWords is wrap for words that may contain blanks.
func wrapWords(words []string, indent int) []string {
	width := Width - indent
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

// WrapHanging is wrap with every line but the first indented by two more blanks.
func WrapHanging(text string, indent int) []string {
	lines := Wrap(text, indent+2)
	if len(lines) > 0 {
		lines[0] = lines[0][2:]
	}
	return lines
}

// hang breaks words into lines that begin with a label, or with as many blanks.
// What is longer than a line is cut into pieces.
func hang(label, words string) []string {
	label = Shorten(Printable(label), Width/2)
	indent := utf8.RuneCountInString(label)
	lines := Wrap(Printable(words), indent)
	if len(lines) == 0 {
		return []string{label}
	}
	lines[0] = label + lines[0][indent:]
	return lines
}

// Enumerate lists items, separated by commas, on at most most lines. Those that find no room are
// counted.
func Enumerate(items []string, indent, limit int) []string {
	// An item takes three characters at least, with its comma and blank.
	for shown := min(len(items), limit*Width/3); ; shown-- {
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

// Sides puts one text at the left edge of the page and one at the right.
func Sides(left, right string) string {
	room := Width - utf8.RuneCountInString(right)
	if right != "" {
		room -= 2
	}
	left = Shorten(Printable(left), room)
	return left + strings.Repeat(" ", Width-utf8.RuneCountInString(left)-utf8.RuneCountInString(right)) + right
}

// Printable replaces what a terminal would not show as one character, or would
// obey.
func Printable(text string) string {
	return strings.Map(func(r rune) rune {
		if r == utf8.RuneError || !unicode.IsPrint(r) {
			return '?'
		}
		return r
	}, text)
}

// Count returns a number with its noun: "1 pod", "2 pods", "3 batches".
func Count(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	if strings.HasSuffix(thing, "ch") {
		thing += "e"
	}
	return fmt.Sprintf("%d %ss", n, thing)
}

// Page is a text that is built line by line.
type Page struct {
	Style Style
	lines []string
}

// String returns the text of the page.
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
	for _, line := range hang(label, words) {
		p.Add(paint(line))
	}
}

// Table begins a section with a table. After each row it calls a function that adds lines below the
// row.
func (p *Page) Table(g *Grid, below func(row int)) {
	blocks := g.blocks()
	p.Add("")
	for _, line := range blocks[0] {
		p.Add(p.Style.Heading(line))
	}
	for i, lines := range blocks[1:] {
		p.Add(lines...)
		below(i)
	}
}

// Plain leaves a line as it is: for Page.Fill.
func Plain(text string) string { return text }

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
