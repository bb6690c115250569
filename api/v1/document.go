package v1

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
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
	data       []byte         // JSON
	tree       map[string]any // data, parsed
	duplicates []duplicateKey
}

// Documents splits a YAML stream or a JSON text into its objects, in order. Lists, which are
// objects with items whose kind ends in List, are replaced by their items; an item without kind
// gets it from its list. Empty documents are skipped. Fields are checked only when an object is
// decoded. If some documents cannot be parsed, the others are returned together with a joined
// *DecodeError for each. data is not retained, and the caller owns the slice.
func Documents(data []byte) ([]Document, error) {
	var docs []Document
	texts, errs := parseTexts(data)
	for _, doc := range texts {
		items, err := doc.open()
		if err != nil {
			errs = append(errs, err)
		}
		docs = append(docs, items...)
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
	faults := d.checkKind(kind)
	if len(faults) == 0 {
		faults = d.checkFields(target.Elem().Type())
	}
	if len(faults) > 0 {
		return d.fail(faults)
	}
	// Decoded into a copy, so that out is unchanged after a fault.
	scratch := out.DeepCopyObject()
	if err := sigsjson.UnmarshalCaseSensitivePreserveInts(plainNumbers(d.data), scratch); err != nil {
		return d.wrap(err)
	}
	target.Elem().Set(reflect.ValueOf(scratch).Elem())
	return nil
}

// single returns the only document of a text; a list stays one document.
func single(data []byte) (Document, error) {
	docs, errs := parseTexts(data)
	if err := errors.Join(errs...); err != nil {
		return Document{}, err
	}
	switch len(docs) {
	case 0:
		return Document{}, &DecodeError{Err: errors.New("the text holds no object")}
	case 1:
		return docs[0], nil
	}
	return Document{}, &DecodeError{Err: fmt.Errorf("the text holds %d documents, want one; decode them all with DecodeAll", len(docs))}
}

// newDocument takes valid JSON.
func newDocument(data []byte, duplicates []duplicateKey) (Document, error) {
	d := Document{data: data, duplicates: duplicates}
	var tree any
	if err := sigsjson.UnmarshalCaseSensitivePreserveInts(data, &tree); err != nil {
		return d, &DecodeError{Err: err}
	}
	object, ok := tree.(map[string]any)
	if !ok {
		return d, &DecodeError{Err: fmt.Errorf("want an object with apiVersion and kind, got %s", jsonTypeOf(tree))}
	}
	d.tree = object
	d.apiVersion, _ = object["apiVersion"].(string)
	kind, _ := object["kind"].(string)
	d.kind = schema.FromAPIVersionAndKind(d.apiVersion, kind)
	if meta, ok := object["metadata"].(map[string]any); ok {
		d.name, _ = meta["name"].(string)
	}
	return d, nil
}

// list has the fields of every list kind. Its items stay raw.
type list struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []json.RawMessage `json:"items"`
}

// open returns the items of a list as documents, or the document itself if it
// is not a list.
func (d Document) open() ([]Document, error) {
	itemKind, isList := strings.CutSuffix(d.kind.Kind, "List")
	if _, hasItems := d.tree["items"]; !isList || !hasItems {
		return []Document{d}, nil
	}
	frame := d
	frame.duplicates = nil
	inItem := map[int][]duplicateKey{}
	for _, dup := range d.duplicates {
		if i, rest, ok := dup.inItem(); ok {
			inItem[i] = append(inItem[i], rest)
		} else {
			frame.duplicates = append(frame.duplicates, dup)
		}
	}
	if faults := frame.checkFields(reflect.TypeFor[list]()); len(faults) > 0 {
		return nil, d.fail(faults)
	}
	var l list
	if err := sigsjson.UnmarshalCaseSensitivePreserveInts(d.data, &l); err != nil {
		return nil, d.wrap(err)
	}
	var docs []Document
	var errs []error
	for i, item := range l.Items {
		doc, err := newDocument(item, inItem[i])
		if err != nil {
			errs = append(errs, d.wrap(fmt.Errorf("items[%d]: %w", i, err)))
			continue
		}
		docs = append(docs, doc.inherit(d.apiVersion, itemKind))
	}
	return docs, errors.Join(errs...)
}

// inherit gives an item of a typed list the kind and version of the list; the
// API server does not repeat them. Items of a plain List have their own.
func (d Document) inherit(apiVersion, kind string) Document {
	if kind == "" || d.kind.Kind != "" || d.apiVersion != "" {
		return d
	}
	d.tree["apiVersion"], d.tree["kind"] = apiVersion, kind
	d.apiVersion, d.kind = apiVersion, schema.FromAPIVersionAndKind(apiVersion, kind)
	d.data = joinTypeMeta(d.data, apiVersion, kind)
	return d
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
