package convert

import (
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/dovetail-sdk/dovetail/internal/textstream"
)

// comment is a comment of a document, at a line of its text, from 1.
type comment struct {
	line int
	text string
}

// comments lists the comments of the document as it was read: comments on a line of their own,
// and comments after a value.
func (d *document) comments() []comment {
	var all []comment
	for line, text := range textstream.Comments(d.Text) {
		all = append(all, comment{line, text})
	}
	each(d.top, func(n *yaml.Node) {
		if n.LineComment != "" && n.Line > 0 {
			text, _, _ := strings.Cut(d.words.show(n.LineComment), "\n")
			all = append(all, comment{n.Line, text})
		}
	})
	slices.SortStableFunc(all, func(a, b comment) int { return a.line - b.line })
	return slices.CompactFunc(all, func(a, b comment) bool { return a.line == b.line })
}

// maxPlaces bounds the places of a line at which a comment may begin.
const maxPlaces = 8

// reportComments makes a note of each comment that is in no document any more. One may have
// moved to another together with its field.
func (c *converter) reportComments() {
	kept := map[string]int{}
	for d := range c.rewritten() {
		for line := range strings.Lines(d.written) {
			for i, places := 0, 0; i < len(line) && places < maxPlaces; i++ {
				if line[i] == '#' && (i == 0 || line[i-1] == ' ' || line[i-1] == '\t') {
					kept[strings.TrimRight(line[i:], " \t\r\n")]++
					places++
				}
			}
		}
	}
	for d := range c.rewritten() {
		lost, more := comment{}, 0
		tell := func() {
			if lost.line == 0 {
				return
			}
			what := fmt.Sprintf("the comment %q", oneLine(lost.text))
			if more > 0 {
				what += fmt.Sprintf(", up to line %d,", d.Line+lost.line+more-1)
			}
			c.add(d.file.index, len(c.objects), Note{Source: d.file.source.Name, Document: d.number, Line: d.Line + lost.line - 1,
				Severity: Warning, Message: what + " is left out; what it was about has no place of its own any more"})
		}
		for _, one := range d.remarks {
			switch kept[one.text]--; {
			case kept[one.text] >= 0:
			case lost.line > 0 && one.line == lost.line+more+1:
				more++
			default:
				tell()
				lost, more = one, 0
			}
		}
		tell()
	}
}

// rewritten yields the documents that were written anew.
func (c *converter) rewritten() func(yield func(*document) bool) {
	return func(yield func(*document) bool) {
		for _, f := range c.files {
			for _, d := range f.docs {
				if d.written != "" && !d.json && !yield(d) {
					return
				}
			}
		}
	}
}
