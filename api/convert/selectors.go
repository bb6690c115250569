package convert

import (
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// selection is what a selector of v1alpha1 asks for.
type selection struct {
	ids, names, owners []string
	tags               *yaml.Node // the rest of the selector
}

// parseSelector sorts the entries of a selector by what they mean. Lists are
// separated by commas; blanks around items do not count.
func parseSelector(m *yaml.Node) selection {
	s := selection{tags: &yaml.Node{Kind: yaml.MappingNode, Tag: tagMap, Style: m.Style, Line: m.Line, Column: m.Column}}
	for _, p := range pairs(m) {
		switch p.key.Value {
		case "aws-ids", "aws::ids":
			s.ids = append(s.ids, commas(textOf(p.value))...)
		case "aws::name":
			s.names = append(s.names, commas(textOf(p.value))...)
		case "aws::owners":
			s.owners = append(s.owners, commas(textOf(p.value))...)
		default:
			if p.value.Kind == yaml.ScalarNode {
				p.value.Tag = tagText
			}
			put(s.tags, p)
		}
	}
	return s
}

func commas(text string) []string {
	var parts []string
	for part := range strings.SplitSeq(text, ",") {
		if part = strings.TrimSpace(part); part != "" && !slices.Contains(parts, part) {
			parts = append(parts, part)
		}
	}
	return parts
}

// maxTagSets bounds the product of comma lists; classes take 30 terms anyway.
const maxTagSets = 1000

// tagSets writes out comma lists in the values of tags: the product of all, in
// the order of the tags. It is one empty set for no tags.
func (s selection) tagSets() []*yaml.Node {
	sets := []*yaml.Node{s.tags}
	for i, p := range pairs(s.tags) {
		values := commas(textOf(p.value))
		if len(values) < 2 || len(sets)*len(values) > maxTagSets {
			continue
		}
		var next []*yaml.Node
		for _, set := range sets {
			for _, v := range values {
				one := copyNode(set)
				one.Content[2*i+1] = newText(v)
				next = append(next, one)
			}
		}
		sets = next
	}
	return sets
}

// term makes a term of the fields that are set.
func term(tags *yaml.Node, fields ...[2]string) *yaml.Node {
	t := newMap()
	if tags != nil && len(tags.Content) > 0 {
		put(t, entry("tags", tags))
	}
	for _, f := range fields {
		if f[1] != "" {
			put(t, entry(f[0], newText(f[1])))
		}
	}
	return t
}

// selector converts a selector of subnets, security groups or images. Names and owners
// mean something in one of images; elsewhere they are tags.
func (c *converter) selector(o *object, path string, spec *yaml.Node, from, to string) {
	old := c.openSelector(o, path, spec, from, to)
	if old.key == nil {
		return
	}
	s := parseSelector(old.value)
	lost := "the other entries, which narrowed them down, are removed: %s"
	if from != "amiSelector" {
		lost = "the tags %s, which narrowed them down, are removed"
		s.asTags("aws::name", &s.names)
		s.asTags("aws::owners", &s.owners)
	}
	terms := newList()
	for _, id := range s.ids {
		terms.Content = append(terms.Content, term(nil, [2]string{"id", id}))
	}
	others := len(s.tags.Content) > 0
	switch {
	case len(s.ids) > 0 && (others || len(s.names)+len(s.owners) > 0):
		c.remark(o, Warning, join(path, from), old.key, "ids decide alone now; "+lost,
			strings.Join(slices.Concat(s.names, s.owners, []string{keysOf(s.tags)}), " "))
	case len(s.ids) == 0 && (others || len(s.names) > 0):
		for _, owner := range orNone(s.owners) {
			for _, name := range orNone(s.names) {
				for _, set := range s.tagSets() {
					terms.Content = append(terms.Content, term(copyNode(set), [2]string{"name", name}, [2]string{"owner", owner}))
				}
			}
		}
	}
	c.closeSelector(o, path, old, from, to, terms)
}

// asTags makes a tag of texts that are nothing special.
func (s *selection) asTags(key string, values *[]string) {
	if len(*values) > 0 {
		put(s.tags, entry(key, newText(strings.Join(*values, ","))))
		*values = nil
	}
}

// orNone is a list, or one empty text.
func orNone(list []string) []string {
	if len(list) == 0 {
		return []string{""}
	}
	return list
}

// openSelector finds a selector that is a mapping with entries. Another that is
// there stays, with a note.
func (c *converter) openSelector(o *object, path string, spec *yaml.Node, from, to string) pair {
	old := find(spec, from)
	switch {
	case old.key == nil:
		return pair{}
	case empty(old.value):
		take(spec, from)
		return pair{}
	case !isMap(old.value):
		c.remark(o, Action, join(path, from), old.key, "is no mapping, perhaps because it is not expanded; write it as %s", to)
		return pair{}
	}
	return old
}

// closeSelector puts terms in the place of a selector.
func (c *converter) closeSelector(o *object, path string, old pair, from, to string, terms *yaml.Node) {
	terms.Line = old.value.Line
	old.key.Value = to
	*old.value = *terms
	switch n := len(terms.Content); {
	case n == 0:
		c.remark(o, Action, join(path, from), old.key, "selects nothing; write terms into %s", to)
	case n > 1:
		c.remark(o, Info, join(path, from), old.key, "is %s now, %d terms of which one has to match", to, n)
	}
}

// keysOf lists the entries of a mapping of texts.
func keysOf(m *yaml.Node) string {
	var all []string
	for _, p := range pairs(m) {
		all = append(all, p.key.Value+"="+textOf(p.value))
	}
	return strings.Join(all, ", ")
}
