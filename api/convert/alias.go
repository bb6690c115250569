package convert

import (
	"errors"
	"fmt"

	"go.yaml.in/yaml/v3"
)

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
