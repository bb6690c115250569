// Package webpage writes an answer as a page of HTML that needs nothing else: no script, no
// font, no image, no network.
package webpage

import (
	"bytes"
	_ "embed"
	"html/template"

	"github.com/dovetail-sdk/dovetail/examples/internal/plot"
)

//go:embed webpage.html
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

// Table is a table: numbers, but for the first column.
type Table struct {
	Title string
	Head  []string
	Rows  [][]string
}

// Figure is a picture with its legend: classes of the style sheet and names.
type Figure struct {
	Title, About string
	Legend       [][2]string
	SVG          template.HTML
}

// Style is the style sheet.
func (Page) Style() template.CSS { return plot.Style() }

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
