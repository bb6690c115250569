package manifest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
)

// origin says where an object was read from.
type origin struct {
	doc   *document
	path  string // from the top of the document: empty, or that of an item of a List
	depth int    // number of Lists around it
}

// child returns the origin of an item of a List.
func (at origin) child(list string, i int) origin {
	return origin{at.doc, join(at.path, fmt.Sprintf("%s[%d]", list, i)), at.depth + 1}
}

// join returns the path of a field below another.
func join(path, field string) string {
	if path == "" || field == "" || field[0] == '[' {
		return path + field
	}
	return path + "." + field
}

// Object is one Kubernetes object of a source.
type Object struct {
	APIVersion, Kind string
	Namespace, Name  string
	JSON             json.RawMessage // with apiVersion and kind, even if only its list has them

	origin
	misnamed   bool // its name is not a text
	fromServer bool // an API server has accepted it
	value      any  // the decoded object; nil if it has faults, or affects no plan
}

// String names an object, such as "Deployment shop/web".
func (o *Object) String() string {
	name := o.Name
	if name == "" && o.Kind != "" {
		name = "(no name)"
	}
	if o.Namespace != "" {
		name = o.Namespace + "/" + name
	}
	return strings.TrimSpace(o.Kind + " " + name)
}

// plainKey matches a key in brackets that can be written as the name of a field is.
var plainKey = regexp.MustCompile(`\[([^][./ ]*[^][./ 0-9][^][./ ]*)\]`)

// Fault makes a Fault of a field, such as spec.containers[0].resources. A key that is not a plain
// word is in brackets, such as metadata.labels[app.kubernetes.io/name]. An empty field means the
// object as a whole.
func (o *Object) Fault(field, format string, args ...any) *Fault {
	f := o.doc.fault(join(o.path, field), format, args...)
	f.Object, f.Field = o.String(), plainKey.ReplaceAllString(field, ".$1")
	return f
}

// deepestList is the largest depth of Lists in Lists.
const deepestList = 8

// listType is the type of the items as given by their list.
type listType struct{ apiVersion, kind string }

// flatten calls add for the objects of a document: the document itself, or the items of a List,
// including Lists within Lists.
func flatten(at origin, value json.RawMessage, list listType, add func(*Object), faults *Faults) {
	if at.depth > deepestList {
		*faults = append(*faults, at.doc.fault("", "nests Lists deeper than anyone does; unfold them"))
		return
	}
	switch typeOf(value) {
	case 'n': // "null" is an empty document, and what an empty List item is
	case '[':
		for i, item := range elements(value) {
			flatten(at.child("", i), item, listType{}, add, faults)
		}
	case '{':
		o, items := newObject(at, value, list)
		if itemKind, ok := strings.CutSuffix(o.Kind, "List"); ok && (typeOf(items) == 'n' || typeOf(items) == '[') {
			for i, item := range elements(items) {
				flatten(at.child("items", i), item, listType{o.APIVersion, itemKind}, add, faults)
			}
			return
		}
		if missing := o.untyped(); missing != "" {
			*faults = append(*faults, o.Fault("", "%s is missing; every object needs apiVersion and kind", missing))
			return
		}
		add(o)
	default:
		f := at.doc.fault(at.path, "holds %s where an object with apiVersion and kind should be", describe(value))
		f.Field = at.path
		*faults = append(*faults, f)
	}
}

// newObject reads the fields that every object has, and the items of a List. An item of a PodList
// has its kind from the list, because the API server does not write it in items.
func newObject(at origin, value json.RawMessage, list listType) (o *Object, items json.RawMessage) {
	top := fields(value)
	o = &Object{origin: at, JSON: value, APIVersion: text(top["apiVersion"]), Kind: text(top["kind"])}
	if list.kind != "" && typeOf(top["kind"]) == 'n' && typeOf(top["apiVersion"]) == 'n' {
		o.APIVersion, o.Kind = list.apiVersion, list.kind
		for name, value := range map[string]string{"apiVersion": o.APIVersion, "kind": o.Kind} {
			top[name], _ = json.Marshal(value) // a text can be encoded
		}
		o.JSON, _ = json.Marshal(top) // it was decoded
	}
	meta := fields(top["metadata"])
	name := meta["name"]
	o.Name, o.Namespace, o.fromServer = text(name), text(meta["namespace"]), text(meta["uid"]) != ""
	o.misnamed = typeOf(top["metadata"]) != 'n' && typeOf(top["metadata"]) != '{' || typeOf(name) != 'n' && typeOf(name) != '"'
	return o, top["items"]
}

// typeOf returns the first character of a JSON value, which determines its type; 'n' if there is no
// value.
func typeOf(value json.RawMessage) byte {
	if value = bytes.TrimLeft(value, " \t\r\n"); len(value) > 0 {
		return value[0]
	}
	return 'n'
}

// fields returns the fields of an object, none if the value is not an object.
func fields(value json.RawMessage) (out map[string]json.RawMessage) {
	if typeOf(value) == '{' {
		_ = json.Unmarshal(value, &out) // any field will do
	}
	return out
}

// elements returns the elements of a list, none if the value is not a list.
func elements(value json.RawMessage) (out []json.RawMessage) {
	if typeOf(value) == '[' {
		_ = json.Unmarshal(value, &out) // any element will do
	}
	return out
}

// text returns a string, "" if the value is not a string.
func text(value json.RawMessage) (out string) {
	if typeOf(value) == '"' {
		_ = json.Unmarshal(value, &out) // it is a string
	}
	return out
}

// untyped returns which of apiVersion and kind the object lacks, if any.
func (o *Object) untyped() string {
	switch {
	case o.APIVersion == "" && o.Kind == "":
		return "apiVersion and kind"
	case o.APIVersion == "":
		return "apiVersion"
	case o.Kind == "":
		return "kind"
	}
	return ""
}

// describe names the type of a JSON value, for errors about a value of another type.
func describe(value json.RawMessage) string {
	switch typeOf(value) {
	case 't', 'f':
		return "the boolean " + string(value)
	case '"':
		if s := text(value); len(s) > 40 {
			return fmt.Sprintf("the text %.40q...", s)
		}
		return fmt.Sprintf("the text %q", text(value))
	}
	return "the number " + string(value)
}
