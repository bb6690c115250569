//lint:file-ignore SA1019 The aliases of sigs.k8s.io/yaml/goyaml.v2 point at a
// module that this one does not require by itself, and it should stay that way.

package v1

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"sigs.k8s.io/yaml"
	goyaml "sigs.k8s.io/yaml/goyaml.v2"

	"github.com/dovetail-sdk/dovetail/internal/textstream"
)

// parseTexts splits a text into documents, with lists as single documents, and returns one error
// for each document that cannot be parsed.
func parseTexts(data []byte) ([]Document, []error) {
	var docs []Document
	var errs []error
	for _, part := range textstream.Split(textstream.UTF8(data)) {
		parse := parseYAML
		if part.JSON {
			parse = parseJSON
		}
		doc, ok, err := parse(part)
		if err != nil {
			errs = append(errs, err)
		} else if ok {
			docs = append(docs, doc)
		}
	}
	return docs, errs
}

// parseJSON takes valid JSON.
func parseJSON(part textstream.Document) (Document, bool, error) {
	data := part.Text
	duplicates, err := duplicatesInJSON(data)
	if err != nil {
		return Document{}, false, &DecodeError{Err: err}
	}
	doc, err := newDocument(bytes.Clone(data), duplicates)
	return doc, err == nil, err
}

// parseYAML reads one YAML document. It reports false for one without content.
//
// The values come from the same conversion that kubectl uses. It resolves anchors and merge keys,
// but keeps only the last of several equal keys, so duplicates are found in a second parse that
// keeps all keys in order.
func parseYAML(part textstream.Document) (Document, bool, error) {
	chunk := part.Text
	data, err := yaml.YAMLToJSON(chunk)
	if err != nil {
		// Parsed again to get the right line number in the message. Only after a failure, because
		// padding every document would be expensive.
		_, err = yaml.YAMLToJSON(append(bytes.Repeat([]byte("\n"), part.Line-1), chunk...))
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
	decoder := goyaml.NewDecoder(bytes.NewReader(chunk))
	if err := decoder.Decode(&ordered); err != nil {
		return Document{}, false, &DecodeError{Err: fmt.Errorf("not valid YAML: %w", err)}
	}
	if err := decoder.Decode(new(any)); err != io.EOF {
		return Document{}, false, &DecodeError{Err: fmt.Errorf(
			"the document that begins on line %d goes on behind its first value; begin each object with a line of ---", part.Line)}
	}
	doc.duplicates = duplicatesInYAML(ordered)
	for _, dup := range doc.duplicates {
		if dup.ambiguous {
			// The value that was kept is random, so other faults of this document would not be
			// deterministic.
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
