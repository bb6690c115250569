package catalog

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"sigs.k8s.io/yaml"
)

// value is a value of a file, with what decoding into a struct would lose: the
// order of fields and fields that are there twice. The nil *value is null, and
// stands for fields that are not there, too.
type value struct {
	token  json.Token // string, json.Number or bool; of others the opening delimiter
	names  []string   // of an object
	values []*value   // of an object or list
}

// parseValue reads one document of YAML or JSON.
func parseValue(data []byte) (*value, error) {
	// JSON is YAML too, but the YAML reader takes far longer.
	if !json.Valid(data) {
		if err := oneDocument(data); err != nil {
			return nil, err
		}
		var err error
		if data, err = yaml.YAMLToJSONStrict(data); err != nil {
			return nil, fmt.Errorf("neither YAML nor JSON: %w", err)
		}
	}
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.UseNumber()
	return readValue(decoder)
}

// readValue reads the next value.
func readValue(decoder *json.Decoder) (*value, error) {
	token, err := decoder.Token()
	if err != nil || token == nil {
		return nil, err
	}
	v := &value{token: token}
	if _, nested := token.(json.Delim); !nested {
		return v, nil
	}
	for decoder.More() {
		if v.isObject() {
			name, err := decoder.Token()
			if err != nil {
				return nil, err
			}
			text, _ := name.(string)
			v.names = append(v.names, text)
		}
		element, err := readValue(decoder)
		if err != nil {
			return nil, err
		}
		v.values = append(v.values, element)
	}
	_, err = decoder.Token()
	return v, err
}

func (v *value) isObject() bool { return v != nil && v.token == json.Delim('{') }

func (v *value) isList() bool { return v != nil && v.token == json.Delim('[') }

// get returns a field, or nil if it is not there. Of two the last counts, as
// everywhere in JSON.
func (v *value) get(name string) *value {
	if v == nil {
		return nil
	}
	for i := len(v.names) - 1; i >= 0; i-- {
		if v.names[i] == name {
			return v.values[i]
		}
	}
	return nil
}

// String is the value for an error message: long ones are cut short.
func (v *value) String() string {
	const limit = 40
	switch token := v.tokenOrNil().(type) {
	case nil:
		return "null"
	case string:
		if len(token) > limit {
			return strconv.Quote(strings.ToValidUTF8(token[:limit], "")) + "..."
		}
		return strconv.Quote(token)
	case json.Delim:
		if v.isObject() {
			return "an object"
		}
		return "a list"
	default:
		text := fmt.Sprint(token)
		if len(text) > limit {
			return text[:limit] + "..."
		}
		return text
	}
}

func (v *value) tokenOrNil() json.Token {
	if v == nil {
		return nil
	}
	return v.token
}

// oneDocument refuses a stream of several documents, of which the YAML reader
// would take the first and drop the others.
func oneDocument(data []byte) error {
	content := false
	n := 0
	for line := range bytes.Lines(data) {
		n++
		line = bytes.TrimRight(line, " \t\r\n")
		switch {
		case len(line) == 0 || line[0] == '#' || line[0] == '%':
		case isMarker(line, "---") || isMarker(line, "..."):
			if content {
				return fmt.Errorf("line %d: the document ends; keep all instance types in one", n)
			}
			content = len(line) > len("---")
		default:
			content = true
		}
	}
	return nil
}

func isMarker(line []byte, marker string) bool {
	rest, found := bytes.CutPrefix(line, []byte(marker))
	return found && (len(rest) == 0 || rest[0] == ' ' || rest[0] == '\t')
}
