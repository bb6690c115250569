// Package output compares the output of programs with the texts in their README.md, and with the
// width of a terminal.
package output

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/dovetail-sdk/dovetail/internal/golden"
)

// Check runs a program and fails the test unless it prints testdata/output.txt, within the width of
// a terminal. With -update it writes that file first.
func Check(t *testing.T, program func()) {
	t.Helper()
	printed := filepath.Join(t.TempDir(), "output.txt")
	file, err := os.Create(printed)
	require.NoError(t, err)
	stdout := os.Stdout
	os.Stdout = file
	program()
	os.Stdout = stdout
	require.NoError(t, file.Close())
	text, err := os.ReadFile(printed)
	require.NoError(t, err)
	golden.Equal(t, string(text), "output.txt")
	Fits(t, string(text))
}

// Fits fails the test if a line is wider than a terminal of 80 columns or ends with spaces.
func Fits(t testing.TB, text string) {
	t.Helper()
	golden.Fits(t, text)
}
