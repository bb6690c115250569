// Package roster keeps in tags which request each instance of a fleet was
// launched for.
//
// # Model
//
// One call of CreateFleet launches instances for many requests, and gives all of
// them the same tags. A [Roster] lists the requests in those tags, in order: of
// each a mark, which is a hash of its token, and the name of its NodeClaim. The
// instances of the fleet, in the order of their ids, belong to the requests in
// the order of the roster. So a process that was restarted between the launch
// and the writing down of what was launched reads from EC2 what it has already,
// and launches nothing twice.
//
// [ClientToken] makes the idempotency token of a call from the tokens of its
// requests, so that a call that is repeated word for word launches nothing
// either.
//
// # Left out
//
// Calls to AWS. Instances that are gone leave the order of the others in doubt
// once EC2 no longer lists them; whoever reads a roster must know how old its
// instances are.
//
// # Guarantees
//
// Everything is a function of its arguments. Nothing that a tag may hold makes a
// function panic, and what is no roster is not taken for one.
package roster
