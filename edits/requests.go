package edits

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// StatusSubresource is the Subresource of a request for the status.
const StatusSubresource = "status"

// Request is one patch of an object.
type Request struct {
	// Subresource is "status", or empty for the object itself.
	Subresource string

	patch map[string]any
}

// Requests returns the patches that change an object from before to after: none if the two are
// equal, else a patch of everything except the status if that differs, and then one of the status
// if that differs. Both objects have the same type, whose JSON is that of the API server, and the
// same name, namespace and UID. after may be before itself; neither is nil. A field that only
// before has is removed; a list is replaced as a whole. metadata.resourceVersion and managedFields
// of after are ignored.
//
// The error says that an object is nil, that the two are different objects, or that one cannot be
// written as JSON. It never comes from the API server, so repeating the call does not help. Time is
// proportional to the size of the objects.
func Requests[T metav1.Object](before, after T) ([]Request, error) {
	if isNil(before) || isNil(after) {
		return nil, errors.New("edits: an object is nil: give it as it was read and as it should be")
	}
	if before.GetName() != after.GetName() || before.GetNamespace() != after.GetNamespace() || before.GetUID() != after.GetUID() {
		return nil, fmt.Errorf("edits: %s/%s with UID %q is not %s/%s with UID %q: give the same object twice",
			before.GetNamespace(), before.GetName(), before.GetUID(), after.GetNamespace(), after.GetName(), after.GetUID())
	}
	from, err := fields(before)
	if err != nil {
		return nil, err
	}
	to, err := fields(after)
	if err != nil {
		return nil, err
	}
	patch := difference(from, to)
	var out []Request
	status, changed := patch["status"]
	delete(patch, "status")
	if len(patch) > 0 {
		out = append(out, Request{patch: patch})
	}
	if changed {
		out = append(out, Request{StatusSubresource, map[string]any{"status": status}})
	}
	return out, nil
}

// Patch returns the text of a JSON merge patch (RFC 7386) that the API server refuses if the object
// has another resourceVersion. With an empty resourceVersion the patch is applied to any version.
func (r Request) Patch(resourceVersion string) []byte {
	patch := map[string]any{}
	maps.Copy(patch, r.patch)
	if resourceVersion != "" {
		metadata := map[string]any{}
		if m, ok := patch["metadata"].(map[string]any); ok {
			maps.Copy(metadata, m)
		}
		metadata["resourceVersion"] = resourceVersion
		patch["metadata"] = metadata
	}
	text, err := json.Marshal(patch)
	if err != nil {
		return nil // not for what was read from JSON
	}
	return text
}

// String returns the request without a resourceVersion.
func (r Request) String() string {
	if r.Subresource == "" {
		return string(r.Patch(""))
	}
	return r.Subresource + " " + string(r.Patch(""))
}

func isNil(o any) bool {
	v := reflect.ValueOf(o)
	return !v.IsValid() || v.Kind() == reflect.Pointer && v.IsNil()
}

// fields returns the JSON of an object as a map.
func fields(o metav1.Object) (map[string]any, error) {
	text, err := json.Marshal(o)
	var out map[string]any
	if err == nil {
		err = json.Unmarshal(text, &out)
	}
	if err != nil {
		return nil, fmt.Errorf("edits: %s/%s: %w", o.GetNamespace(), o.GetName(), err)
	}
	if metadata, ok := out["metadata"].(map[string]any); ok {
		delete(metadata, "resourceVersion")
		delete(metadata, "managedFields")
	}
	return out, nil
}

// difference returns the merge patch that turns one object into another.
func difference(from, to map[string]any) map[string]any {
	patch := map[string]any{}
	for key, value := range to {
		was, had := from[key]
		inner, isMap := value.(map[string]any)
		outer, wasMap := was.(map[string]any)
		switch {
		case had && isMap && wasMap:
			if d := difference(outer, inner); len(d) > 0 {
				patch[key] = d
			}
		case !had && value != nil || had && !reflect.DeepEqual(was, value):
			patch[key] = value
		}
	}
	for key, was := range from {
		if _, has := to[key]; !has && was != nil {
			patch[key] = nil
		}
	}
	return patch
}
