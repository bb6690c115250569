// Package edits makes requests of edits. The functions of this module that change objects
// return a copy as it should be; what an API server takes are patches, one for
// the status of an object and one for the rest.
//
//	after := nodeclaim.Launched(err).EditClaim(claim, machine, now)
//	requests, err := edits.Requests(claim, after)
//	version := claim.ResourceVersion
//	for _, r := range requests {
//		... send r.Patch(version) as application/merge-patch+json, to r.Subresource
//		version = ... the resourceVersion of the answer
//	}
//
// # Order, and what a conflict means
//
// Metadata and spec come first, and status only after they were taken: a status says what
// has been done, so it may lag behind the rest of its object and never go ahead. Who
// stops between the two is told so by the next look: the status still differs.
//
// Each patch names the version of the object that the decision was made from. Conflict
// (409) means that another writer has changed the object in the meantime: leave the rest,
// read again and decide again. Not found (404) means that the object is gone; do the same.
// Neither is a fault. A kubelet writes its Node every few seconds, so conflicts are daily
// business, and nothing that was to follow a write may begin if that was refused.
//
// Several objects are written in the order in which a crash between two of them does no
// harm: what names another after that is there, a record before the deed that it records,
// and the last trace of a thing, its finalizer or annotation, when all else is done.
//
// # Guarantees
//
// Functions are pure and safe for concurrent use; the objects given are not changed. The
// same objects make the same bytes.
package edits
