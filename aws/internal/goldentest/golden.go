// Package goldentest compares requests to AWS with files under testdata.
package goldentest

import (
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"testing"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// JSON returns what testdata/NAME.json says of a value, and how it reads now, with what
// is not set left out. With -update it writes that file first.
func JSON(t *testing.T, name string, v any) (want, got string) {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	var tree any
	if err := json.Unmarshal(text, &tree); err != nil {
		t.Fatal(err)
	}
	if text, err = json.MarshalIndent(pruned(tree), "", "  "); err != nil {
		t.Fatal(err)
	}
	text = append(text, '\n')
	path := filepath.Join("testdata", name+".json")
	if *update {
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, text, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	expected, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(expected), string(text)
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
