package convert_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/dovetail-sdk/dovetail/api/convert"
	"github.com/dovetail-sdk/dovetail/internal/golden"
)

// TestGolden converts each input of testdata and compares what comes out and what
// is said about it. Converting the output again must change nothing.
func TestGolden(t *testing.T) {
	inputs, err := filepath.Glob("testdata/*/input.*")
	require.NoError(t, err)
	require.NotEmpty(t, inputs)
	for _, input := range inputs {
		dir := filepath.Base(filepath.Dir(input))
		t.Run(dir, func(t *testing.T) {
			data, err := os.ReadFile(input)
			require.NoError(t, err)
			name := filepath.Base(input)
			r := convert.Convert([]convert.Source{{Name: name, Data: data}}, nil)
			out := r.Outputs[0].Data
			var notes strings.Builder
			for _, n := range r.Notes {
				notes.WriteString(n.String() + "\n")
			}
			golden.Equal(t, string(out), dir, strings.Replace(name, "input", "output", 1))
			golden.Equal(t, notes.String(), dir, "notes.txt")

			again := convert.Convert(r.Outputs, nil)
			require.Equal(t, string(out), string(again.Outputs[0].Data))
		})
	}
}
