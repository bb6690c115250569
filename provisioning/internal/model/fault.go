package model

import (
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"
)

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
