package provisioning

import (
	"errors"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"
)

// InputError is one fault of an Input: an object that cannot be read the way
// it stands. Prepare reports all faults at once, joined by errors.Join; use
// errors.As to look at the first, or Faults for all.
type InputError struct {
	Object string // such as `Pod "shop/cart-1"`
	Field  string // path of the field at fault, if one is
	Detail string // what is wrong with it and what would be right
	Err    error  // the cause, if there is one
}

// Error renders the fault on one line.
func (e *InputError) Error() string {
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
func (e *InputError) Unwrap() error { return e.Err }

// Faults lists the faults in an error that Prepare or Solve returned, in the
// order of the error's text. It is empty for other errors.
func Faults(err error) []*InputError {
	switch e := err.(type) {
	case *InputError:
		return []*InputError{e}
	case interface{ Unwrap() error }:
		return Faults(e.Unwrap())
	case interface{ Unwrap() []error }:
		var out []*InputError
		for _, inner := range e.Unwrap() {
			out = append(out, Faults(inner)...)
		}
		return out
	}
	return nil
}

// faults collects the faults of an input.
type faults struct{ list []error }

func (f *faults) add(object, field, format string, args ...any) {
	f.list = append(f.list, &InputError{Object: object, Field: field, Detail: fmt.Sprintf(format, args...)})
}

func (f *faults) wrap(object, field string, err error) {
	f.list = append(f.list, &InputError{Object: object, Field: field, Err: err})
}

// split adds each of the errors that err joins. The text around them only says
// whose they are, as object does, and is left out.
func (f *faults) split(object string, err error) {
	for _, e := range joined(err) {
		if fault, ok := e.(*field.Error); ok {
			f.wrap(object, fault.Field, e)
		} else {
			f.wrap(object, "", e)
		}
	}
}

// joined returns the errors that err, or what it wraps, is made of.
func joined(err error) []error {
	for inner := err; inner != nil; inner = errors.Unwrap(inner) {
		if list, ok := inner.(interface{ Unwrap() []error }); ok {
			return list.Unwrap()
		}
	}
	return []error{err}
}

func (f *faults) err() error { return errors.Join(f.list...) }
