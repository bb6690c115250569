package manifest

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	kjson "sigs.k8s.io/json"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/internal/textstream"
)

// document is one YAML or JSON document of a source.
type document struct {
	file   string
	number int // number of the document among those with content in the file, from 1
	before int // number of lines before it in the file
}

// read reads one source. The parser of package api/v1 gets one document at a time, because it counts
// objects.
func (r *reader) read(s Source) {
	parts := textstream.Split(textstream.UTF8(s.Data))
	if len(parts) == 0 {
		r.faults = append(r.faults, &Fault{File: s.Name,
			Message: "holds no object; look whether the command that wrote it failed"})
	}
	for i, part := range parts {
		doc := &document{file: s.Name, number: i + 1, before: part.Line - 1}
		found, err := v1.Documents(part.Text)
		for _, e := range joined(err) {
			r.faults = append(r.faults, doc.unread(e))
		}
		for _, d := range found {
			o := newObject(doc, d)
			var missing []string
			if o.APIVersion == "" {
				missing = append(missing, "apiVersion")
			}
			if o.Kind == "" {
				missing = append(missing, "kind")
			}
			if len(missing) > 0 {
				r.fault(o, "", "%s is missing; every object needs apiVersion and kind", strings.Join(missing, " and "))
				continue
			}
			r.take(o)
		}
	}
}

// joined returns the errors that an error joins, or the error itself.
func joined(err error) []error {
	if list, ok := err.(interface{ Unwrap() []error }); ok {
		return list.Unwrap()
	}
	return slices.DeleteFunc([]error{err}, func(err error) bool { return err == nil })
}

// unread returns the fault of a document, or of a part of it, that could not be read.
func (d *document) unread(err error) *Fault {
	f := &Fault{File: d.file, Document: d.number, Line: d.before + 1, Message: oneLine(err.Error())}
	if broken, ok := err.(*v1.DecodeError); ok && broken.Err != nil {
		f.Line, f.Object, f.Message = d.before+max(1, broken.Line), strings.TrimSpace(broken.Kind+" "+broken.Name), oneLine(broken.Err.Error())
	}
	return f
}

func oneLine(text string) string {
	return strings.Join(strings.Fields(text), " ")
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

	doc        *document
	written    v1.Document
	misnamed   bool // its name, or another text that names it, is not a text
	fromServer bool // an API server has accepted it
	value      any  // the decoded object; nil if it has faults, or affects no plan
}

// newObject reads the fields that every object has.
func newObject(doc *document, written v1.Document) *Object {
	o := &Object{JSON: written.JSON(), doc: doc, written: written}
	var head struct {
		APIVersion string `json:"apiVersion"`
		Kind       string `json:"kind"`
		Metadata   struct {
			Namespace string `json:"namespace"`
			Name      string `json:"name"`
			UID       string `json:"uid"`
		} `json:"metadata"`
	}
	o.misnamed = kjson.UnmarshalCaseSensitivePreserveInts(o.JSON, &head) != nil
	o.APIVersion, o.Kind = head.APIVersion, head.Kind
	o.Namespace, o.Name, o.fromServer = head.Metadata.Namespace, head.Metadata.Name, head.Metadata.UID != ""
	return o
}

// GetName returns the name.
func (o *Object) GetName() string { return o.Name }

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
	return &Fault{File: o.doc.file, Document: o.doc.number, Line: o.doc.before + o.written.Line(field), Object: o.String(),
		Field: plainKey.ReplaceAllString(field, ".$1"), Message: fmt.Sprintf(format, args...)}
}
