package manifest

import (
	v1 "github.com/dovetail-sdk/dovetail/api/v1"
)

// decodeNodePool decodes, defaults and validates a NodePool.
func decodeNodePool(r *reader, o *object) (*v1.NodePool, bool) {
	pool := &v1.NodePool{}
	if !r.decode(o, pool, strict) {
		return nil, false
	}
	pool.Default()
	return pool, r.refuse(o, pool.ValidateWith(r.rules))
}

// decodeNodeClaim decodes, defaults and validates a NodeClaim.
func decodeNodeClaim(r *reader, o *object) (*v1.NodeClaim, bool) {
	claim := &v1.NodeClaim{}
	if !r.decode(o, claim, strict) {
		return nil, false
	}
	claim.Default()
	return claim, r.refuse(o, claim.ValidateWith(r.rules))
}
