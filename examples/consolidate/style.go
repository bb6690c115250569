package main

import (
	"io"
	"os"
)

// style colours texts for a terminal. The zero style leaves them as they are.
type style struct{ on bool }

func (s style) paint(code, text string) string {
	if !s.on || text == "" {
		return text
	}
	return "\x1b[" + code + "m" + text + "\x1b[0m"
}

func (s style) heading(text string) string { return s.paint("1", text) }
func (s style) faint(text string) string   { return s.paint("2", text) }
func (s style) warning(text string) string { return s.paint("33", text) }
func (s style) good(text string) string    { return s.paint("32", text) }

// styleFor is coloured if out is a terminal and the environment does not
// object. See https://no-color.org.
func styleFor(out io.Writer, getenv func(string) string) style {
	file, ok := out.(*os.File)
	if !ok || getenv("NO_COLOR") != "" || getenv("TERM") == "dumb" {
		return style{}
	}
	info, err := file.Stat()
	return style{on: err == nil && info.Mode()&os.ModeCharDevice != 0}
}
