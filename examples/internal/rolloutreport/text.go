package rolloutreport

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/dovetail-sdk/dovetail/examples/internal/command"
)

// text is built line by line.
type text struct{ b strings.Builder }

func (t *text) String() string { return t.b.String() }

func (t *text) line(s string) { t.b.WriteString(strings.TrimRight(s, " ") + "\n") }

// heading begins a section, with a remark at the right.
func (t *text) heading(title, remark string) {
	t.line("")
	if remark == "" {
		t.line(title)
		return
	}
	t.line(title + strings.Repeat(" ", max(1, command.PageWidth-len(title)-utf8.RuneCountInString(remark))) + remark)
}

// wrap writes words, lines after the first set in by two more.
func (t *text) wrap(indent, words string) { t.fill(indent, indent+"  ", words) }

// hang writes words behind a label, with the lines after the first below them.
func (t *text) hang(label, words string) {
	t.fill(label, strings.Repeat(" ", utf8.RuneCountInString(label)), words)
}

// widest is how wide the column of pools may be, so that nodes have room beside it.
const widest = 24

// row is one of the timetable: when, for which pool, and the nodes. Where a pool has
// a name that leaves no room for a column, nodes stand below it.
func (t *text) row(when, pool string, column int, nodes string) {
	if column <= widest {
		t.hang(fmt.Sprintf("  %-17s  %-*s ", when, column, pool), nodes)
		return
	}
	t.wrap("  ", when+"  "+pool)
	t.fill("      ", "      ", nodes)
}

// fill breaks words into lines behind what the first of them begins with.
func (t *text) fill(first, rest, words string) {
	indent := len(first) - len(strings.TrimLeft(first, " "))
	for _, line := range command.Wrap(first+strings.Join(strings.Fields(words), " "), command.PageWidth, rest[indent:]) {
		t.line(line)
	}
}
