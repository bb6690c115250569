// Package garbage finds instances that no NodeClaim speaks for, and NodeClaims
// whose instance is gone. Machines that nobody knows of cost money; nodes that
// are gone hold pods back.
//
// # Model
//
// [Find] compares the instances that a provider lists with the NodeClaims of the
// cluster, both as they were at about one instant, and returns a [Report]: which
// instances to terminate, which claims to delete, and what is too young or too
// fresh to say. It is careful, because a mistake here ends a node that works:
//
//   - An instance belongs to the claim that has its ID, or to the claim whose
//     name it bears while that claim has no ID yet: the launch may be on its way
//     to the status.
//   - What is younger than [Options.Grace] is left alone, as lists lag behind.
//   - What is found must be found again, [Options.Confirm] later.
//   - If very much is found at once, the brake ([Options.BrakeShare]) keeps all
//     of it back: an empty list is more often a fault than the end of a fleet.
//
// # Left out
//
// Terminating and deleting; the drain of nodes; other things that a cloud
// leaves lying about, such as volumes.
//
// # Guarantees
//
// Find is a function of its arguments, which are not modified. It keeps nothing:
// the caller hands [Report.Suspects] to the next call. Lists are sorted.
package garbage
