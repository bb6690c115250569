// Package command carries out a decision to remove nodes. It is a state machine over NodeClaims and
// Nodes: it marks the nodes, launches their replacements, waits until these are initialized, and
// deletes the nodes. If a write fails it undoes the earlier ones. Karpenter's disruption queue does
// the same with state in memory.
//
//	c, err := command.New(now, spec)
//	writes, err := command.Start(c, input)           // to begin
//	progress := command.Advance(now, c, input)      // again and again
//	recovery := command.Recover(input)              // after a restart
//
// Cluster.Command of package disruption converts an action to a command. [ObserveClaim] and
// [ObserveNode] read objects for an [Input], and [Write.EditClaim] and [Write.EditNode] return the
// objects to store.
//
// # Left out
//
// Nothing here talks to a cluster, and no pod is evicted: package drain does that for
// the nodes that a command has deleted.
//
// # Guarantees
//
// The state of a command is in its objects: every object that takes part has a [Record] of the
// whole command, so that a program which restarts loses nothing. Writes may be carried out in any
// order, in part, twice or not at all. All functions are pure, inputs are read-only, and they may
// be called from any number of goroutines.
package command
