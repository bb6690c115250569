// Package page writes answers as pages of HTML that need nothing else: no script, no font, no
// image, no network. Their pictures are SVG with the colours of one style sheet, for light and
// dark screens, phones and paper.
package page

import (
	"bytes"
	_ "embed"
	"fmt"
	"html"
	"html/template"
	"strings"
)

//go:embed page.html
var pageText string

// Page is an answer in parts, in the order in which they stand on the page. What is empty is
// left out.
type Page struct {
	Title   string
	Verdict string      // the answer in one sentence
	Lead    []string    // paragraphs
	Key     [][2]string // figures and what they are of
	Story   []Entry
	Figures []Figure
	Tables  []Table
	Below   string // the title of Log
	Log     []Entry
}

// Entry is something that happened, or is to be said. At may be empty in a Log.
type Entry struct{ At, Text string }

// Table is a table of numbers, with names in the first column.
type Table struct {
	Title string
	Head  []string
	Rows  [][]string
}

// Figure is a picture: a *Plot, a *Bars, a *Columns or a *Drawing.
type Figure interface {
	// Legend has the classes of the style sheet that the picture uses, with their names.
	Legend() [][2]string
	// SVG is the picture, with all text escaped.
	SVG() template.HTML
}

// Caption stands over a picture. About is one sentence, which readers who do not see the picture
// are told too.
type Caption struct{ Title, About string }

// open begins a picture of so many units.
func (c *Caption) open(b *strings.Builder, width, height int) {
	fmt.Fprintf(b, `<svg viewBox="0 0 %d %d" role="img" aria-label="%s">`+"\n", width, height, html.EscapeString(c.Title+": "+c.About))
}

// closed ends a picture. All text in it has to be escaped already.
func closed(b *strings.Builder) template.HTML {
	b.WriteString("</svg>")
	return template.HTML(b.String()) //nolint:gosec // see above
}

// Drawing is a picture that was drawn elsewhere. Its text is escaped.
type Drawing struct {
	Caption
	Text string
}

// Legend is empty: it is part of the drawing.
func (*Drawing) Legend() [][2]string { return nil }

// SVG is the drawing.
func (d *Drawing) SVG() template.HTML { return template.HTML(d.Text) } //nolint:gosec // it is escaped

//go:embed style.css
var style string

//go:embed colours.css
var colours string

// Style is the style sheet. Its colours are the classes a to h.
func (Page) Style() template.CSS { return template.CSS(colours + style) } //nolint:gosec // it is ours

// Colours is the part of Style that a picture by itself needs.
func Colours() string { return colours }

// HTML is the page.
func (p Page) HTML() (string, error) {
	t, err := template.New("page").Parse(pageText)
	if err != nil {
		return "", err
	}
	var b bytes.Buffer
	err = t.Execute(&b, p)
	return b.String(), err
}
