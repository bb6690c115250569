package provisioning

import (
	"github.com/dovetail-sdk/dovetail/internal/engine/faults"
)

// InputError is one fault of an Input: an object that is invalid or contradicts others. Prepare
// reports all faults at once, joined by errors.Join; use errors.As to get the first, or Faults to
// get all.
type InputError struct {
	Object string // such as `Pod "shop/cart-1"`
	Field  string // path of the field at fault, "" if none is
	Detail string // what is wrong and how to correct it, on one line
	Err    error  // the error that Detail renders, or nil
}

// Error renders the fault on one line.
func (e *InputError) Error() string { return (*faults.Fault)(e).Error() }

// Unwrap returns the cause, or nil.
func (e *InputError) Unwrap() error { return e.Err }

// Faults lists the faults in an error of this package, in the order of the error's text. It also
// works for errors that contain such an error, as that of disruption.Observe does. It is empty for
// other errors and for nil.
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
