package textstream

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"go.yaml.in/yaml/v3"
)

// Parse returns the value of one document of YAML or JSON, with the lines of its parts from 1. A
// text that goes on behind its first value is an error. So is a panic of the parser, although none
// is known.
func Parse(text []byte) (root *yaml.Node, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("the parser failed: %v", p)
		}
	}()
	top, decoder := &yaml.Node{}, yaml.NewDecoder(bytes.NewReader(text))
	if err := decoder.Decode(top); err != nil && err != io.EOF {
		return nil, err
	}
	if len(top.Content) != 1 {
		return nil, errors.New("it holds no value")
	}
	if err := decoder.Decode(&yaml.Node{}); err != io.EOF {
		return nil, errors.New("the document goes on behind its first value; begin each object with a line of ---")
	}
	return top.Content[0], nil
}

// Duplicate is a key that appears more than once in one mapping. A step of the path is a string, the
// key of a mapping, or an int, the index in a list.
type Duplicate struct {
	Path      []any
	Ambiguous bool // the keys differ in YAML and are equal only in JSON
}

// Duplicates returns the duplicate keys below a node, in order, each of them once. Those of an alias
// are reported where its anchor is.
func Duplicates(root *yaml.Node) (found []Duplicate) {
	var path []any
	var walk func(n *yaml.Node)
	enter := func(step any, n *yaml.Node) {
		path = append(path, step)
		walk(n)
		path = path[:len(path)-1]
	}
	walk = func(n *yaml.Node) {
		switch n.Kind {
		case yaml.SequenceNode:
			for i, item := range n.Content {
				enter(i, item)
			}
		case yaml.MappingNode:
			seen := map[string][]string{} // the types of a key
			for pair := range slices.Chunk(n.Content, 2) {
				name, kind := jsonKey(resolve(pair[0]))
				if kind == "!!merge" {
					continue
				}
				if seen[name] = append(seen[name], kind); len(seen[name]) == 2 {
					found = append(found, Duplicate{append(slices.Clone(path), name), seen[name][0] != kind})
				}
				enter(name, pair[1])
			}
		}
	}
	walk(root)
	return found
}

// jsonKey returns a key as it is in JSON, where each is a string: 1.0, 1 and "1" are the same key. It
// also returns the type of the key in YAML 1.1.
func jsonKey(key *yaml.Node) (name, kind string) {
	kind = key.ShortTag()
	if key.Style&(yaml.SingleQuotedStyle|yaml.DoubleQuotedStyle) == 0 {
		switch strings.ToLower(key.Value) {
		case "y", "yes", "on", "true":
			return "true", "!!bool"
		case "n", "no", "off", "false":
			return "false", "!!bool"
		}
	}
	var value any
	switch kind {
	case "!!int":
		_ = key.Decode(&value) // it is a number
		return fmt.Sprint(value), kind
	case "!!float":
		var number float64
		_ = key.Decode(&number)                               // it is a number
		return strconv.FormatFloat(number, 'g', -1, 32), kind // as sigs.k8s.io/yaml does
	}
	return key.Value, kind
}

// Lines returns a function that returns the line of the whole text on which the field at a path
// begins, as Find does. The document is parsed at the first call.
func (d Document) Lines() func(path string) int {
	parse := sync.OnceValue(func() *yaml.Node {
		root, err := Parse(d.Text)
		if err != nil { // the parser of YAML does not read all of JSON
			return &yaml.Node{}
		}
		return root
	})
	return func(path string) int {
		_, line := Find(parse(), path)
		return d.Line + max(1, line) - 1
	}
}

// pathStep matches a step of a path: an index or a key in brackets, or the name of a field.
var pathStep = regexp.MustCompile(`\[([^\]]*)\]|[^.[]+`)

// Find returns the value at a path below a node, such as spec.taints[0].key or
// metadata.labels[app.kubernetes.io/name], and the line of its key. Of equal keys the last counts.
// If there is no such value, Find returns nil and the line of the last step that exists.
func Find(n *yaml.Node, path string) (value *yaml.Node, line int) {
	value, line = resolve(n), n.Line
	for _, step := range pathStep.FindAllString(path, -1) {
		step = strings.Trim(step, "[]")
		n, value = value, nil
		for i := 1; n.Kind == yaml.MappingNode && i < len(n.Content); i += 2 {
			if n.Content[i-1].Value == step {
				value, line = resolve(n.Content[i]), n.Content[i-1].Line
			}
		}
		if i, err := strconv.Atoi(step); n.Kind == yaml.SequenceNode && err == nil && i >= 0 && i < len(n.Content) {
			value, line = resolve(n.Content[i]), n.Content[i].Line
		}
		if value == nil {
			return nil, line
		}
	}
	return value, line
}

// resolve returns the target of an alias, and any other node itself.
func resolve(n *yaml.Node) *yaml.Node {
	if n.Kind == yaml.AliasNode {
		return n.Alias
	}
	return n
}
