package v1

import (
	"bytes"
	"encoding/json"
	"strconv"

	"k8s.io/apimachinery/pkg/util/validation/field"
)

// ValidateUpdate returns the faults of the change from old to p, or nil, by the rules for immutable
// fields. It does not repeat Validate, because the API server accepts faults that existed before.
//
//   - spec.replicas cannot be added or removed, so a pool stays static or
//     dynamic; its number may change.
//   - spec.template.spec.nodeClassRef keeps its group and kind; its name may
//     change.
//
// If either pool is nil there is no fault.
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

// ValidateUpdate returns the faults of the change from old to c, or nil: the spec of a NodeClaim is
// immutable. Each field that differs is one fault.
//
// The written forms are compared, with defaults, as by the API server: 720h and 720h0m0s differ,
// and so do an empty list and none. Go does not keep the text of amounts and grace periods, so
// 1000m equals 1 here, and 60m equals 1h; for the API server and Document.ValidateUpdate they
// differ. If either claim is nil, there is no fault.
func (c *NodeClaim) ValidateUpdate(old *NodeClaim) field.ErrorList {
	if c == nil || old == nil {
		return nil
	}
	now, before := specParts(c), specParts(old)
	return immutable(func(name string) bool { return bytes.Equal(now[name], before[name]) })
}

// immutable returns a fault for each field of the spec of a NodeClaim for which same is false.
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

// specParts returns the JSON of the fields of the claim's spec.
func specParts(c *NodeClaim) map[string]json.RawMessage {
	normal := c.DeepCopy()
	normal.Default()
	// Neither step can fail, because both use only our types.
	data, _ := json.Marshal(normal.Spec)
	var parts map[string]json.RawMessage
	_ = json.Unmarshal(data, &parts)
	return parts
}

// ValidateUpdate returns nil: no field of a NodeOverlay is immutable. It exists so that all kinds
// have the method.
func (o *NodeOverlay) ValidateUpdate(_ *NodeOverlay) field.ErrorList {
	return nil
}
