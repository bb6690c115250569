package v1

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"sigs.k8s.io/yaml"

	"github.com/dovetail-sdk/dovetail/internal/textstream"
)

// source is one document of a text, with one object or a list of them.
type source struct {
	data       []byte                 // JSON without blanks around it
	line       func(path string) int  // of the text, from 1
	duplicates []textstream.Duplicate // of YAML; JSON keeps them until an object is decoded
	ambiguous  bool                   // one of the duplicates is
}

// parseTexts splits a text into documents, and returns one error for each document that cannot be
// parsed.
func parseTexts(data []byte) (sources []*source, errs []error) {
	for _, part := range textstream.Split(textstream.UTF8(data)) {
		part.Text = bytes.Clone(part.Text)
		s := &source{data: part.Text, line: part.Lines()}
		if !part.JSON {
			if err := s.parseYAML(part); err != nil {
				errs = append(errs, err)
				continue
			}
		}
		if s.data = bytes.TrimSpace(s.data); !bytes.Equal(s.data, []byte("null")) {
			sources = append(sources, s)
		}
	}
	return sources, errs
}

// blockStart matches the start of a text that is a mapping or a list in block style, without an
// indent: it extends to the end of the text.
var blockStart = regexp.MustCompile(`^(\s*[\r\n])?[a-zA-Z-]`)

// typedKey matches a key of JSON that may be a number or a boolean in YAML.
var typedKey = regexp.MustCompile(`^(true|false|[-+]?\.?[0-9].*)$`)

// hasTypedKey reports whether a key of a JSON text without blanks may be a number or a boolean in YAML.
func hasTypedKey(data []byte) bool {
	for {
		end := bytes.Index(data, []byte(`":`))
		if end < 0 {
			return false
		}
		key := data[bytes.LastIndexByte(data[:end], '"')+1 : end]
		if len(key) > 0 && bytes.IndexByte([]byte("+-.0123456789tf"), key[0]) >= 0 && typedKey.Match(key) {
			return true
		}
		data = data[end+2:]
	}
}

// parseYAML reads one YAML document.
//
// The values come from the same conversion that kubectl uses. It resolves anchors and merge keys,
// but keeps only the last of several equal keys, and one at random of 1 and "1", and it reads only
// the first value. So another parser looks for the rest, except in the usual document: a block whose
// keys are texts and differ.
func (s *source) parseYAML(part textstream.Document) (err error) {
	s.data, err = yaml.YAMLToJSONStrict(part.Text)
	if err == nil && blockStart.Match(bytes.TrimPrefix(part.Text, []byte("---"))) && !hasTypedKey(s.data) {
		return nil
	}
	if s.data, err = yaml.YAMLToJSON(part.Text); err != nil {
		return notYAML(part, err)
	}
	root, err := textstream.Parse(part.Text)
	if err != nil {
		return notYAML(part, err)
	}
	s.duplicates = textstream.Duplicates(root)
	s.ambiguous = slices.ContainsFunc(s.duplicates, func(d textstream.Duplicate) bool { return d.Ambiguous })
	return nil
}

// yamlLine matches the line in an error of the parser.
var yamlLine = regexp.MustCompile(`^line (\d+): `)

// notYAML returns the error of the parser, whose lines count from the start of the document, with a
// line that counts from the start of the text.
func notYAML(part textstream.Document, err error) error {
	for errors.Unwrap(err) != nil {
		err = errors.Unwrap(err)
	}
	text, line := strings.TrimPrefix(err.Error(), "yaml: "), 1
	if at := yamlLine.FindStringSubmatch(text); at != nil {
		line, _ = strconv.Atoi(at[1]) // it has digits only
		text = text[len(at[0]):]
	}
	return &DecodeError{Line: part.Line + line - 1, Err: fmt.Errorf("not valid YAML: %s", text)}
}
