package awstest

import (
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// form is a node of the tree of the names in a query: A.1.B=x is x at A, 1, B. Lists are nodes
// whose children are numbers.
type form struct {
	text     string
	children map[string]form
}

func newForm(values url.Values) form {
	root := form{children: map[string]form{}}
	for _, name := range slices.Sorted(maps.Keys(values)) {
		root = root.with(strings.Split(name, "."), values.Get(name))
	}
	return root
}

func (f form) with(path []string, text string) form {
	if len(path) == 0 {
		f.text = text
		return f
	}
	if f.children == nil {
		f.children = map[string]form{}
	}
	f.children[path[0]] = f.children[path[0]].with(path[1:], text)
	return f
}

// at returns the node at a path written with dots.
func (f form) at(path string) form {
	for _, name := range strings.Split(path, ".") {
		f = f.children[name]
	}
	return f
}

func (f form) has(path string) bool {
	n := f.at(path)
	return n.text != "" || len(n.children) > 0
}

func (f form) str(path string) string { return f.at(path).text }

func (f form) yes(path string) bool { return f.str(path) == "true" }

// num returns the number at a path, and false if the text there is no number.
func (f form) num(path string) (int, bool) {
	n, err := strconv.Atoi(f.str(path))
	return n, err == nil
}

// list returns the elements of a list, in the order of their numbers.
func (f form) list(path string) []form {
	n := f.at(path)
	keys := slices.SortedFunc(maps.Keys(n.children), func(a, b string) int {
		i, _ := strconv.Atoi(a)
		j, _ := strconv.Atoi(b)
		return i - j
	})
	items := make([]form, 0, len(keys))
	for _, k := range keys {
		items = append(items, n.children[k])
	}
	return items
}

// strs returns the list at a path as strings.
func (f form) strs(path string) []string {
	var out []string
	for _, item := range f.list(path) {
		out = append(out, item.text)
	}
	return out
}

// tags returns the list of keys and values at a path as a map.
func (f form) tags(path string) map[string]string {
	tags := map[string]string{}
	for _, item := range f.list(path) {
		tags[item.str("Key")] = item.str("Value")
	}
	return tags
}

// canonical returns a text that is equal for equal forms, without the given names at the root.
func (f form) canonical(without ...string) string {
	var b strings.Builder
	f.write(&b, without)
	return b.String()
}

func (f form) write(b *strings.Builder, without []string) {
	b.WriteString(strconv.Quote(f.text))
	for _, name := range slices.Sorted(maps.Keys(f.children)) {
		if slices.Contains(without, name) {
			continue
		}
		b.WriteString("{" + name)
		f.children[name].write(b, nil)
		b.WriteString("}")
	}
}
