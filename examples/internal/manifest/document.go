package manifest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"

	kjson "sigs.k8s.io/json"
	"sigs.k8s.io/yaml"
)

// document is one YAML or JSON document of a source.
type document struct {
	file   string
	number int // counts the documents of the file that hold anything, from 1
	line   int // of the file on which text begins, from 1
	text   []byte

	lines *lineIndex // of the fields, made when the first fault needs it
}

// split cuts a source into documents. Empty ones, which hold only blanks,
// comments and markers, are left out.
func split(s Source) []*document {
	var docs []*document
	add := func(line int, text []byte) {
		if !blank(text) {
			docs = append(docs, &document{file: s.Name, line: line, text: text})
		}
	}
	data := bytes.TrimPrefix(s.Data, []byte("\xef\xbb\xbf"))
	start, startLine := 0, 1
	for at, line := 0, 1; at < len(data); line++ {
		end := len(data)
		if i := bytes.IndexByte(data[at:], '\n'); i >= 0 {
			end = at + i + 1
		}
		if marker := data[at:end]; isMarker(marker) {
			add(startLine, data[start:at])
			// What follows the marker on its line belongs to the new document.
			start, startLine = at+3, line
			if marker[0] == '.' {
				start, startLine = end, line+1
			}
		}
		at = end
	}
	add(startLine, data[start:])

	var parts []*document
	for _, d := range docs {
		parts = append(parts, splitJSON(d)...)
	}
	for i, d := range parts {
		d.number = i + 1
	}
	return parts
}

// isMarker tells whether a line starts or ends a YAML document. YAML knows no
// other meaning of such a line, not even inside a block of text.
func isMarker(line []byte) bool {
	if !bytes.HasPrefix(line, []byte("---")) && !bytes.HasPrefix(line, []byte("...")) {
		return false
	}
	return len(line) == 3 || bytes.IndexByte([]byte(" \t\r\n"), line[3]) >= 0
}

// blank tells whether a text holds nothing but blanks, comments and YAML
// directives.
func blank(text []byte) bool {
	for line := range bytes.Lines(text) {
		line = bytes.TrimSpace(line)
		if len(line) > 0 && line[0] != '#' && line[0] != '%' {
			return false
		}
	}
	return true
}

// splitJSON cuts a run of JSON values, which `kubectl get -o json | jq` likes
// to print, into one document each. Anything else comes back whole, and is
// for the YAML parser to judge.
func splitJSON(d *document) []*document {
	if text := bytes.TrimSpace(d.text); text[0] != '{' && text[0] != '[' {
		return []*document{d}
	}
	var docs []*document
	dec := json.NewDecoder(bytes.NewReader(d.text))
	line, counted := d.line, 0
	for {
		var raw json.RawMessage
		if err := dec.Decode(&raw); err == io.EOF {
			return docs
		} else if err != nil {
			return []*document{d}
		}
		start := int(dec.InputOffset()) - len(raw)
		line += bytes.Count(d.text[counted:start], []byte("\n"))
		counted = start
		docs = append(docs, &document{file: d.file, line: line, text: raw})
	}
}

// parse turns a document into maps, slices and scalars as encoding/json makes
// them, with integers as int64. Duplicate keys are faults, but do not keep the
// rest of the document from being looked at.
func (d *document) parse() (any, Faults) {
	var faults Faults
	data := d.text
	if !json.Valid(data) {
		var err error
		data, err = yaml.YAMLToJSONStrict(d.text)
		if err != nil {
			faults = d.yamlFaults(err)
			if data, err = yaml.YAMLToJSON(d.text); err != nil {
				return nil, faults
			}
		}
	}
	var value any
	strict, err := kjson.UnmarshalStrict(data, &value)
	if err != nil {
		return nil, append(faults, d.fault(nil, "", "is not JSON: %v", err))
	}
	for _, err := range strict {
		faults = append(faults, d.fault(nil, "", "%v; remove one of the two", err))
	}
	return value, faults
}

var yamlLine = regexp.MustCompile(`\bline (\d+): `)

// yamlFaults translates what the YAML parser says. It counts lines from the
// start of the document, we from the start of the file.
func (d *document) yamlFaults(err error) Faults {
	text := strings.TrimPrefix(err.Error(), "yaml: ")
	at := yamlLine.FindAllStringSubmatchIndex(text, -1)
	if len(at) == 0 {
		return Faults{d.fault(nil, "", "is not YAML: %s", oneLine(text))}
	}
	var faults Faults
	for i, m := range at {
		end := len(text)
		if i+1 < len(at) {
			end = at[i+1][0]
		}
		f := d.fault(nil, "", "is not YAML: %s", oneLine(text[m[1]:end]))
		if n, err := strconv.Atoi(text[m[2]:m[3]]); err == nil {
			f.Line = d.line + n - 1
		}
		faults = append(faults, f)
	}
	return faults
}

// fault makes a Fault of this document. Path leads to the field from the top
// of the document; object and the field's name are for origin to fill in.
func (d *document) fault(path []any, field string, format string, args ...any) *Fault {
	return &Fault{
		File:     d.file,
		Document: d.number,
		Line:     d.lineOf(path),
		Field:    field,
		Message:  fmt.Sprintf(format, args...),
	}
}

// oneLine joins the lines of a parser's message.
func oneLine(text string) string {
	return strings.Join(strings.Fields(text), " ")
}
