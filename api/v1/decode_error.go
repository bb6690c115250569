package v1

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"
)

// DecodeError is everything that is wrong with one object of a text.
//
// +k8s:deepcopy-gen=false
type DecodeError struct {
	// Document is the position of the object in the text, counted from 1, with
	// the items of lists counted on their own; 0 if the text is one object.
	Document int
	// Kind is the kind that the object claims, "" if it does not.
	Kind string
	// Name is metadata.name, "" if there is none.
	Name string
	// Faults are the faults that have a path, in the order of the paths.
	Faults field.ErrorList
	// Err is a fault of the text as a whole, such as broken syntax. Either
	// Faults or Err is set.
	Err error
}

// Error names the object, then all faults, separated by semicolons.
func (e *DecodeError) Error() string {
	parts := make([]string, 0, len(e.Faults)+1)
	if e.Err != nil {
		parts = append(parts, e.Err.Error())
	}
	for _, fault := range e.Faults {
		parts = append(parts, fault.Error())
	}
	return e.subject() + ": " + strings.Join(parts, "; ")
}

// Unwrap returns every fault, for errors.Is and errors.As.
func (e *DecodeError) Unwrap() []error {
	var errs []error
	if e.Err != nil {
		errs = append(errs, e.Err)
	}
	for _, fault := range e.Faults {
		errs = append(errs, fault)
	}
	return errs
}

func (e *DecodeError) subject() string {
	var parts []string
	if e.Document > 0 {
		parts = append(parts, fmt.Sprintf("document %d", e.Document))
	}
	switch {
	case e.Kind != "" && e.Name != "":
		parts = append(parts, fmt.Sprintf("%s %q", e.Kind, e.Name))
	case e.Kind != "":
		parts = append(parts, e.Kind)
	case e.Name != "":
		parts = append(parts, fmt.Sprintf("object %q", e.Name))
	}
	if len(parts) == 0 {
		return "decode"
	}
	return strings.Join(parts, ", ")
}

func (d Document) fail(faults field.ErrorList) error {
	return &DecodeError{Document: d.index, Kind: d.kind.Kind, Name: d.name, Faults: faults}
}

func (d Document) wrap(err error) error {
	return &DecodeError{Document: d.index, Kind: d.kind.Kind, Name: d.name, Err: err}
}
