// Package classes resolves an EC2NodeClass: it looks up what the selectors of its
// spec select and says in the status what was found, and whether nodes can be
// launched.
//
// # Model
//
// [Resolver.Resolve] takes a class and returns a [Resolution], with a copy of the
// class whose status is new: images, reservations, subnets, security groups, the
// instance profile, and a condition for each. Everything is asked of package
// source, which remembers answers, so resolving again costs little and the same
// question of many classes is one call.
//
// What a lookup can come to:
//
//	found                          condition True
//	nothing there, or a fault      condition False, the list is empty
//	no answer, but one of before   condition True, with a note that it is of before
//	no answer                      condition Unknown, with the reason LookupFailed
//
// An answer of before is what package source remembers, and else what the class
// has in its status, if that is of the same generation: so a restart while AWS
// cannot be reached loses nothing.
//
// # Left out
//
// Making instance profiles and trying out launches: the caller gives functions for
// both. Writing the status anywhere.
//
// # Guarantees
//
// The class given is not modified. Lists are sorted in a way that does not change
// with what runs: subnets by id, not by free addresses. The same answers at the
// same instant give the same status. Faults name the field, its value and the
// remedy, all of them at once.
package classes
