package main

import (
	"fmt"
	"strings"
)

// wrap breaks a text into lines of so many bytes, at spaces. Lines after the first
// are indented by two more.
func wrap(text string, width int) (lines []string) {
	indent := text[:len(text)-len(strings.TrimLeft(text, " "))]
	line := ""
	for i, word := range strings.Split(strings.TrimLeft(text, " "), " ") {
		switch {
		case i == 0:
			line = indent + word
		case len(line)+1+len(word) <= width:
			line += " " + word
		default:
			lines, line = append(lines, strings.TrimRight(line, " ")), indent+"  "+word
		}
	}
	return append(lines, strings.TrimRight(line, " "))
}

// count is a number of things in words.
func count(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}
