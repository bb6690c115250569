package command

import (
	"strings"
	"unicode/utf8"
)

// PageWidth is the number of columns that texts for people have at most.
const PageWidth = 80

// Wrap breaks a line into lines of at most so many columns, at blanks where it
// can; a word that is longer is left whole. Lines keep the indent of the first,
// and those after it get the further indent too.
func Wrap(text string, width int, further string) []string {
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
