package catalog

import (
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/dovetail-sdk/dovetail/provisioning/resources"
)

// strictReader takes values apart and gathers everything that is not as it
// should be. Its methods are given the path of a value within the object being
// read; after a fault they return the zero value, and reading goes on. A null is
// taken as if the value were not there.
type strictReader struct {
	object string // what is being read, for the faults
	errs   []error
}

func (r *strictReader) fault(path, format string, args ...any) {
	text := r.object
	if path != "" {
		text += ": " + path
	}
	r.errs = append(r.errs, errors.New(text+": "+fmt.Sprintf(format, args...)))
}

// entries goes through an object in the order of the file. A field that is
// there twice is a fault.
func (r *strictReader) entries(path string, v *value) iter.Seq2[string, *value] {
	return func(yield func(string, *value) bool) {
		if v == nil {
			return
		}
		if !v.isObject() {
			r.fault(path, "%v is there; write an object", v)
			return
		}
		seen := make(map[string]bool, len(v.names))
		for i, name := range v.names {
			if seen[name] {
				r.fault(path, "the field %q is there twice; keep one", name)
			} else if !yield(name, v.values[i]) {
				return
			}
			seen[name] = true
		}
	}
}

// fields faults the fields of an object that are none of the known ones.
func (r *strictReader) fields(path string, v *value, known ...string) {
	for name := range r.entries(path, v) {
		if !slices.Contains(known, name) {
			r.fault(path, "unknown field %q; the fields are %s", name, strings.Join(known, ", "))
		}
	}
}

// list returns the elements of a list.
func (r *strictReader) list(path string, v *value) []*value {
	if v == nil {
		return nil
	}
	if !v.isList() {
		r.fault(path, "%v is there; write a list", v)
		return nil
	}
	return v.values
}

// text returns a string.
func (r *strictReader) text(path string, v *value) string {
	text, ok := v.tokenOrNil().(string)
	if !ok && v != nil {
		r.fault(path, "%v is not text; put it in quotes", v)
	}
	return text
}

// texts returns a list of strings.
func (r *strictReader) texts(path string, v *value) []string {
	list := r.list(path, v)
	out := make([]string, len(list))
	for i, element := range list {
		text, ok := element.tokenOrNil().(string)
		if !ok {
			r.fault(fmt.Sprintf("%s[%d]", path, i), "%v is not text; put it in quotes", element)
		}
		out[i] = text
	}
	return out
}

// float returns a number.
func (r *strictReader) float(path string, v *value) float64 {
	number, _ := v.tokenOrNil().(json.Number)
	out, err := strconv.ParseFloat(string(number), 64)
	if err != nil && v != nil {
		r.fault(path, "%v is not a number that can be used; write one as in 0.096", v)
		return 0
	}
	return out
}

// integer returns a whole number.
func (r *strictReader) integer(path string, v *value) int {
	number, _ := v.tokenOrNil().(json.Number)
	out, err := strconv.Atoi(string(number))
	if err != nil && v != nil {
		r.fault(path, "%v is not a whole number that can be used; write one as in 8", v)
		return 0
	}
	return out
}

// boolean returns true or false, and otherwise the default.
func (r *strictReader) boolean(path string, v *value, otherwise bool) bool {
	if v == nil {
		return otherwise
	}
	out, ok := v.token.(bool)
	if !ok {
		r.fault(path, "%v is neither true nor false; write one of them, without quotes", v)
	}
	return out
}

// quantities returns a list of resources.
func (r *strictReader) quantities(path string, v *value) resources.List {
	amounts := map[corev1.ResourceName]int64{}
	for name, amount := range r.entries(path, v) {
		text, ok := amount.tokenOrNil().(string)
		if number, isNumber := amount.tokenOrNil().(json.Number); isNumber {
			text, ok = string(number), true
		}
		// What Parse would take for a list of several is not one quantity.
		if !ok || strings.ContainsAny(name+text, ",=") {
			r.fault(path, "resource %s: %v is not a quantity; write one as in 500m, 2 or 8Gi", name, amount)
			continue
		}
		one, err := resources.Parse(name + "=" + text)
		if err != nil {
			r.fault(path, "%v", err)
		}
		for parsed, n := range one.All() {
			amounts[parsed] = n
		}
	}
	return resources.New(amounts)
}
