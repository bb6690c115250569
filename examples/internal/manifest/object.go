package manifest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	kjson "sigs.k8s.io/json"
)

// origin says where an object was read from.
type origin struct {
	doc  *document
	path []any // from the top of the document: empty, or a List's items
}

// object is one Kubernetes object of a source.
type object struct {
	origin
	apiVersion, kind string
	namespace, name  string
	json             json.RawMessage
	inherits         bool // only the list has apiVersion and kind
	header           header
	fromServer       bool // an API server has accepted it
}

// header is the part that is read of every object, whatever its kind. Each field is as it was
// written, empty if missing.
type header struct {
	APIVersion json.RawMessage `json:"apiVersion"`
	Kind       json.RawMessage `json:"kind"`
	Metadata   json.RawMessage `json:"metadata"`
	Items      json.RawMessage `json:"items"`

	// name, and the fields below, in the metadata
	Name      json.RawMessage `json:"name"`
	Namespace json.RawMessage `json:"namespace"`
	UID       json.RawMessage `json:"uid"`
}

// String names an object, such as "Deployment shop/web".
func (o *object) String() string {
	name := o.name
	if name == "" && o.kind != "" {
		name = "(no name)"
	}
	if o.namespace != "" {
		name = o.namespace + "/" + name
	}
	return strings.TrimSpace(o.kind + " " + name)
}

// fault makes a Fault for a field of the object.
func (o *object) fault(path []any, format string, args ...any) *Fault {
	full := append(append([]any(nil), o.path...), path...)
	f := o.doc.fault(full, fieldName(path), format, args...)
	f.Object = o.String()
	return f
}

// deepestList is the largest depth of Lists in Lists.
const deepestList = 16

// listType is the type of the items as given by their list.
type listType struct{ apiVersion, kind string }

// flatten calls add for the objects of a document: the document itself, or the items of a List,
// including Lists within Lists.
func flatten(at origin, value json.RawMessage, list listType, add func(*object), faults *Faults) {
	if len(at.path) > deepestList {
		*faults = append(*faults, at.doc.fault(nil, "", "nests Lists deeper than anyone does; unfold them"))
		return
	}
	switch kindOf(value) {
	case 'n': // "null" is an empty document, and what an empty List item is
	case '[':
		for i, item := range elements(value) {
			flatten(at.child(i), item, listType{}, add, faults)
		}
	case '{':
		o := newObject(at, value, list)
		if itemKind, ok := strings.CutSuffix(o.kind, "List"); ok && isListOrNothing(o.header.Items) {
			for i, item := range elements(o.header.Items) {
				flatten(at.child("items", i), item, listType{o.apiVersion, itemKind}, add, faults)
			}
			return
		}
		o.readMetadata()
		if missing := o.untyped(); missing != "" {
			*faults = append(*faults, o.fault(nil, "%s is missing; every object needs apiVersion and kind", missing))
			return
		}
		add(o)
	default:
		*faults = append(*faults, at.doc.fault(at.path, fieldName(at.path),
			"holds %s where an object with apiVersion and kind should be", describe(value)))
	}
}

// newObject reads the type of an object. An item of a PodList has its kind from the list, because
// the API server does not write it in items.
func newObject(at origin, value json.RawMessage, list listType) *object {
	o := &object{origin: at, json: value}
	_ = kjson.UnmarshalCaseSensitivePreserveInts(value, &o.header) // it is an object, and any field will do
	o.apiVersion, o.kind = text(o.header.APIVersion), text(o.header.Kind)
	if list.kind != "" && isNull(o.header.Kind) && isNull(o.header.APIVersion) {
		o.apiVersion, o.kind, o.inherits = list.apiVersion, list.kind, true
	}
	return o
}

// kindOf returns the first character of a JSON value, which determines its type.
func kindOf(value json.RawMessage) byte {
	value = bytes.TrimLeft(value, " \t\r\n")
	if len(value) == 0 {
		return 'n'
	}
	return value[0]
}

func isNull(value json.RawMessage) bool          { return kindOf(value) == 'n' }
func isListOrNothing(value json.RawMessage) bool { return isNull(value) || kindOf(value) == '[' }

// elements returns the elements of a list, none if the value is not a list.
func elements(value json.RawMessage) []json.RawMessage {
	var list []json.RawMessage
	if kindOf(value) == '[' {
		_ = json.Unmarshal(value, &list) // any element will do
	}
	return list
}

// text returns a string, "" if the value is not a string.
func text(value json.RawMessage) string {
	var s string
	if kindOf(value) == '"' {
		_ = json.Unmarshal(value, &s) // it is a string
	}
	return s
}

// child returns the origin of a part of a List.
func (at origin) child(steps ...any) origin {
	return origin{doc: at.doc, path: append(append([]any(nil), at.path...), steps...)}
}

// readMetadata reads the fields of the metadata that identify an object.
func (o *object) readMetadata() {
	if kindOf(o.header.Metadata) != '{' {
		return
	}
	meta := header{}
	_ = kjson.UnmarshalCaseSensitivePreserveInts(o.header.Metadata, &meta) // it is an object, and any field will do
	o.header.Name, o.name = meta.Name, text(meta.Name)
	o.namespace = text(meta.Namespace)
	o.fromServer = text(meta.UID) != ""
}

// nameOfWrongType says whether the name exists but is not a string.
func (o *object) nameOfWrongType() bool {
	if isNull(o.header.Metadata) {
		return false
	}
	return kindOf(o.header.Metadata) != '{' || !isNull(o.header.Name) && kindOf(o.header.Name) != '"'
}

// typed returns the object as JSON that includes apiVersion and kind.
func (o *object) typed() (json.RawMessage, error) {
	if !o.inherits {
		return o.json, nil
	}
	fields := map[string]json.RawMessage{}
	if err := kjson.UnmarshalCaseSensitivePreserveInts(o.json, &fields); err != nil {
		return nil, err
	}
	for name, value := range map[string]string{"apiVersion": o.apiVersion, "kind": o.kind} {
		quoted, err := json.Marshal(value)
		if err != nil {
			return nil, err
		}
		fields[name] = quoted
	}
	return json.Marshal(fields)
}

// untyped returns which of apiVersion and kind the object lacks, if any.
func (o *object) untyped() string {
	switch {
	case o.apiVersion == "" && o.kind == "":
		return "apiVersion and kind"
	case o.apiVersion == "":
		return "apiVersion"
	case o.kind == "":
		return "kind"
	}
	return ""
}

// describe names the type of a JSON value, for errors about a value of another type.
func describe(value json.RawMessage) string {
	switch kindOf(value) {
	case 'n':
		return "nothing"
	case 't', 'f':
		return "the boolean " + string(value)
	case '[':
		return "a list"
	case '{':
		return "a mapping"
	case '"':
		if s := text(value); len(s) > 40 {
			return fmt.Sprintf("the text %.40q...", s)
		}
		return fmt.Sprintf("the text %q", text(value))
	}
	return "the number " + string(value)
}
