//lint:file-ignore SA1019 See document_parse.go.

package v1

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"reflect"

	"k8s.io/apimachinery/pkg/util/validation/field"
	goyaml "sigs.k8s.io/yaml/goyaml.v2"
)

// duplicateKey is a key that appears more than once in one object. A step of
// the path is a string, the key of an object, or an int, the index in an array.
type duplicateKey struct {
	path      []any
	ambiguous bool // the keys differ in YAML and are equal only in JSON
}

// fault returns the fault with the path in the form of the object's type: members of a struct with
// a dot, keys of a map in brackets.
func (d duplicateKey) fault(root reflect.Type) *field.Error {
	var path *field.Path
	t := root
	for _, step := range d.path {
		path, t = descend(path, t, step)
	}
	return duplicate(path, fmt.Sprint(d.path[len(d.path)-1]), "the key appears more than once in this object; keep one")
}

// inItem splits off the path of an item in a list: items, index, rest.
func (d duplicateKey) inItem() (int, duplicateKey, bool) {
	if len(d.path) < 3 || d.path[0] != "items" {
		return 0, d, false
	}
	index, ok := d.path[1].(int)
	d.path = d.path[2:]
	return index, d, ok
}

// duplicateFinder walks a document and tracks the current path.
type duplicateFinder struct {
	path  []any
	found []duplicateKey
}

// enter runs the walk one step further down.
func (f *duplicateFinder) enter(step any, walk func() error) error {
	f.path = append(f.path, step)
	err := walk()
	f.path = f.path[:len(f.path)-1]
	return err
}

func (f *duplicateFinder) report(ambiguous bool) {
	path := make([]any, len(f.path))
	copy(path, f.path)
	f.found = append(f.found, duplicateKey{path: path, ambiguous: ambiguous})
}

// duplicatesInJSON takes valid JSON, whose nesting encoding/json has bounded.
func duplicatesInJSON(data []byte) ([]duplicateKey, error) {
	f := &duplicateFinder{}
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.UseNumber()
	if err := f.jsonValue(decoder); err != nil && err != io.EOF {
		return nil, err
	}
	return f.found, nil
}

func (f *duplicateFinder) jsonValue(d *json.Decoder) error {
	token, err := d.Token()
	if err != nil {
		return err
	}
	switch token {
	case json.Delim('{'):
		seen := map[string]int{}
		for d.More() {
			key, err := d.Token()
			if err != nil {
				return err
			}
			name, _ := key.(string)
			seen[name]++
			err = f.enter(name, func() error {
				if seen[name] == 2 {
					f.report(false)
				}
				return f.jsonValue(d)
			})
			if err != nil {
				return err
			}
		}
		_, err = d.Token()
	case json.Delim('['):
		for i := 0; d.More(); i++ {
			if err := f.enter(i, func() error { return f.jsonValue(d) }); err != nil {
				return err
			}
		}
		_, err = d.Token()
	}
	return err
}

func duplicatesInYAML(tree goyaml.MapSlice) []duplicateKey {
	f := &duplicateFinder{}
	f.yamlValue(tree)
	return f.found
}

func (f *duplicateFinder) yamlValue(value any) {
	switch value := value.(type) {
	case goyaml.MapSlice:
		// Keys that are not strings become strings in JSON: 1 and "1" are the
		// same key there.
		seen, types := map[string]int{}, map[string]reflect.Type{}
		for _, item := range value {
			name, t := fmt.Sprint(item.Key), reflect.TypeOf(item.Key)
			seen[name]++
			first, again := types[name]
			types[name] = t
			f.path = append(f.path, name)
			if seen[name] == 2 {
				f.report(again && first != t)
			}
			f.yamlValue(item.Value)
			f.path = f.path[:len(f.path)-1]
		}
	case []any:
		for i, item := range value {
			f.path = append(f.path, i)
			f.yamlValue(item)
			f.path = f.path[:len(f.path)-1]
		}
	}
}
