//lint:file-ignore SA1019 The aliases of sigs.k8s.io/yaml/goyaml.v2 point at a
// module that this one does not require by itself, and it should stay that way.

package v1

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"sigs.k8s.io/yaml"
	goyaml "sigs.k8s.io/yaml/goyaml.v2"
)

// parseTexts splits a text into documents, lists unopened, and returns one
// error for each document that cannot be parsed.
func parseTexts(data []byte) ([]Document, []error) {
	if json.Valid(data) {
		doc, ok, err := parseJSON(data)
		return collect(nil, nil, doc, ok, err)
	}
	var docs []Document
	var errs []error
	line := 0
	for _, chunk := range splitYAML(data) {
		doc, ok, err := parseYAML(chunk, line)
		docs, errs = collect(docs, errs, doc, ok, err)
		line += bytes.Count(chunk, []byte("\n"))
	}
	return docs, errs
}

func collect(docs []Document, errs []error, doc Document, ok bool, err error) ([]Document, []error) {
	if err != nil {
		return docs, append(errs, err)
	}
	if ok {
		docs = append(docs, doc)
	}
	return docs, errs
}

// parseJSON takes valid JSON. It reports false for null.
func parseJSON(data []byte) (Document, bool, error) {
	if isNull(data) {
		return Document{}, false, nil
	}
	duplicates, err := duplicatesInJSON(data)
	if err != nil {
		return Document{}, false, &DecodeError{Err: err}
	}
	doc, err := newDocument(bytes.Clone(data), duplicates)
	return doc, err == nil, err
}

// parseYAML reads one YAML document that begins after the given number of lines
// of the whole text. It reports false for a document without content.
//
// The values come from the same conversion that kubectl uses. It resolves
// anchors and merge keys, but lets the last of several equal keys win, so those
// are looked for in a second reading that keeps the keys in order.
func parseYAML(chunk []byte, line int) (Document, bool, error) {
	data, err := yaml.YAMLToJSON(chunk)
	if err != nil {
		// Again, with the right line number in the message. Only now, as the
		// padding of a long stream would cost more than its content.
		_, err = yaml.YAMLToJSON(append(bytes.Repeat([]byte("\n"), line), chunk...))
		return Document{}, false, &DecodeError{Err: fmt.Errorf("not valid YAML: %w", innermost(err))}
	}
	if isNull(data) {
		return Document{}, false, nil
	}
	doc, err := newDocument(data, nil)
	if err != nil {
		return Document{}, false, err
	}
	var ordered goyaml.MapSlice
	if err := goyaml.Unmarshal(chunk, &ordered); err != nil {
		return Document{}, false, &DecodeError{Err: fmt.Errorf("not valid YAML: %w", err)}
	}
	doc.duplicates = duplicatesInYAML(ordered)
	for _, dup := range doc.duplicates {
		if dup.ambiguous {
			// Which value won is a matter of chance, so no other fault of this
			// document can be reported the same way twice.
			doc.tree = nil
			return doc, true, nil
		}
	}
	return doc, true, nil
}

func isNull(data []byte) bool {
	return bytes.Equal(bytes.TrimSpace(data), []byte("null"))
}

func innermost(err error) error {
	for {
		next := errors.Unwrap(err)
		if next == nil {
			return err
		}
		err = next
	}
}

// splitYAML cuts a stream before each line that begins a document (---) and
// after each that ends one (...). The parts together are the stream.
func splitYAML(data []byte) [][]byte {
	var chunks [][]byte
	start := 0
	for pos := 0; pos < len(data); {
		next := len(data)
		if i := bytes.IndexByte(data[pos:], '\n'); i >= 0 {
			next = pos + i + 1
		}
		line := data[pos:next]
		if isMarker(line, "---") && pos > start {
			chunks = append(chunks, data[start:pos])
			start = pos
		}
		if isMarker(line, "...") {
			chunks = append(chunks, data[start:next])
			start = next
		}
		pos = next
	}
	return append(chunks, data[start:])
}

func isMarker(line []byte, marker string) bool {
	rest, ok := bytes.CutPrefix(line, []byte(marker))
	return ok && (len(rest) == 0 || bytes.IndexByte([]byte(" \t\r\n"), rest[0]) >= 0)
}
