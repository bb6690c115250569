// Package karpenter runs Karpenter as a contender of package life.
//
// Karpenter's own controllers decide and act: the provisioner, disruption and its queue, the life
// cycle, expiration, drift and garbage collection of NodeClaims, and the termination of nodes with
// the eviction queue. They use the clock of the simulated cluster and a client of it. This package
// replaces the controller manager: in each turn it calls the controllers in a fixed order, for
// objects that have changed or are due.
//
// Two parts of the AWS provider are here too: an interruption notice deletes the NodeClaim, and an
// offering that is sold out, or whose machine was reclaimed, is not offered for three minutes.
//
// A turn takes no simulated time. The validation of a consolidation waits 15 seconds, as in a
// cluster. Karpenter gives a plan, and the search for several nodes to consolidate, a minute of real
// time each. A play that reaches this limit because the machine is slow or busy cannot be repeated.
//
// Some decisions depend on the iteration order of Go maps, so two plays may differ a little.
package karpenter
