// Package goldentest compares requests to AWS with files under testdata.
package goldentest

import (
	"encoding/json"
	"testing"

	"github.com/dovetail-sdk/dovetail/internal/golden"
)

// JSON holds that a value is that of testdata/NAME.json, with what is not set left
// out. With -update it writes that file first.
func JSON(t *testing.T, name string, v any) {
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
	golden.Equal(t, string(text)+"\n", name+".json")
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
