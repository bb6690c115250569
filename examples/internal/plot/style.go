package plot

import (
	_ "embed"
	"html/template"
)

//go:embed style.css
var style string

// Style is the style sheet of pages with plots: for light and dark screens, phones and paper.
// Its colours are the classes a to h.
func Style() template.CSS { return template.CSS(style) } //nolint:gosec // it is ours
