package manifest

import (
	"fmt"
	"strings"
)

// origin says where an object was read from.
type origin struct {
	doc  *document
	path []any // from the top of the document: empty, or a List's items
}

// object is one Kubernetes object as it was written.
type object struct {
	origin
	apiVersion, kind string
	namespace, name  string
	fields           map[string]any
	fromServer       bool // an API server has accepted it
}

// String names an object the way people do: "Deployment shop/web".
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

// fault makes a Fault of a field of the object.
func (o *object) fault(path []any, format string, args ...any) *Fault {
	full := append(append([]any(nil), o.path...), path...)
	f := o.doc.fault(full, fieldName(path), format, args...)
	f.Object = o.String()
	return f
}

// deepestList bounds the path to an object within Lists.
const deepestList = 16

// flatten yields the objects of a parsed document: itself, or the items of a
// List, or of a List in a List.
func flatten(at origin, value any, add func(*object), faults *Faults) {
	if len(at.path) > deepestList {
		*faults = append(*faults, at.doc.fault(nil, "", "nests Lists deeper than anyone does; unfold them"))
		return
	}
	switch value := value.(type) {
	case nil: // "null" is an empty document, and what an empty List item is
	case []any:
		for i, item := range value {
			flatten(at.child(i), item, add, faults)
		}
	case map[string]any:
		o := &object{origin: at, fields: value}
		o.apiVersion, _ = value["apiVersion"].(string)
		o.kind, _ = value["kind"].(string)
		items, hasItems := value["items"].([]any)
		if itemKind, ok := strings.CutSuffix(o.kind, "List"); ok && (hasItems || value["items"] == nil) {
			for i, item := range items {
				flatten(at.child("items", i), typed(item, o.apiVersion, itemKind), add, faults)
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

// child is the origin of something inside a List.
func (at origin) child(steps ...any) origin {
	return origin{doc: at.doc, path: append(append([]any(nil), at.path...), steps...)}
}

// typed gives an item of a PodList its kind, which the API server leaves to
// the list to say.
func typed(item any, apiVersion, kind string) any {
	m, ok := item.(map[string]any)
	if !ok || kind == "" || m["kind"] != nil || m["apiVersion"] != nil {
		return item
	}
	m["apiVersion"], m["kind"] = apiVersion, kind
	return m
}

// readMetadata takes the identity out of the metadata as far as it is there.
func (o *object) readMetadata() {
	meta, _ := o.fields["metadata"].(map[string]any)
	o.name, _ = meta["name"].(string)
	o.namespace, _ = meta["namespace"].(string)
	uid, _ := meta["uid"].(string)
	o.fromServer = uid != ""
}

// nameOfWrongType tells whether there is a name that is no text.
func (o *object) nameOfWrongType() bool {
	if o.fields["metadata"] == nil {
		return false
	}
	meta, ok := o.fields["metadata"].(map[string]any)
	return !ok || meta["name"] != nil && o.name == "" && meta["name"] != any("")
}

// untyped names the type field that the object lacks, if any.
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

// describe says what a parsed value is, for a reader who expected something
// else.
func describe(value any) string {
	switch value := value.(type) {
	case nil:
		return "nothing"
	case bool:
		return fmt.Sprintf("the boolean %t", value)
	case int64, float64:
		return fmt.Sprintf("the number %v", value)
	case string:
		if len(value) > 40 {
			return fmt.Sprintf("the text %.40q...", value)
		}
		return fmt.Sprintf("the text %q", value)
	case []any:
		return "a list"
	case map[string]any:
		return "a mapping"
	}
	return fmt.Sprintf("a %T", value)
}
