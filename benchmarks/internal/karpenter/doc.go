// Package karpenter is Karpenter as a contender of package life.
//
// Its own controllers decide and act: the provisioner, disruption and its queue, the life cycle,
// expiration, drift and garbage collection of NodeClaims, and the termination of nodes with the
// eviction queue. They run on a clock and a client that are those of the simulated cluster. What a
// manager of controllers does is done here: each controller is called in a fixed order in each turn
// for objects that have changed, or whose time has come.
//
// What is part of the AWS provider and not of Karpenter itself is here too: an interruption notice
// deletes the NodeClaim, and an offering that is sold out, or whose machine was taken back, is not
// offered for three minutes.
//
// A turn takes no time. The validation of a consolidation waits 15 seconds, as in a cluster. Time
// limits that Karpenter sets itself for a computation never run out, because the clock stands
// still within a turn.
//
// Some decisions depend on the order of Go maps, so that two plays may differ a little.
package karpenter
