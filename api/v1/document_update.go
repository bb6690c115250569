package v1

import (
	"fmt"
	"math"
	"reflect"
	"time"

	"k8s.io/apimachinery/pkg/util/validation/field"
	sigsjson "sigs.k8s.io/json"
)

// ValidateUpdate returns the faults of the change from old to d, or nil. The rules are those of
// ValidateUpdate of the kind, applied to the text, as by the API server. The whole spec of a
// NodeClaim must be written as before, 1000m as 1000m and not as 1; null is the same as an omitted
// field, and instants are compared as instants.
//
// Both must be of one kind of this package and free of faults of decoding, which
// are returned first. Faults are in a *DecodeError.
func (d Document) ValidateUpdate(old Document) error {
	if d.kind != old.kind {
		return d.fail(field.ErrorList{field.Invalid(field.NewPath("kind"), d.kind.Kind, fmt.Sprintf("cannot be changed from %q", old.kind.Kind))})
	}
	now, err := d.decode()
	if err != nil {
		return err
	}
	before, err := old.decode()
	if err != nil {
		return err
	}
	var faults field.ErrorList
	switch now := now.(type) {
	case *NodePool:
		faults = now.ValidateUpdate(before.(*NodePool))
	case *NodeClaim:
		nowParts := d.claimParts()
		stored, _ := stored(old.claimParts())
		oldParts := stored.(map[string]any)
		faults = immutable(func(name string) bool { return reflect.DeepEqual(nowParts[name], oldParts[name]) })
	}
	if len(faults) > 0 {
		return d.fail(faults)
	}
	return nil
}

// claimParts returns the members of spec in canonical form, with defaults.
func (d Document) claimParts() map[string]any {
	var object struct {
		Spec map[string]any `json:"spec"`
	}
	_ = sigsjson.UnmarshalCaseSensitivePreserveInts(d.data, &object) // it was decoded
	parts := canonical(object.Spec).(map[string]any)
	if parts["expireAfter"] == nil {
		parts["expireAfter"] = writtenDuration("720h", DefaultExpireAfter).String()
	}
	return parts
}

// stored returns a copy of a JSON value in the form in which the API server stores it: whole numbers
// have neither point nor exponent, so that 1.0 becomes 1, and 1e3 becomes 1000. floats is true if the
// value has a number that is not written as a 64-bit integer.
func stored(value any) (out any, floats bool) {
	switch value := value.(type) {
	case float64:
		if value == math.Trunc(value) && math.Abs(value) <= maxExactInteger {
			return int64(value), true
		}
		return value, true
	case map[string]any:
		members := make(map[string]any, len(value))
		for name, member := range value {
			stored, more := stored(member)
			members[name], floats = stored, floats || more
		}
		return members, floats
	case []any:
		items := make([]any, len(value))
		for i, item := range value {
			stored, more := stored(item)
			items[i], floats = stored, floats || more
		}
		return items, floats
	}
	return value, false
}

// canonical returns a copy of a JSON value that is equal to that of another value if the rules of a
// schema take them for equal: without null members, and with instants in UTC.
func canonical(value any) any {
	switch value := value.(type) {
	case map[string]any:
		members := map[string]any{}
		for name, member := range value {
			text, _ := member.(string)
			if at, err := time.Parse(time.RFC3339, text); err == nil && name == "timeAdded" { // of a taint, the only instant in a spec
				member = at.UTC()
			}
			if member != nil {
				members[name] = canonical(member)
			}
		}
		return members
	case []any:
		items := make([]any, len(value))
		for i, item := range value {
			items[i] = canonical(item)
		}
		return items
	}
	return value
}
