package v1

import (
	"fmt"
	"reflect"
	"slices"

	"k8s.io/apimachinery/pkg/util/validation/field"
	sigsjson "sigs.k8s.io/json"

	"github.com/dovetail-sdk/dovetail/internal/textstream"
)

// duplicates returns the paths of the keys that appear more than once in one object of the document.
// strict has the errors for those in its JSON, in which a path does not tell a dot from one within
// a key.
func (d Document) duplicates(strict []error) (paths [][]any) {
	for _, dup := range d.source.duplicates {
		if n := len(d.path); len(dup.Path) > n && slices.Equal(dup.Path[:n], d.path) {
			paths = append(paths, dup.Path[n:])
		}
	}
	if len(strict) == 0 {
		return paths
	}
	root, err := textstream.Parse(d.data)
	if err != nil { // the parser of YAML does not read all of JSON
		for _, err := range strict {
			if fault, ok := err.(sigsjson.FieldError); ok {
				paths = append(paths, []any{fault.FieldPath()})
			}
		}
		return paths
	}
	for _, dup := range textstream.Duplicates(root) {
		paths = append(paths, dup.Path)
	}
	return paths
}

// duplicateKey returns the fault of a key with the path in the form of the object's type: members of
// a struct with a dot, keys of a map in brackets.
func duplicateKey(steps []any, root reflect.Type) *field.Error {
	var path *field.Path
	t := root
	for _, step := range steps {
		path, t = descend(path, t, step)
	}
	return duplicate(path, fmt.Sprint(steps[len(steps)-1]), "the key appears more than once in this object; keep one")
}

// pathOf returns a path as text.
func pathOf(steps []any) string {
	var path *field.Path
	for _, step := range steps {
		path, _ = descend(path, nil, step)
	}
	if path == nil {
		return ""
	}
	return path.String()
}
