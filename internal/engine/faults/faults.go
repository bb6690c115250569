// Package faults collects what is wrong with an input, whoever finds it.
package faults

import (
	"errors"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"
)

// List collects the faults of an input.
type List struct{ List []error }

// Add notes what is wrong with a field of an object.
func (f *List) Add(object, field, format string, args ...any) {
	f.List = append(f.List, &Fault{Object: object, Field: field, Detail: fmt.Sprintf(format, args...)})
}

// Wrap notes the same, where an error says it.
func (f *List) Wrap(object, field string, err error) {
	f.List = append(f.List, &Fault{Object: object, Field: field, Err: err})
}

// Join adds the faults that err joins.
func (f *List) Join(err error) {
	if err != nil {
		f.List = append(f.List, Joined(err)...)
	}
}

// Split adds each of the errors that err joins. The text around them only says
// whose they are, as object does, and is left out.
func (f *List) Split(object string, err error) {
	for _, e := range Joined(err) {
		if fault, ok := e.(*field.Error); ok {
			f.Wrap(object, fault.Field, e)
		} else {
			f.Wrap(object, "", e)
		}
	}
}

// Joined returns the errors that err, or what it wraps, is made of.
func Joined(err error) []error {
	for inner := err; inner != nil; inner = errors.Unwrap(inner) {
		if list, ok := inner.(interface{ Unwrap() []error }); ok {
			return list.Unwrap()
		}
	}
	return []error{err}
}

// Err joins the faults, each a *Fault; nil if there are none.
func (f *List) Err() error { return errors.Join(f.List...) }

// Fault is one fault of an input: a provisioning.InputError.
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
			text = fault.ErrorBody() // Field is there already
		}
		b.WriteString(": ")
		b.WriteString(strings.ReplaceAll(text, "\n", "; "))
	}
	return b.String()
}

// Unwrap returns the cause.
func (e *Fault) Unwrap() error { return e.Err }
