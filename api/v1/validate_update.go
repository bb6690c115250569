package v1

import (
	"bytes"
	"encoding/json"
	"strconv"

	"k8s.io/apimachinery/pkg/util/validation/field"
)

// ValidateUpdate returns the faults of the step from old to p, or nil: the
// rules that fix a field once the object exists. It does not repeat Validate,
// because the API server lets a fault pass that was there before.
//
//   - spec.replicas cannot be added or removed, so a pool stays static or
//     dynamic; its number may change.
//   - spec.template.spec.nodeClassRef keeps its group and kind; its name may
//     change.
//
// If either pool is nil there is nothing to compare, and no fault.
func (p *NodePool) ValidateUpdate(old *NodePool) field.ErrorList {
	if p == nil || old == nil {
		return nil
	}
	v := newValidator(nil)
	spec := field.NewPath("spec")
	v.refUpdate(spec.Child("template", "spec", "nodeClassRef"), p.Spec.Template.Spec.NodeClassRef, old.Spec.Template.Spec.NodeClassRef)
	replicas := spec.Child("replicas")
	switch {
	case p.Spec.Replicas != nil && old.Spec.Replicas == nil:
		v.add(field.Forbidden(replicas, "a dynamic pool cannot become static; remove replicas, or create another pool"))
	case p.Spec.Replicas == nil && old.Spec.Replicas != nil:
		v.add(field.Forbidden(replicas, "a static pool cannot become dynamic; put replicas back, or create another pool"))
	}
	return v.faults
}

func (v *validator) refUpdate(path *field.Path, ref, old *NodeClassReference) {
	if ref == nil || old == nil {
		return
	}
	if ref.Group != old.Group {
		v.add(field.Invalid(path.Child("group"), ref.Group, "cannot be changed from "+strconv.Quote(old.Group)+"; create another pool"))
	}
	if ref.Kind != old.Kind {
		v.add(field.Invalid(path.Child("kind"), ref.Kind, "cannot be changed from "+strconv.Quote(old.Kind)+"; create another pool"))
	}
}

// ValidateUpdate returns the faults of the step from old to c, or nil: the spec
// of a NodeClaim cannot change at all. Each part that differs is one fault.
//
// What is compared is what would be written, as the API server compares it, with
// defaults: 720h and 720h0m0s differ, and so do an empty list and none. Go does not
// keep how an amount or a grace period was written, so 1000m is 1 here, and 60m is
// 1h, which the API server tells apart: Document.ValidateUpdate does too. If either
// claim is nil, there is no fault.
func (c *NodeClaim) ValidateUpdate(old *NodeClaim) field.ErrorList {
	if c == nil || old == nil {
		return nil
	}
	now, before := specParts(c), specParts(old)
	return immutable(func(name string) bool { return bytes.Equal(now[name], before[name]) })
}

// immutable returns a fault for each part of the spec of a NodeClaim that is not
// the same.
func immutable(same func(name string) bool) field.ErrorList {
	v := newValidator(nil)
	for _, name := range []string{
		"taints", "startupTaints", "requirements", "resources", "nodeClassRef", "terminationGracePeriod", "expireAfter",
	} {
		if !same(name) {
			v.add(field.Forbidden(field.NewPath("spec", name), "the spec of a NodeClaim cannot be changed, not even the way a value is written; create another one"))
		}
	}
	return v.faults
}

// specParts returns the fields of the claim's spec as they would be written.
func specParts(c *NodeClaim) map[string]json.RawMessage {
	normal := c.DeepCopy()
	normal.Default()
	// Neither step can fail: the types are ours, and the text is their own.
	data, _ := json.Marshal(normal.Spec)
	var parts map[string]json.RawMessage
	_ = json.Unmarshal(data, &parts)
	return parts
}

// ValidateUpdate returns nil: no field of a NodeOverlay is fixed. It is here so
// that all kinds can be treated alike.
func (o *NodeOverlay) ValidateUpdate(_ *NodeOverlay) field.ErrorList {
	return nil
}
