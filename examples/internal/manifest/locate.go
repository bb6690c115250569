package manifest

import (
	"fmt"
	"strings"

	"go.yaml.in/yaml/v3"
)

// lineIndex finds the line of a field in a document.
type lineIndex struct {
	root *yaml.Node // nil if the document cannot be parsed
}

// lineOf returns the line of the file that has the field at path, or else that of the nearest
// parent that exists. A path consists of keys (string) and indices (int).
//
// The document is parsed a second time, by a parser that records positions. This happens only for
// documents that have a fault.
func (d *document) lineOf(path []any) int {
	if d.lines == nil {
		d.lines = &lineIndex{}
		var root yaml.Node
		if err := yaml.Unmarshal(d.text, &root); err == nil && len(root.Content) > 0 {
			d.lines.root = root.Content[0]
		}
	}
	node := d.lines.root
	if node == nil {
		return d.line
	}
	line := node.Line
	for _, step := range path {
		next, at := child(node, step)
		if next == nil {
			break
		}
		node, line = next, at
	}
	return d.line + line - 1
}

// child returns the value one step down and the line where it begins. For a mapping that is the
// line of the key.
func child(node *yaml.Node, step any) (*yaml.Node, int) {
	// An alias points at its anchor, never at another alias; and a cycle
	// cannot be followed further than the path is long.
	if node.Kind == yaml.AliasNode {
		node = node.Alias
	}
	switch node.Kind {
	case yaml.SequenceNode:
		if i, ok := step.(int); ok && i < len(node.Content) {
			return node.Content[i], node.Content[i].Line
		}
	case yaml.MappingNode:
		key := fmt.Sprint(step) // a key may look like an index
		for i := 0; i+1 < len(node.Content); i += 2 {
			if node.Content[i].Value == key {
				return node.Content[i+1], node.Content[i].Line
			}
		}
	}
	return nil, 0
}

// fieldName renders a path, such as spec.containers[0].resources. Keys that are not plain words are
// in brackets, such as metadata.labels[app.kubernetes.io/name].
func fieldName(path []any) string {
	var b strings.Builder
	for _, step := range path {
		switch step := step.(type) {
		case int:
			fmt.Fprintf(&b, "[%d]", step)
		case string:
			switch {
			case strings.ContainsAny(step, "./[] ") || step == "":
				fmt.Fprintf(&b, "[%s]", step)
			case b.Len() > 0:
				b.WriteString("." + step)
			default:
				b.WriteString(step)
			}
		}
	}
	return b.String()
}

// parsePath inverts fieldName, for paths from other packages.
func parsePath(field string) []any {
	var path []any
	for rest := field; rest != ""; {
		if rest[0] == '[' {
			inside, after, found := strings.Cut(rest[1:], "]")
			if !found {
				return path
			}
			path, rest = append(path, index(inside)), after
			continue
		}
		rest = strings.TrimPrefix(rest, ".")
		end := strings.IndexAny(rest, ".[")
		if end < 0 {
			end = len(rest)
		}
		if end > 0 {
			path = append(path, rest[:end])
		}
		rest = rest[end:]
	}
	return path
}

// index returns the number if the text is one, and the text otherwise.
func index(text string) any {
	n := 0
	for _, c := range text {
		if c < '0' || c > '9' || n > 1<<30 {
			return text
		}
		n = 10*n + int(c-'0')
	}
	if text == "" {
		return text
	}
	return n
}
