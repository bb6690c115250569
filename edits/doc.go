// Package edits turns edits of objects into requests. The functions of this module that change an
// object return a changed copy of it. An API server takes patches: one for the status of an object
// and one for everything else.
//
//	after := nodeclaim.Launched(err).EditClaim(now, claim, machine)
//	requests, err := edits.Requests(claim, after)
//	version := claim.ResourceVersion
//	for _, r := range requests {
//		... send r.Patch(version) as application/merge-patch+json, to r.Subresource
//		version = ... the resourceVersion of the answer
//	}
//
// # Order and conflicts
//
// The request for metadata and spec comes first. Send the request for the status only after the
// first one was accepted: a status says what has been done, so it may be older than the rest of its
// object but never newer. If the program stops between the two requests, the next call of Requests
// returns the second one again, because the status still differs.
//
// Each patch names the version of the object that the decision was made from. A conflict (409)
// means that another writer has changed the object in the meantime: drop the remaining requests,
// read the object again and decide again. Not found (404) means that the object is gone; do the
// same. Neither is a fault. Conflicts are common, because a kubelet writes its Node every few
// seconds. After a refused request, do nothing that depends on it.
//
// Write several objects in an order in which a crash between two writes does no harm: an object
// before the ones that refer to it, a record before the action that it records, and the removal of
// a finalizer or an annotation after everything that it stands for is done.
//
// # Guarantees
//
// Functions are pure and safe for concurrent use; the objects given are not changed. The same
// objects make the same bytes.
package edits
