package command

import (
	"io"
	"os"
)

// Style colours texts for a terminal. The zero Style leaves them as they are.
type Style struct{ On bool }

func (s Style) paint(code, text string) string {
	if !s.On || text == "" {
		return text
	}
	return "\x1b[" + code + "m" + text + "\x1b[0m"
}

// Heading is bold.
func (s Style) Heading(text string) string { return s.paint("1", text) }

// Faint is for what is read last.
func (s Style) Faint(text string) string { return s.paint("2", text) }

// Warning is yellow.
func (s Style) Warning(text string) string { return s.paint("33", text) }

// Good is green.
func (s Style) Good(text string) string { return s.paint("32", text) }

// StyleFor is coloured if out is a terminal and the environment does not object.
// See https://no-color.org.
func StyleFor(out io.Writer, getenv func(string) string) Style {
	return Style{On: isTerminal(out) && getenv("NO_COLOR") == "" && getenv("TERM") != "dumb"}
}

// isTerminal reports whether out is a character device, which is near enough.
func isTerminal(out io.Writer) bool {
	file, ok := out.(*os.File)
	if !ok {
		return false
	}
	info, err := file.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}
