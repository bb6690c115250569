// Package page renders answers as self-contained HTML pages: no script, no font, no image and no
// network is needed. Pictures are SVG and share the colours of one style sheet, for light and dark
// screens, phones and paper.
package page

import (
	"bytes"
	_ "embed"
	"fmt"
	"html"
	"html/template"
	"strings"

	"github.com/dovetail-sdk/dovetail/internal/layout"
)

//go:embed page.html
var pageText string

// Page is an answer in parts, in the order of the page. Empty parts are left out.
type Page struct {
	Title   string
	Verdict string      // the answer in one sentence
	Lead    []string    // paragraphs
	Key     [][2]string // pairs of a figure and its meaning
	Story   []Entry
	Figures []Figure
	Tables  []Table
	Below   string // title of Log
	Log     []Entry
}

// Entry is an event or a remark. At may be empty in a Log.
type Entry struct{ At, Text string }

// Table is a table of numbers, with names in the first column.
type Table struct {
	Title string
	Head  []string
	Rows  [][]string
}

// text returns the table as text, without its title.
func (t Table) text() string {
	g := layout.Grid{Columns: layout.Columns(t.Head...), Rows: t.Rows}
	for i := range g.Columns {
		g.Columns[i].Title = strings.ToUpper(g.Columns[i].Title)
	}
	return strings.Join(g.Lines(), "\n") + "\n"
}

// Figure is a picture: a *Plot, a *Bars, a *Columns or a *Drawing.
type Figure interface {
	// Legend has the classes of the style sheet that the picture uses, with their names. The page shows
	// it if there are several.
	Legend() [][2]string
	// SVG returns the picture, with all text escaped.
	SVG() template.HTML
}

// Caption is the text above a picture. About is one sentence, which screen readers read instead of
// the picture.
type Caption struct{ Title, About string }

// open begins a picture of the given size, in units.
func (c *Caption) open(b *strings.Builder, width, height int) {
	fmt.Fprintf(b, `<svg viewBox="0 0 %d %d" role="img" aria-label="%s">`+"\n", width, height, html.EscapeString(c.Title+": "+c.About))
}

// closed ends a picture. All text in b must be escaped already.
func closed(b *strings.Builder) template.HTML {
	b.WriteString("</svg>")
	return template.HTML(b.String()) //nolint:gosec // see above
}

// Drawing is a picture drawn by other code. Its text is escaped.
type Drawing struct {
	Caption
	Text string
}

// Legend is empty, because the drawing contains its own legend.
func (*Drawing) Legend() [][2]string { return nil }

// SVG returns the drawing.
func (d *Drawing) SVG() template.HTML { return template.HTML(d.Text) } //nolint:gosec // it is escaped

//go:embed style.css
var style string

//go:embed colours.css
var colours string

// Style returns the style sheet. Its colours are the classes a to h.
func (Page) Style() template.CSS { return template.CSS(colours + style) } //nolint:gosec // it is ours

// HTML returns the page.
func (p Page) HTML() (string, error) {
	t, err := template.New("page").Parse(pageText)
	if err != nil {
		return "", err
	}
	var b bytes.Buffer
	err = t.Execute(&b, p)
	return b.String(), err
}
