package manifest

import (
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	kjson "sigs.k8s.io/json"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
)

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

// decodeValid decodes an object and validates it. An object with misspelt
// fields is validated as well, as far as it can be read, so that all its faults
// come at once; but that a field is missing is not said then, as it may be the
// one that is misspelt.
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
