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
	f.List = append(f.List, &Fault{Object: object, Field: field, Err: err})
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
	Err    error
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
		text := e.Err.Error()
		if fault, ok := e.Err.(*field.Error); ok && fault.Field == e.Field {
			text = fault.ErrorBody() // e.Field is printed already
		}
		b.WriteString(": ")
		b.WriteString(strings.ReplaceAll(text, "\n", "; "))
	}
	return b.String()
}

// Unwrap returns the wrapped error, or nil.
func (e *Fault) Unwrap() error { return e.Err }
