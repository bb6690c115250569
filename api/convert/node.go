package convert

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// The tags of the YAML types that matter here.
const (
	tagText = "!!str"
	tagNull = "!!null"
	tagMap  = "!!map"
	tagList = "!!seq"
)

// pair is an entry of a mapping. The zero pair is none.
type pair struct {
	key, value *yaml.Node
}

func isMap(n *yaml.Node) bool  { return n != nil && n.Kind == yaml.MappingNode }
func isList(n *yaml.Node) bool { return n != nil && n.Kind == yaml.SequenceNode }

func isNull(n *yaml.Node) bool {
	return n == nil || n.Kind == yaml.ScalarNode && n.ShortTag() == tagNull
}

// empty tells whether a value is null or a list or mapping without entries.
func empty(n *yaml.Node) bool {
	return isNull(n) || n.Kind != yaml.ScalarNode && len(n.Content) == 0
}

func newText(text string) *yaml.Node {
	n := &yaml.Node{Kind: yaml.ScalarNode, Tag: tagText, Value: text}
	if _, ok := truth(n); ok {
		n.Style = yaml.DoubleQuotedStyle
	}
	return n
}

// truth is what a scalar says that is true or false. The API server reads YAML
// 1.1, in which words such as yes and off do, unless they are quoted; the parser
// here takes those for texts.
func truth(n *yaml.Node) (value, ok bool) {
	if n == nil || n.Kind != yaml.ScalarNode || n.Style&^yaml.FlowStyle != 0 {
		return false, false
	}
	switch n.Value {
	case "true", "True", "TRUE", "y", "Y", "yes", "Yes", "YES", "on", "On", "ON":
		return true, true
	case "false", "False", "FALSE", "n", "N", "no", "No", "NO", "off", "Off", "OFF":
		return false, true
	}
	return false, false
}

func newInt(i int) *yaml.Node {
	return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!int", Value: strconv.Itoa(i)}
}

func newBool(b bool) *yaml.Node {
	return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!bool", Value: strconv.FormatBool(b)}
}

func newMap(pairs ...pair) *yaml.Node {
	m := &yaml.Node{Kind: yaml.MappingNode, Tag: tagMap}
	for _, p := range pairs {
		put(m, p)
	}
	return m
}

func newList(items ...*yaml.Node) *yaml.Node {
	return &yaml.Node{Kind: yaml.SequenceNode, Tag: tagList, Content: items}
}

// entry makes a pair of a key and a value.
func entry(key string, value *yaml.Node) pair {
	return pair{newText(key), value}
}

// textOf is the text of a scalar, and "" for anything else and for null.
func textOf(n *yaml.Node) string {
	if n == nil || n.Kind != yaml.ScalarNode || isNull(n) {
		return ""
	}
	return n.Value
}

// pairs lists the entries of a mapping. It is empty for anything else.
func pairs(m *yaml.Node) []pair {
	if !isMap(m) {
		return nil
	}
	all := make([]pair, 0, len(m.Content)/2)
	for i := 0; i+1 < len(m.Content); i += 2 {
		all = append(all, pair{m.Content[i], m.Content[i+1]})
	}
	return all
}

// items lists the entries of a list. It is empty for anything else.
func items(l *yaml.Node) []*yaml.Node {
	if !isList(l) {
		return nil
	}
	return l.Content
}

// find returns the entry of a mapping under a key, or the zero pair.
func find(m *yaml.Node, key string) pair {
	if i := indexOf(m, key); i >= 0 {
		return pair{m.Content[i], m.Content[i+1]}
	}
	return pair{}
}

// indexOf is where in the content of a mapping the entry under a key begins, or -1.
func indexOf(m *yaml.Node, key string) int {
	for i := 0; isMap(m) && i+1 < len(m.Content); i += 2 {
		if k := m.Content[i]; k.Value == key && k.Kind == yaml.ScalarNode {
			return i
		}
	}
	return -1
}

// at follows keys down from a node. It is nil if there is nothing.
func at(n *yaml.Node, keys ...string) *yaml.Node {
	for _, key := range keys {
		n = find(n, key).value
	}
	return n
}

// put appends an entry to a mapping.
func put(m *yaml.Node, p pair) {
	m.Content = append(m.Content, p.key, p.value)
}

// take removes the entry under a key and returns it, or the zero pair.
func take(m *yaml.Node, key string) pair {
	i := indexOf(m, key)
	if i < 0 {
		return pair{}
	}
	p := pair{m.Content[i], m.Content[i+1]}
	m.Content = append(m.Content[:i:i], m.Content[i+2:]...)
	return p
}

// within returns the mapping under a key of m, and makes it if there is none.
// It is nil if something else is there, or m is no mapping.
func within(m *yaml.Node, key string) *yaml.Node {
	if !isMap(m) {
		return nil
	}
	p := find(m, key)
	if p.key == nil {
		p = entry(key, newMap())
		put(m, p)
	}
	if isNull(p.value) {
		p.value.Kind, p.value.Tag, p.value.Value, p.value.Style = yaml.MappingNode, tagMap, "", 0
	}
	if !isMap(p.value) {
		return nil
	}
	return p.value
}

// as is an entry under another key and with another value, which takes over the
// comments of the old.
func (p pair) as(key string, value *yaml.Node) pair {
	k := *p.key
	k.Value, k.Tag, k.Style = key, tagText, 0
	if p.value != value && value.LineComment == "" && value.Kind == yaml.ScalarNode {
		value.LineComment = p.value.LineComment
	}
	return pair{&k, value}
}

// copyNode copies a tree that holds no alias.
func copyNode(n *yaml.Node) *yaml.Node {
	if n == nil {
		return nil
	}
	c := *n
	c.Content = make([]*yaml.Node, len(n.Content))
	for i, child := range n.Content {
		c.Content[i] = copyNode(child)
	}
	return &c
}

// same tells whether two trees say the same, whatever their style and comments.
func same(a, b *yaml.Node) bool {
	if a == nil || b == nil {
		return a == b
	}
	if a.Kind != b.Kind || len(a.Content) != len(b.Content) {
		return false
	}
	if a.Kind == yaml.ScalarNode && (a.ShortTag() != b.ShortTag() || a.Value != b.Value && !isNull(a)) {
		return false
	}
	for i := range a.Content {
		if !same(a.Content[i], b.Content[i]) {
			return false
		}
	}
	return true
}

// twice returns the path of a key that stands twice in one mapping, or "".
func twice(n *yaml.Node, path string) string {
	seen := map[string]bool{}
	for _, p := range pairs(n) {
		where := join(path, p.key.Value)
		if p.key.Kind == yaml.ScalarNode && seen[p.key.Value] {
			return where
		}
		seen[p.key.Value] = true
		if found := twice(p.value, where); found != "" {
			return found
		}
	}
	for i, item := range items(n) {
		if found := twice(item, index(path, i)); found != "" {
			return found
		}
	}
	return ""
}

// join appends a key to a path. Keys that are no plain words stand in brackets,
// as in metadata.labels[app.kubernetes.io/name].
func join(path, key string) string {
	switch {
	case strings.ContainsAny(key, "./[]: \n") || key == "":
		return path + "[" + key + "]"
	case path == "":
		return key
	}
	return path + "." + key
}

// visit calls do for each value that a pattern stands for, such as
// spec.containers[].image, with its path below the one given.
func visit(n *yaml.Node, path, pattern string, do func(path string, n *yaml.Node)) {
	step, rest, more := strings.Cut(pattern, ".")
	key, list := strings.CutSuffix(step, "[]")
	path, n = join(path, key), at(n, key)
	next := func(path string, n *yaml.Node) {
		if more {
			visit(n, path, rest, do)
		} else if n != nil {
			do(path, n)
		}
	}
	if !list {
		next(path, n)
		return
	}
	for i, item := range items(n) {
		next(index(path, i), item)
	}
}

func index(path string, i int) string {
	return path + "[" + strconv.Itoa(i) + "]"
}

// nodesAt returns the values along a path of the form of field paths, from the
// top down, as far as they are there.
func nodesAt(n *yaml.Node, path string) []*yaml.Node {
	found := []*yaml.Node{n}
	for path != "" && n != nil {
		var key string
		if path[0] == '[' {
			end := strings.IndexByte(path, ']')
			if end < 0 {
				return found
			}
			key, path = path[1:end], path[end+1:]
		} else {
			path = strings.TrimPrefix(path, ".")
			end := strings.IndexAny(path, ".[")
			if end < 0 {
				end = len(path)
			}
			key, path = path[:end], path[end:]
		}
		if isList(n) {
			i := listIndex(key)
			if i < 0 || i >= len(n.Content) {
				return found
			}
			n = n.Content[i]
		} else {
			n = find(n, key).value
		}
		if n != nil {
			found = append(found, n)
		}
	}
	return found
}

// listIndex reads the index of a list item, and is -1 for what is none.
func listIndex(text string) int {
	i, err := strconv.Atoi(text)
	if err != nil {
		return -1
	}
	return i
}

// Bounds of expansion, so that a short text cannot become a huge one.
const (
	maxNodes = 200_000 // that aliases stand for
	maxDepth = 200
)

// expand writes out anchors, aliases and merge keys, so that a change to one
// place does not reach others. It works on a copy.
func expand(n *yaml.Node) (*yaml.Node, error) {
	e := &expander{}
	out := e.expand(n, 0)
	return out, e.err
}

type expander struct {
	within int // aliases
	count  int // of values within aliases
	err    error
}

func (e *expander) expand(n *yaml.Node, depth int) *yaml.Node {
	if e.within > 0 {
		e.count++
	}
	if e.count > maxNodes || depth > maxDepth {
		if e.err == nil {
			e.err = fmt.Errorf("it is deeper than %d levels, or its aliases stand for more than %d values", maxDepth, maxNodes)
		}
		return newMap()
	}
	if n.Kind == yaml.AliasNode {
		if n.Alias == nil {
			e.err = errors.New("it has an alias without an anchor")
			return newMap()
		}
		e.within++
		out := e.expand(n.Alias, depth+1)
		e.within--
		out.HeadComment, out.LineComment, out.FootComment = n.HeadComment, n.LineComment, n.FootComment
		return out
	}
	out := *n
	out.Anchor, out.Content = "", make([]*yaml.Node, 0, len(n.Content))
	for i, child := range n.Content {
		if e.err != nil {
			break
		}
		if n.Kind == yaml.MappingNode && i%2 == 0 && child.ShortTag() == "!!merge" {
			continue // merged below, when the keys that win are known
		}
		if n.Kind == yaml.MappingNode && i%2 == 1 && n.Content[i-1].ShortTag() == "!!merge" {
			continue
		}
		out.Content = append(out.Content, e.expand(child, depth+1))
	}
	for i := 0; n.Kind == yaml.MappingNode && e.err == nil && i+1 < len(n.Content); i += 2 {
		if n.Content[i].ShortTag() == "!!merge" {
			e.merge(&out, n.Content[i+1], depth+1)
		}
	}
	return &out
}

// merge adds the entries of a mapping, or of several, that are not there yet.
func (e *expander) merge(m, from *yaml.Node, depth int) {
	from = e.expand(from, depth)
	sources := []*yaml.Node{from}
	if isList(from) {
		sources = from.Content
	}
	for _, source := range sources {
		for _, p := range pairs(source) {
			if find(m, p.key.Value).key == nil {
				put(m, p)
			}
		}
	}
}
