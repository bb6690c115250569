// Package command carries out a decision to remove nodes: it is a state machine over
// NodeClaims and Nodes that marks the nodes, launches what replaces them, waits until
// that is initialized, deletes the nodes, and undoes all of it where it fails. It is
// what Karpenter's disruption queue does, without anything in memory.
//
//	c, err := command.New(now, spec)
//	steps, err := command.Start(c, view)            // to begin
//	progress := command.Advance(c, view, now)       // again and again
//	recovery := command.Recover(view)               // after a restart
//
// Disruption's Cluster.Command makes an action a command. [ObserveClaim] and
// [ObserveNode] read objects for a [View], and [Step.EditClaim] and [Step.EditNode]
// are the objects to store.
//
// # Left out
//
// Nothing here talks to a cluster, and no pod is evicted: package drain does that for
// the nodes that a command has deleted.
//
// # Guarantees
//
// A command lives in its objects: a [Record] on every object that takes part says all
// about it, so that a program which restarts loses nothing. Steps may be carried out
// in any order, in part, twice or not at all. All functions are pure, inputs are
// read-only, and they may be called from any number of goroutines.
package command
