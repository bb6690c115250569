// Package nodepool computes the status of a NodePool: its conditions and its usage, and the events
// about changes. Karpenter does this in its controllers nodepool/validation, nodepool/readiness and
// nodepool/counter.
//
//	pool := nodepool.Edit(now, stored, classErr, usage) // the object to store
//	for _, c := range nodepool.News(stored, pool) {     // an event for each
//
// nodeclaim.MigrateHashes computes the hashes, which are annotations: store the NodeClaims first,
// then the annotations of the NodePool, and then its status. Metadata and status are separate
// requests, and each is refused with a conflict if the object was written meanwhile. Then drop the
// edit, read the object and compute the edit again. Nothing is lost, because all edits are computed
// from the cluster.
//
// All functions are pure and safe for concurrent use; they do not modify their arguments.
package nodepool
