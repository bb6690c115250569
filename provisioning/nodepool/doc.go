// Package nodepool is what a controller writes into a NodePool: its conditions, what it
// uses, and what of that is news. Karpenter has the same in its controllers
// nodepool/validation, nodepool/readiness and nodepool/counter.
//
//	pool := nodepool.Edit(stored, classErr, usage, now) // the object to store
//	for _, c := range nodepool.News(stored, pool) {     // an event for each
//
// Hashes, which are annotations, are those of nodeclaim.MigrateHashes: store the
// NodeClaims first, then the annotations of the NodePool, and then its status. Metadata
// and status are requests of their own, and each is refused with a conflict where
// somebody has written the object meanwhile: drop it then, read again, and ask again. All
// edits follow from what stands in the cluster, so nothing is lost by that.
//
// All functions are pure and safe for concurrent use; they change nothing they are given.
package nodepool
