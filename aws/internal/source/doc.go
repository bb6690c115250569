// Package source asks AWS what the provider has to know, and remembers the
// answers.
//
// # Model
//
//   - A [Cell] is one question and its last good answer. It asks again when the
//     answer is due, lets one caller ask at a time, and keeps the answer when asking
//     fails. [Keyed] is many cells under one name.
//   - [Sources] has a question for each thing: instance types and their zones,
//     prices, the cluster, zonal shifts, subnets, security groups, capacity
//     reservations, the placement group, images and the parameters that name them.
//     Questions of several classes that are the same are asked once.
//   - A [Reading] goes with each answer and says of when it is, and whether and why
//     it could not be renewed.
//
// How long answers are good for, unless [Options] say otherwise:
//
//	12 hours     instance types and offerings, prices on demand
//	1 hour       spot prices
//	24 hours     parameters that name one release
//	5 minutes    other parameters, those that do not exist, the cluster
//	10 minutes   the price file
//	1 minute     subnets, security groups, images, reservations, placement groups
//	30 seconds   zonal shifts
//
// # A failure is no answer
//
// That something does not exist is an answer, and kept like any other. A call that
// was throttled, denied or cut off is none: the answer before stays, marked stale,
// and the next attempt waits, longer after each failure. So nothing that AWS said
// once is lost while it cannot be reached, and nothing is taken for gone that could
// not be looked up.
//
// # Left out
//
// What the answers mean for a class: see packages classes and offerings beside
// this one.
//
// # Guarantees
//
// Nothing is called before the first question. The time is that of the caller's
// clock. Answers do not depend on the order in which AWS lists things. An answer
// is read-only and may be shared. All methods may be called concurrently; none
// starts a goroutine that outlives the call. A method returns soon after its ctx
// is done, with an error that wraps that of ctx.
package source
