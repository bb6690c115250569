package manifest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"

	yamlv3 "go.yaml.in/yaml/v3"
	"sigs.k8s.io/yaml"

	"github.com/dovetail-sdk/dovetail/internal/textstream"
)

// document is one YAML or JSON document of a source.
type document struct {
	file   string
	number int // number of the document among those with content in the file, from 1
	line   int // line of the file on which text begins, from 1
	text   []byte
	json   bool // text is valid JSON

	root *yamlv3.Node // with the lines of the fields; read for the first fault
}

// split cuts a source into documents.
func split(s Source) []*document {
	var docs []*document
	for i, d := range textstream.Split(textstream.UTF8(s.Data)) {
		docs = append(docs, &document{file: s.Name, number: i + 1, line: d.Line, text: d.Text, json: d.JSON})
	}
	return docs
}

// parse converts a document to JSON. Duplicate YAML keys are faults, but the rest of the document
// is still checked.
func (d *document) parse() (json.RawMessage, Faults) {
	if d.json {
		return d.text, nil
	}
	var faults Faults
	data, err := yaml.YAMLToJSONStrict(d.text)
	if err != nil {
		faults = d.yamlFaults(err)
		if data, err = yaml.YAMLToJSON(d.text); err != nil {
			return nil, faults
		}
	}
	if !json.Valid(data) {
		return nil, append(faults, d.fault("", "is not JSON"))
	}
	return data, append(faults, d.unread()...)
}

// unread returns a fault if the document has text after its value, because a parser reads only one
// value. That can happen only after a closing bracket or quotation mark: a block mapping or list
// extends to the end of the document.
func (d *document) unread() Faults {
	text := bytes.TrimLeft(bytes.TrimPrefix(d.text, []byte("---")), " \t\r\n")
	if len(text) > 0 && (text[0] >= 'a' && text[0] <= 'z' || text[0] >= 'A' && text[0] <= 'Z' || text[0] == '-') {
		return nil
	}
	var node yamlv3.Node
	decoder := yamlv3.NewDecoder(bytes.NewReader(d.text))
	if err := decoder.Decode(&node); err != nil {
		return nil // the other parser has read it
	}
	if err := decoder.Decode(&node); err != io.EOF {
		return Faults{d.fault("", "goes on behind its first value; begin each object with a line of ---")}
	}
	return nil
}

var yamlLine = regexp.MustCompile(`\bline (\d+): `)

// yamlFaults converts errors of the YAML parser, whose lines count from the start of the document,
// to faults, whose lines count from the start of the file.
func (d *document) yamlFaults(err error) Faults {
	text := strings.TrimPrefix(err.Error(), "yaml: ")
	at := yamlLine.FindAllStringSubmatchIndex(text, -1)
	if len(at) == 0 {
		return Faults{d.fault("", "is not YAML: %s", oneLine(text))}
	}
	var faults Faults
	for i, m := range at {
		end := len(text)
		if i+1 < len(at) {
			end = at[i+1][0]
		}
		f := d.fault("", "is not YAML: %s", oneLine(text[m[1]:end]))
		if n, err := strconv.Atoi(text[m[2]:m[3]]); err == nil {
			f.Line = d.line + n - 1
		}
		faults = append(faults, f)
	}
	return faults
}

// fault makes a Fault of this document. path leads from the top of the document to the field, such
// as items[2].spec. The caller sets the object and the name of the field.
func (d *document) fault(path, format string, args ...any) *Fault {
	return &Fault{File: d.file, Document: d.number, Line: d.lineOf(path), Message: fmt.Sprintf(format, args...)}
}

// oneLine joins the lines of a parser's error.
func oneLine(text string) string {
	return strings.Join(strings.Fields(text), " ")
}

// pathStep matches a step of a path: an index or a key in brackets, or the name of a field.
var pathStep = regexp.MustCompile(`\[([^\]]*)\]|[^.[]+`)

// lineOf returns the line of the file that has the field at path, or else that of the nearest
// parent that exists. The document is parsed a second time for it, by a parser that records
// positions. This happens only for documents that have a fault.
func (d *document) lineOf(path string) int {
	if d.root == nil {
		var top yamlv3.Node
		if d.root = &top; yamlv3.Unmarshal(d.text, &top) == nil && len(top.Content) > 0 {
			d.root = top.Content[0]
		}
	}
	node, line := d.root, max(1, d.root.Line)
	for _, step := range pathStep.FindAllString(path, -1) {
		next, at := child(node, strings.Trim(step, "[]"))
		if next == nil {
			break
		}
		node, line = next, at
	}
	return d.line + line - 1
}

// child returns the value one step down and the line where it begins; nil if there is none. For a
// mapping that is the line of the key.
func child(node *yamlv3.Node, step string) (*yamlv3.Node, int) {
	// An alias points at its anchor, never at another alias; and a cycle
	// cannot be followed further than the path is long.
	if node.Kind == yamlv3.AliasNode {
		node = node.Alias
	}
	i, err := strconv.Atoi(step)
	switch {
	case node.Kind == yamlv3.SequenceNode && err == nil && i >= 0 && i < len(node.Content):
		return node.Content[i], node.Content[i].Line
	case node.Kind == yamlv3.MappingNode:
		for pair := range slices.Chunk(node.Content, 2) {
			if pair[0].Value == step {
				return pair[1], pair[0].Line
			}
		}
	}
	return nil, 0
}
