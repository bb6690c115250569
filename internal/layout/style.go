package layout

import (
	"strings"
	"unicode/utf8"
)

// Width is the number of columns that a page has at most.
const Width = 80

// Style colours texts for a terminal. The zero Style leaves them as they are.
type Style struct{ On bool }

func (s Style) paint(code, text string) string {
	if !s.On || text == "" {
		return text
	}
	return "\x1b[" + code + "m" + text + "\x1b[0m"
}

// Heading makes a text bold.
func (s Style) Heading(text string) string { return s.paint("1", text) }

// Faint makes a text faint, for less important parts.
func (s Style) Faint(text string) string { return s.paint("2", text) }

// Warning makes a text yellow.
func (s Style) Warning(text string) string { return s.paint("33", text) }

// Good makes a text green.
func (s Style) Good(text string) string { return s.paint("32", text) }

// WrapTo breaks a line into lines of at most the given number of columns, at blanks where it can; a
// word that is longer is left whole. Lines keep the indent of the first, and those after it get the
// further indent too.
func WrapTo(text string, width int, further string) []string {
	indent := text[:len(text)-len(strings.TrimLeft(text, " "))]
	line := ""
	var lines []string
	for i, word := range strings.Split(text[len(indent):], " ") {
		switch {
		case i == 0:
			line = indent + word
		case utf8.RuneCountInString(line)+1+utf8.RuneCountInString(word) <= width:
			line += " " + word
		default:
			lines = append(lines, strings.TrimRight(line, " "))
			line = indent + further + word
		}
	}
	return append(lines, strings.TrimRight(line, " "))
}
