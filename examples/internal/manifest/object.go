package manifest

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"

	kjson "sigs.k8s.io/json"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
)

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
