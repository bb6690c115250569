package convert_test

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/dovetail-sdk/dovetail/api/convert"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// TestGolden converts each input of testdata and compares what comes out and what
// is said about it. Converting the output again must change nothing.
func TestGolden(t *testing.T) {
	inputs, err := filepath.Glob("testdata/*/input.*")
	require.NoError(t, err)
	require.NotEmpty(t, inputs)
	for _, input := range inputs {
		t.Run(filepath.Base(filepath.Dir(input)), func(t *testing.T) {
			data, err := os.ReadFile(input)
			require.NoError(t, err)
			name := filepath.Base(input)
			r := convert.Convert(nil, convert.Source{Name: name, Data: data})
			out := r.Outputs[0].Data
			var notes strings.Builder
			for _, n := range r.Notes {
				notes.WriteString(n.String() + "\n")
			}
			dir := filepath.Dir(input)
			golden(t, filepath.Join(dir, strings.Replace(name, "input", "output", 1)), string(out))
			golden(t, filepath.Join(dir, "notes.txt"), notes.String())

			again := convert.Convert(nil, convert.Source{Name: name, Data: out})
			require.False(t, again.Changed())
			require.Equal(t, string(out), string(again.Outputs[0].Data))
		})
	}
}

// golden compares a text with a file.
func golden(t *testing.T, path, got string) {
	t.Helper()
	if *update {
		require.NoError(t, os.WriteFile(path, []byte(got), 0o666))
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err, "run the test with -update")
	require.Equal(t, string(want), got)
}
