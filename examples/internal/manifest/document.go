package manifest

import (
	"slices"
	"strings"

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

// oneLine joins the lines of a parser's error.
func oneLine(text string) string {
	return strings.Join(strings.Fields(text), " ")
}
