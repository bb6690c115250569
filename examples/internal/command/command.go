// Package command has what the example programs do alike at their edges: the
// command line and files come in, complaints and colours go out.
//
// A program has one function run that returns its exit code:
//
//	s, code, ok := parseFlags(args, stdout, stderr)
//	if !ok {
//		return code
//	}
//
// and a function parseFlags that declares its flags and calls Parse.
package command

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"syscall"
)

// The exit codes of all programs.
const (
	OK       = 0
	Failed   = 1 // something broke
	BadInput = 2 // the flags or the input are wrong
)

// ReadFile reads a file, or standard input if the name is "-".
func ReadFile(name string, stdin io.Reader) ([]byte, error) {
	if name != "-" {
		data, err := os.ReadFile(name)
		if errors.Is(err, syscall.EISDIR) {
			return nil, fmt.Errorf("%s is a directory; name the files in it, one by one", name)
		}
		return data, err
	}
	data, err := io.ReadAll(stdin)
	if err != nil {
		return nil, fmt.Errorf("standard input: %w", err)
	}
	return data, nil
}

// Complain writes an error, each of its lines by itself after the name of the
// program; see Say. It returns the exit code it was given.
func Complain(stderr io.Writer, program string, err error, code int) int {
	for line := range strings.Lines(err.Error()) {
		Say(stderr, program+": "+strings.TrimRight(line, "\n"))
	}
	return code
}

// Say writes a message. To a file or a pipe it is one line, which can be searched
// for; on a terminal it is broken at blanks to PageWidth columns, the lines after the
// first set in.
func Say(out io.Writer, message string) {
	if !isTerminal(out) {
		fmt.Fprintln(out, message)
		return
	}
	for _, line := range Wrap(message, PageWidth, "    ") {
		fmt.Fprintln(out, line)
	}
}
