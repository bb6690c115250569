package manifest

import (
	"encoding/json"
	"errors"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
	kjson "sigs.k8s.io/json"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
)

// strictness says what becomes of a field that the Go type does not have.
type strictness bool

const (
	strict strictness = true // it is a fault
	// lenient: it is a fault, unless an API server has accepted the object.
	lenient strictness = false
)

// decode fills in out, and reports whether it could. Package api/v1 finds
// every fault at once, where a JSON decoder would stop at the first.
func (r *reader) decode(o *object, out runtime.Object, how strictness) bool {
	data, err := json.Marshal(o.fields)
	if err != nil {
		return r.refuseAll(o, err)
	}
	err = v1.DecodeInto(data, schema.FromAPIVersionAndKind(o.apiVersion, o.kind), out)
	if err == nil {
		return true
	}
	var broken *v1.DecodeError
	if !errors.As(err, &broken) || len(broken.Faults) == 0 {
		return r.refuseAll(o, err)
	}
	var faults field.ErrorList
	var newer []string
	for _, f := range broken.Faults {
		if how == lenient && o.fromServer && f.Type == field.ErrorTypeForbidden {
			newer = append(newer, o.String()+": "+f.Field+" is newer than this program and was ignored")
			continue
		}
		faults = append(faults, f)
	}
	if !r.refuse(o, faults) {
		return false
	}
	if err := kjson.UnmarshalCaseSensitivePreserveInts(data, out); err != nil {
		return r.refuseAll(o, err)
	}
	r.cluster.Notes = append(r.cluster.Notes, newer...)
	return true
}

// refuse turns faults of fields into ours. It reports whether there is none.
func (r *reader) refuse(o *object, faults field.ErrorList) bool {
	for _, f := range faults {
		r.faults = append(r.faults, o.fault(parsePath(f.Field), "%s", oneLine(explain(f))))
	}
	return len(faults) == 0
}

// explain says what is wrong with a field and what to do about it, also where
// the fault itself has no more to say than that.
func explain(f *field.Error) string {
	if f.Type == field.ErrorTypeForbidden && f.Detail == "unknown field" {
		return f.ErrorBody() + "; remove it"
	}
	return f.ErrorBody()
}

// refuseAll reports a fault of an object as a whole.
func (r *reader) refuseAll(o *object, err error) bool {
	r.faults = append(r.faults, o.fault(nil, "cannot be read: %s", oneLine(strings.TrimSpace(err.Error()))))
	return false
}
