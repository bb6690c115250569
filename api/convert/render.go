package convert

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// write puts a file together again.
func (c *converter) write(f *file) Output {
	out := Output{Name: f.source.Name}
	var b bytes.Buffer
	if bytes.HasPrefix(f.source.Data, byteOrderMark) {
		b.Write(byteOrderMark)
	}
	for _, d := range f.docs {
		b.WriteString(d.Marker)
		if !d.changed {
			b.Write(d.Text)
			continue
		}
		text, err := d.render()
		if err != nil {
			c.add(f.index, len(c.objects), Note{Source: f.source.Name, Document: d.number, Line: d.contentLine(),
				Severity: Error, Message: "left as it is: what it would be cannot be written: " + err.Error()})
			b.Write(d.Text)
			continue
		}
		out.Changed, d.written = true, text
		if d.Marker == "---" {
			b.WriteString(d.newline())
		}
		b.WriteString(text)
	}
	out.Data = b.Bytes()
	if !out.Changed { // in the encoding in which it came
		out.Data = bytes.Clone(f.source.Data)
	}
	return out
}

// newline is how lines of the document end.
func (d *document) newline() string {
	if bytes.Contains(d.Text, []byte("\r\n")) {
		return "\r\n"
	}
	return "\n"
}

// render writes a document that was changed, and those that were added to it.
func (d *document) render() (string, error) {
	d.settle()
	if d.json {
		return d.renderJSON()
	}
	style := styleOf(d.top.Content[0])
	text, err := style.render(d.top)
	if err != nil {
		return "", err
	}
	var all strings.Builder
	all.WriteString(text)
	for _, extra := range d.extras {
		more, err := style.render(extra)
		if err != nil {
			return "", err
		}
		all.WriteString("---\n" + more)
	}
	text = d.words.show(all.String())
	if end := d.newline(); end != "\n" {
		text = strings.ReplaceAll(text, "\n", end)
	}
	return text, nil
}

// style is how a text is laid out.
type style struct {
	indent  int
	compact bool // lists are not indented below their key
}

// styleOf looks how a text is laid out, as far as its first nested values tell.
func styleOf(n *yaml.Node) style {
	s := style{indent: 2}
	known := map[yaml.Kind]bool{}
	var look func(n *yaml.Node)
	look = func(n *yaml.Node) {
		for _, p := range pairs(n) {
			step := p.value.Column - p.key.Column
			if p.value.Line > p.key.Line && p.value.Style&yaml.FlowStyle == 0 && !known[p.value.Kind] {
				switch {
				case isMap(p.value) && step >= 2 && step <= 8:
					s.indent = step
					known[p.value.Kind] = true
				case isList(p.value) && step >= 0:
					s.compact = step == 0
					known[p.value.Kind] = true
				}
			}
			look(p.value)
		}
		for _, item := range items(n) {
			look(item)
		}
	}
	look(n)
	return s
}

// render writes YAML and reads it again: if what comes out is not what went in,
// which can happen with comments in odd places, it goes on without comments and
// then without the style of the original.
func (s style) render(n *yaml.Node) (string, error) {
	want := n
	if n.Kind == yaml.DocumentNode {
		want = n.Content[0]
	}
	for _, plain := range []func(*yaml.Node){func(*yaml.Node) {}, dropComments, dropStyle} {
		tree := copyNode(n)
		each(tree, plain)
		fence := fenceBlanks(tree)
		text, err := s.encode(tree)
		text = strings.ReplaceAll(text, fence, "")
		if err != nil || strings.Contains(text, "\n---") || strings.Contains(text, "\n...") {
			continue
		}
		if top, err := parseYAML([]byte(text)); err == nil && len(top.Content) == 1 && same(want, top.Content[0]) {
			return text, nil
		}
	}
	return "", errors.New("it does not read back as it was meant")
}

// blanksBeforeEnd are blanks at the end of a line.
var blanksBeforeEnd = regexp.MustCompile(`(?m) +$`)

// fenceBlanks puts a word that is nowhere else behind the blanks at the ends of the lines of
// block scalars, and returns it, to be taken out of what is written: the encoder writes a
// text with such blanks, such as user data, on one line with escapes.
func fenceBlanks(tree *yaml.Node) string {
	fence := "fence"
	each(tree, func(n *yaml.Node) {
		for _, text := range []string{n.Value, n.HeadComment, n.LineComment, n.FootComment} {
			for strings.Contains(text, fence) {
				fence += "x"
			}
		}
	})
	each(tree, func(n *yaml.Node) {
		if n.Style&yaml.LiteralStyle != 0 {
			n.Value = blanksBeforeEnd.ReplaceAllString(n.Value, "${0}"+fence)
		}
	})
	return fence
}

// encode writes YAML.
func (s style) encode(n *yaml.Node) (text string, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("the encoder failed: %v", p)
		}
	}()
	var b bytes.Buffer
	enc := yaml.NewEncoder(&b)
	enc.SetIndent(s.indent)
	if s.compact {
		enc.CompactSeqIndent()
	}
	if err := enc.Encode(n); err != nil {
		return "", err
	}
	if err := enc.Close(); err != nil {
		return "", err
	}
	return b.String(), nil
}

func each(n *yaml.Node, do func(*yaml.Node)) {
	do(n)
	for _, child := range n.Content {
		each(child, do)
	}
}

func dropComments(n *yaml.Node) {
	n.HeadComment, n.LineComment, n.FootComment = "", "", ""
}

func dropStyle(n *yaml.Node) {
	dropComments(n)
	n.Style = 0
	if n.Kind == yaml.ScalarNode && n.ShortTag() == tagText {
		n.Tag, n.Style = tagText, yaml.DoubleQuotedStyle
	}
}

// renderJSON writes JSON with the indentation of the original.
func (d *document) renderJSON() (string, error) {
	trimmed := bytes.TrimSpace(d.Text)
	start := bytes.Index(d.Text, trimmed)
	before, after := string(d.Text[:start]), string(d.Text[start+len(trimmed):])
	indent, nested := "", bytes.IndexByte(trimmed, '\n') >= 0
	if nested {
		_, second, _ := bytes.Cut(trimmed, []byte("\n"))
		indent = string(second[:len(second)-len(bytes.TrimLeft(second, " \t"))])
	}
	var texts []string
	for _, n := range append([]*yaml.Node{d.top.Content[0]}, d.extras...) {
		text, err := jsonOf(n)
		if err != nil {
			return "", err
		}
		var b bytes.Buffer
		b.WriteString(text)
		if nested {
			b.Reset()
			if err := json.Indent(&b, []byte(text), "", indent); err != nil {
				return "", err
			}
		}
		texts = append(texts, b.String())
	}
	return before + d.words.show(strings.Join(texts, "\n")) + after, nil
}

// jsonOf writes a tree as JSON, with its keys in order.
func jsonOf(n *yaml.Node) (string, error) {
	var b strings.Builder
	if err := writeJSON(&b, n); err != nil {
		return "", err
	}
	if !json.Valid([]byte(b.String())) {
		return "", errors.New("it is no valid JSON")
	}
	return b.String(), nil
}

func writeJSON(b *strings.Builder, n *yaml.Node) error {
	switch n.Kind {
	case yaml.MappingNode:
		b.WriteByte('{')
		for i, p := range pairs(n) {
			if i > 0 {
				b.WriteByte(',')
			}
			if p.key.Kind != yaml.ScalarNode {
				return errors.New("it has a key that is no text")
			}
			b.WriteString(quoted(p.key.Value) + ":")
			if err := writeJSON(b, p.value); err != nil {
				return err
			}
		}
		b.WriteByte('}')
	case yaml.SequenceNode:
		b.WriteByte('[')
		for i, item := range n.Content {
			if i > 0 {
				b.WriteByte(',')
			}
			if err := writeJSON(b, item); err != nil {
				return err
			}
		}
		b.WriteByte(']')
	case yaml.ScalarNode:
		b.WriteString(scalarJSON(n))
	default:
		return errors.New("it has an alias")
	}
	return nil
}

// scalarJSON writes a scalar. What JSON has no form for, such as .inf, is text.
func scalarJSON(n *yaml.Node) string {
	if value, ok := truth(n); ok {
		return strconv.FormatBool(value)
	}
	switch tag := n.ShortTag(); tag {
	case tagNull:
		return "null"
	case "!!bool":
		return strings.ToLower(n.Value)
	case "!!int", "!!float":
		if json.Valid([]byte(n.Value)) {
			return n.Value
		}
		var i int64
		if tag == "!!int" && n.Decode(&i) == nil {
			return fmt.Sprint(i)
		}
	}
	return quoted(n.Value)
}

func quoted(text string) string {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(text); err != nil {
		return `""`
	}
	return strings.TrimSuffix(b.String(), "\n")
}
