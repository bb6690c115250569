package main

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var update = flag.Bool("update", false, "rewrite the golden file")

// TestOutput holds what the program prints against the text that README.md shows.
func TestOutput(t *testing.T) {
	printed := filepath.Join(t.TempDir(), "output.txt")
	file, err := os.Create(printed)
	require.NoError(t, err)
	stdout := os.Stdout
	os.Stdout = file
	main()
	os.Stdout = stdout
	require.NoError(t, file.Close())
	got, err := os.ReadFile(printed)
	require.NoError(t, err)

	golden := filepath.Join("testdata", "output.txt")
	if *update {
		require.NoError(t, os.WriteFile(golden, got, 0o666))
	}
	want, err := os.ReadFile(golden)
	require.NoError(t, err, "run the test with -update")
	require.Equal(t, string(want), string(got))
	for line := range strings.Lines(string(got)) {
		require.LessOrEqual(t, len(strings.TrimSuffix(line, "\n")), 80, "%s", line)
	}
}
