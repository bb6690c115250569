// Package command has what the example programs do alike at their edges: files
// come in, complaints go out.
package command

import (
	"fmt"
	"io"
	"os"
	"strings"
)

// ReadFile reads a file, or standard input if the name is "-".
func ReadFile(name string, stdin io.Reader) ([]byte, error) {
	if name != "-" {
		return os.ReadFile(name)
	}
	data, err := io.ReadAll(stdin)
	if err != nil {
		return nil, fmt.Errorf("standard input: %w", err)
	}
	return data, nil
}

// Complain writes an error, each of its lines by itself after the name of the
// program. It returns the exit code it was given.
func Complain(stderr io.Writer, program string, err error, code int) int {
	for line := range strings.Lines(err.Error()) {
		fmt.Fprintln(stderr, program+": "+strings.TrimRight(line, "\n"))
	}
	return code
}
