package manifest

import (
	"errors"
	"reflect"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
	kjson "sigs.k8s.io/json"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
)

// decode decodes an object into out, and reports whether that succeeded. It uses package api/v1,
// which finds all faults at once; a JSON decoder would stop at the first. A field that the Go type
// does not have is a fault, unless it is newer than this program: then it is noted. It is newer if
// an API server has accepted the object, or if Kubernetes 1.37 added it.
func (r *reader) decode(o *object, out runtime.Object) bool {
	if o.fromServer && decodeSound(o, out) {
		return true
	}
	data, err := o.typed()
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
		if f.Type == field.ErrorTypeForbidden && (o.fromServer || addedLater(o, f.Field)) {
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

// laterFields are the fields of pods, Jobs and devices that Kubernetes 1.37 added. The types
// that this program is built with are those of 1.36.
var laterFields = []string{
	"bindMountOptions", "compatibilityGroups", "derivedAttributes", "disableResizePreemption", "evictionResponders",
	"grpc.mode", "httpGet.protocol", "nodeAllocatableResources", "partitionTypeAttribute", "podPreemptionPolicy",
	"spec.scheduling", "skipNodeOperations",
}

// addedLater says whether a field of an object of Kubernetes is one of laterFields.
func addedLater(o *object, path string) bool {
	if strings.Contains(o.apiVersion, "karpenter") {
		return false
	}
	return slices.ContainsFunc(laterFields, func(name string) bool { return strings.HasSuffix("."+path, "."+name) })
}

// decodeSound decodes an object that an API server has accepted. It reports whether every field is
// known and occurs once; otherwise out is unchanged. It is several times faster than the search for
// all faults, and nearly every object of a dump has none.
func decodeSound(o *object, out runtime.Object) bool {
	scratch := out.DeepCopyObject()
	faults, err := kjson.UnmarshalStrict(o.json, scratch)
	if err != nil || len(faults) > 0 {
		return false
	}
	if o.inherits {
		scratch.GetObjectKind().SetGroupVersionKind(schema.FromAPIVersionAndKind(o.apiVersion, o.kind))
	}
	reflect.ValueOf(out).Elem().Set(reflect.ValueOf(scratch).Elem())
	return true
}

// refuse reports faults of fields as Faults. It returns true if there are none.
func (r *reader) refuse(o *object, faults field.ErrorList) bool {
	for _, f := range faults {
		r.faults = append(r.faults, o.fault(parsePath(f.Field), "%s", oneLine(explain(f))))
	}
	return len(faults) == 0
}

// explain says what is wrong with a field and what to do about it, even if the fault has no detail.
func explain(f *field.Error) string {
	body := strings.NewReplacer(`\u003c`, "<", `\u003e`, ">", `\u0026`, "&").Replace(f.ErrorBody()) // as encoding/json writes a list
	if f.Type == field.ErrorTypeForbidden && f.Detail == "unknown field" {
		return body + "; remove it"
	}
	return body
}

// refuseAll reports a fault of an object as a whole.
func (r *reader) refuseAll(o *object, err error) bool {
	r.faults = append(r.faults, o.fault(nil, "cannot be read: %s", oneLine(strings.TrimSpace(err.Error()))))
	return false
}

// decodeNodePool decodes, defaults and validates a NodePool.
func decodeNodePool(r *reader, o *object) (*v1.NodePool, bool) {
	pool := &v1.NodePool{}
	return pool, r.decodeValid(o, pool, func() field.ErrorList {
		pool.Default()
		return pool.ValidateWith(r.rules.NodePools)
	})
}

// decodeNodeClaim decodes, defaults and validates a NodeClaim.
func decodeNodeClaim(r *reader, o *object) (*v1.NodeClaim, bool) {
	claim := &v1.NodeClaim{}
	return claim, r.decodeValid(o, claim, func() field.ErrorList {
		claim.Default()
		return claim.ValidateWith(r.rules.NodePools)
	})
}

// decodeNodeOverlay decodes and validates a NodeOverlay. It has no defaults.
func decodeNodeOverlay(r *reader, o *object) (*v1.NodeOverlay, bool) {
	overlay := &v1.NodeOverlay{}
	return overlay, r.decodeValid(o, overlay, func() field.ErrorList { return overlay.ValidateWith(r.rules.NodeOverlays) })
}

// decodeValid decodes and validates an object. An object with misspelt fields is validated as far
// as it can be read, so that all its faults are reported at once. Missing fields are not reported
// then, because the missing field may be the misspelt one.
func (r *reader) decodeValid(o *object, out runtime.Object, validate func() field.ErrorList) bool {
	if r.decode(o, out) {
		return r.refuse(o, validate())
	}
	data, err := o.typed()
	if err != nil || kjson.UnmarshalCaseSensitivePreserveInts(data, out) != nil {
		return false
	}
	var sure field.ErrorList
	for _, f := range validate() {
		if f.Type != field.ErrorTypeRequired {
			sure = append(sure, f)
		}
	}
	r.refuse(o, sure)
	return false
}
