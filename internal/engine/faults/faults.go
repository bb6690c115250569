// Package faults collects the faults of an input from all phases of the engine.
package faults

import (
	"errors"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"
)

// List collects the faults of an input.
type List struct{ List []error }

// Add records a fault in a field of an object.
func (f *List) Add(object, field, format string, args ...any) {
	f.List = append(f.List, &Fault{Object: object, Field: field, Detail: fmt.Sprintf(format, args...)})
}

// Wrap records a fault in a field of an object, described by an error.
func (f *List) Wrap(object, field string, err error) {
	f.List = append(f.List, &Fault{Object: object, Field: field, Detail: DetailOf(field, err), Err: err})
}

// DetailOf returns the text of an error on one line, without the field if that is printed already.
func DetailOf(path string, err error) string {
	text := err.Error()
	if fault, ok := err.(*field.Error); ok && fault.Field == path {
		text = fault.ErrorBody()
	}
	return strings.ReplaceAll(text, "\n", "; ")
}

// InField adds each of the errors that err joins, whose text begins with the field and a separator, as
// a fault of an object. Without the separator the fault names no field.
func (f *List) InField(object, separator string, err error) {
	for _, e := range Joined(err) {
		f.one(object, separator, e)
	}
}

func (f *List) one(object, separator string, err error) {
	path, detail := CutField(separator, err)
	f.List = append(f.List, &Fault{Object: object, Field: path, Detail: detail, Err: err})
}

// Named adds an error about an object: as Split if it joins errors of fields, and else as one fault
// whose text begins with the field and a colon.
func (f *List) Named(object string, err error) {
	if _, ok := Joined(err)[0].(*field.Error); ok {
		f.Split(object, err)
	} else {
		f.one(object, ": ", err)
	}
}

// CutField splits the text of an error at the first separator: ": ", or " is ", which stays part of
// the detail.
func CutField(separator string, err error) (path, detail string) {
	path, detail, found := strings.Cut(DetailOf("", err), separator)
	if !found {
		return "", path
	}
	return path, strings.TrimPrefix(separator, ":")[1:] + detail
}

// Join adds each fault that err joins; nil adds none.
func (f *List) Join(err error) {
	if err != nil {
		f.List = append(f.List, Joined(err)...)
	}
}

// Split adds each of the errors that err joins as a fault of an object. It drops the text around
// the joined errors, which only names the object.
func (f *List) Split(object string, err error) {
	for _, e := range Joined(err) {
		if fault, ok := e.(*field.Error); ok {
			f.Wrap(object, fault.Field, e)
		} else {
			f.Wrap(object, "", e)
		}
	}
}

// Joined returns the errors that err, or an error that it wraps, joins; err alone if it joins none.
func Joined(err error) []error {
	for inner := err; inner != nil; inner = errors.Unwrap(inner) {
		if list, ok := inner.(interface{ Unwrap() []error }); ok {
			return list.Unwrap()
		}
	}
	return []error{err}
}

// Err returns the faults joined, each a *Fault; nil if there are none.
func (f *List) Err() error { return errors.Join(f.List...) }

// Fault is one fault of an input. Package provisioning exports it as InputError.
type Fault struct {
	Object string
	Field  string
	Detail string
	Err    error // printed after Detail, unless it ends in Detail
}

// Error renders the fault on one line.
func (e *Fault) Error() string {
	var b strings.Builder
	b.WriteString(e.Object)
	if e.Field != "" {
		b.WriteString(": ")
		b.WriteString(e.Field)
	}
	if e.Detail != "" {
		b.WriteString(": ")
		b.WriteString(e.Detail)
	}
	if e.Err != nil {
		if text := DetailOf(e.Field, e.Err); e.Detail == "" || !strings.HasSuffix(text, e.Detail) {
			b.WriteString(": ")
			b.WriteString(text)
		}
	}
	return b.String()
}

// Unwrap returns the wrapped error, or nil.
func (e *Fault) Unwrap() error { return e.Err }
