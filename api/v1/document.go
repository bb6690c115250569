package v1

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	sigsjson "sigs.k8s.io/json"
)

// Document is one object of a text, not yet decoded. With it a file that mixes NodePools with the
// NodeClasses of a provider, or with Deployments, can be decoded by kind. It is immutable and may
// be shared between goroutines. Documents makes it; for the zero value, which has no kind, Into
// returns an error.
//
// +k8s:deepcopy-gen=false
type Document struct {
	index      int
	apiVersion string
	kind       schema.GroupVersionKind
	name       string
	data       []byte // JSON
	source     *source
	path       []any // from the top of the source: a string for each key, an int for each index
	list       bool  // the kind is that of a list, and there are items
}

// Documents splits a YAML stream or a JSON text into its objects, in order. Lists, which are
// objects with items whose kind ends in List, are replaced by their items, also within one another;
// an item without kind gets it from its list. A document that is an array of objects is replaced by
// them too. Empty documents are skipped. Fields are checked only when an object is decoded. If some documents
// cannot be parsed, the others are returned together with a joined *DecodeError for each. data is
// not retained, and the caller owns the slice.
func Documents(data []byte) ([]Document, error) {
	var docs []Document
	sources, errs := parseTexts(data)
	for _, s := range sources {
		objects, faults := s.objects()
		docs, errs = append(docs, objects...), append(errs, faults...)
	}
	if len(docs) > 1 {
		for i := range docs {
			docs[i].index = i + 1
		}
	}
	return docs, errors.Join(errs...)
}

// GroupVersionKind returns the group, version and kind of the object; parts that are missing or
// unreadable are empty.
func (d Document) GroupVersionKind() schema.GroupVersionKind {
	return d.kind
}

// Name returns metadata.name, or "".
func (d Document) Name() string {
	return d.name
}

// Line returns the line, from 1, of the text given to Documents on which a field begins, such as
// spec.template.spec.taints[0].key, the path of a fault. If the object lacks the field, it is the
// line of the nearest field around it. Of a key that appears twice it is the second line. The empty
// path stands for the object. The result is 0 for the zero Document.
func (d Document) Line(field string) int {
	if d.source == nil {
		return 0
	}
	path := pathOf(d.path)
	if path != "" && field != "" && field[0] != '[' {
		path += "."
	}
	return d.source.line(path + field)
}

// JSON returns the object as JSON. The bytes are the caller's.
func (d Document) JSON() []byte {
	return bytes.Clone(d.data)
}

// Into decodes the document into out, a pointer to the Go type of the given kind, as DecodeInto
// does. The error is a DecodeError that lists every fault; out is unchanged then.
func (d Document) Into(kind schema.GroupVersionKind, out runtime.Object) error {
	target := reflect.ValueOf(out)
	if target.Kind() != reflect.Pointer || target.IsNil() || target.Elem().Kind() != reflect.Struct {
		return d.wrap(fmt.Errorf("cannot decode into %T, want a pointer to a struct that is not nil", out))
	}
	if faults := d.checkKind(kind); len(faults) > 0 {
		return d.fail(faults)
	}
	tree, faults, err := d.checkFields(target.Elem().Type())
	if err != nil {
		return d.wrap(err)
	}
	if len(faults) > 0 {
		return d.fail(faults)
	}
	data := d.data
	if tree, floats := stored(tree); floats {
		if data, err = json.Marshal(tree); err != nil {
			return d.wrap(err)
		}
	}
	// Decoded into a copy, so that out is unchanged after a fault.
	scratch := out.DeepCopyObject()
	if err := sigsjson.UnmarshalCaseSensitivePreserveInts(data, scratch); err != nil {
		return d.wrap(err)
	}
	target.Elem().Set(reflect.ValueOf(scratch).Elem())
	return nil
}

// single returns the only document of a text; a list stays one document.
func single(data []byte) (Document, error) {
	sources, errs := parseTexts(data)
	if err := errors.Join(errs...); err != nil {
		return Document{}, err
	}
	switch len(sources) {
	case 0:
		return Document{}, &DecodeError{Err: errors.New("the text holds no object")}
	case 1:
		return sources[0].document(sources[0].data, Document{})
	}
	return Document{}, &DecodeError{Err: fmt.Errorf("the text holds %d documents, want one; decode them all with DecodeAll", len(sources))}
}

// objects returns the objects of a document of a text.
func (s *source) objects() (docs []Document, errs []error) {
	if s.data[0] != '[' {
		return s.open(s.data, Document{})
	}
	var elements []json.RawMessage
	_ = json.Unmarshal(s.data, &elements) // it is valid JSON
	for i, element := range elements {
		objects, faults := s.open(element, Document{}, i)
		docs, errs = append(docs, objects...), append(errs, faults...)
	}
	return docs, errs
}

// deepestList is the largest number of lists around an object.
const deepestList = 8

// open returns the object that is the JSON value at a path, or the items of a list, which may be
// lists. parent is the list around the object, if any.
func (s *source) open(data []byte, parent Document, path ...any) (docs []Document, errs []error) {
	d, err := s.document(data, parent, path...)
	if err != nil {
		return nil, []error{err}
	}
	if !d.list || s.ambiguous {
		return []Document{d}, nil
	}
	if len(path)/2 >= deepestList {
		return nil, []error{d.faultOfText(fmt.Errorf("lists are nested more than %d deep; unfold them", deepestList))}
	}
	items, err := d.items()
	if err != nil {
		return nil, []error{err}
	}
	for i, item := range items {
		objects, faults := s.open(item, d, append(slices.Clip(path), "items", i)...)
		docs, errs = append(docs, objects...), append(errs, faults...)
	}
	return docs, errs
}

// document takes valid JSON, and reads the fields that every object has. Faults in them are those
// of decoding.
func (s *source) document(data []byte, parent Document, path ...any) (Document, error) {
	data = bytes.TrimSpace(data)
	d := Document{data: data, source: s, path: path}
	if data[0] != '{' {
		var value any
		_ = json.Unmarshal(data, &value) // it is valid JSON
		got := jsonTypeOf(value)
		if _, isList := value.([]any); value != nil && !isList {
			got += fmt.Sprintf(": %v", shortened(string(data)))
		}
		err := fmt.Errorf("want an object with apiVersion and kind, got %s", got)
		if len(path) > 0 {
			err = fmt.Errorf("%s: %w", pathOf(path), err)
		}
		d.kind, d.name = parent.kind, parent.name
		return d, d.faultOfText(err)
	}
	var head struct {
		APIVersion string `json:"apiVersion"`
		Kind       string `json:"kind"`
		Metadata   struct {
			Name string `json:"name"`
		} `json:"metadata"`
		Items present `json:"items"`
	}
	_ = sigsjson.UnmarshalCaseSensitivePreserveInts(data, &head)
	d.apiVersion, d.name = head.APIVersion, head.Metadata.Name
	d.kind = schema.FromAPIVersionAndKind(head.APIVersion, head.Kind)
	d.list = strings.HasSuffix(head.Kind, "List") && bool(head.Items)
	// The API server does not repeat kind and version of a typed list in its items. Items of a plain
	// List have their own.
	if itemKind, _ := strings.CutSuffix(parent.kind.Kind, "List"); itemKind != "" && d.kind.Kind == "" && d.apiVersion == "" {
		d.apiVersion, d.kind = parent.apiVersion, schema.FromAPIVersionAndKind(parent.apiVersion, itemKind)
		d.data = joinTypeMeta(data, d.apiVersion, itemKind)
	}
	return d, nil
}

// list has the fields of every list kind. Its items stay raw.
type list struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []json.RawMessage `json:"items"`
}

// items returns the items of a list. Faults of the other fields are errors.
func (d Document) items() ([]json.RawMessage, error) {
	var l list
	strict, err := sigsjson.UnmarshalStrict(d.data, &l)
	if err != nil || len(strict) > 0 || len(d.source.duplicates) > 0 {
		if _, faults, _ := d.checkFields(reflect.TypeFor[list]()); len(faults) > 0 {
			return nil, d.fail(faults)
		}
	}
	if err != nil {
		return nil, d.wrap(err)
	}
	return l.Items, nil
}

// present is true if a field is there, with any value.
type present bool

// UnmarshalJSON accepts any value.
func (p *present) UnmarshalJSON([]byte) error {
	*p = true
	return nil
}

// joinTypeMeta puts both fields at the front of a JSON object. It works on the text, because the
// parsed tree would round large numbers.
func joinTypeMeta(object []byte, apiVersion, kind string) []byte {
	head, err := json.Marshal(map[string]string{"apiVersion": apiVersion, "kind": kind})
	if err != nil {
		return object
	}
	body := bytes.TrimSpace(object)[1:]
	if next := bytes.TrimSpace(body); len(next) > 0 && next[0] == '}' {
		return head
	}
	return append(append(head[:len(head)-1:len(head)-1], ','), body...)
}
