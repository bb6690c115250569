package rolloutreport

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/dovetail-sdk/dovetail/examples/internal/command"
)

// text is built line by line.
type text struct{ strings.Builder }

// Add adds lines.
func (t *text) Add(lines ...string) {
	for _, line := range lines {
		t.WriteString(line + "\n")
	}
}

// Heading begins a section, with a remark at the right edge.
func (t *text) Heading(left, right string) {
	t.Add("", strings.TrimRight(command.Sides(left, right), " "))
}

// wrap writes words, lines after the first set in by two more.
func (t *text) wrap(indent, words string) {
	t.hang(indent+strings.Join(strings.Fields(words), " "), 2)
}

// hang writes a line, those that it is broken into set in by so many more.
func (t *text) hang(line string, further int) {
	t.Add(command.Wrap(line, command.PageWidth, strings.Repeat(" ", further))...)
}

// widest is how wide the column of pools may be, so that nodes have room beside it.
const widest = 24

// row is one of the timetable: when, for which pool, and the nodes. Where a pool has
// a name that leaves no room for a column, nodes stand below it.
func (t *text) row(when, pool string, column int, nodes string) {
	if column <= widest {
		label := fmt.Sprintf("  %-17s  %-*s ", when, column, pool)
		t.hang(label+nodes, utf8.RuneCountInString(label)-2)
		return
	}
	t.wrap("  ", when+"  "+pool)
	t.hang("      "+nodes, 0)
}
