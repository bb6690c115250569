package provisioning

import (
	"github.com/dovetail-sdk/dovetail/internal/engine/faults"
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
func (e *InputError) Error() string { return (*faults.Fault)(e).Error() }

// Unwrap returns the cause.
func (e *InputError) Unwrap() error { return e.Err }

// Faults lists the faults in an error of this package, or of one that passes such errors
// on, as disruption.Observe and Proposal.Faults do, in the order of the error's text. It
// is empty for other errors, and for nil.
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
