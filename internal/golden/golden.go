// Package golden compares texts with files under testdata, for tests. A test package
// that imports it has the flag -update, which writes the files.
package golden

import (
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// Equal fails the test unless a text is equal to a file, given by its path in testdata. With
// -update it writes the file first. A difference ends the test.
func Equal(t testing.TB, got string, path ...string) {
	t.Helper()
	file := filepath.Join("testdata", filepath.Join(path...))
	if *update {
		require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o777))
		require.NoError(t, os.WriteFile(file, []byte(got), 0o666))
	}
	want, err := os.ReadFile(file)
	require.NoError(t, err, "run the tests of this package with -update to write it")
	require.Equal(t, string(want), got, "run the tests of this package with -update if this is meant")
}

// Fits fails the test if a line is wider than a terminal of 80 columns or ends with spaces.
func Fits(t testing.TB, text string) {
	t.Helper()
	for line := range strings.SplitSeq(text, "\n") {
		require.LessOrEqual(t, utf8.RuneCountInString(line), 80, line)
		require.Equal(t, strings.TrimRight(line, " "), line, "spaces at the end")
	}
}

// JSON fails the test unless a value is equal to testdata/NAME.json, with unset fields left out.
// With -update it writes that file first.
func JSON(t testing.TB, name string, v any) {
	t.Helper()
	text, err := json.Marshal(v)
	require.NoError(t, err)
	var tree any
	require.NoError(t, json.Unmarshal(text, &tree))
	text, err = json.MarshalIndent(pruned(tree), "", "  ")
	require.NoError(t, err)
	Equal(t, string(text)+"\n", name+".json")
}

// pruned leaves out what was not set.
func pruned(tree any) any {
	switch v := tree.(type) {
	case map[string]any:
		for key, one := range v {
			if one == nil || one == "" {
				delete(v, key)
			} else {
				v[key] = pruned(one)
			}
		}
	case []any:
		for i := range v {
			v[i] = pruned(v[i])
		}
	}
	return tree
}
