// Package repair changes solutions that are being made: it places pods one by one, ejects
// others, empties nodes, exchanges pods, and places all anew.
//
// Input: a State, in which an attempt's packing has given pods to nodes, and an order in
// which these are to be bound. Output: the same State, and an order. Invariant: after each
// pass of the list in passes.go the pods that have a place can be bound one by one, in the
// order that the pass returns, by the checks of kube-scheduler. What one pass has to tell
// another is in Done.
//
// Where to begin: passes; State; placer, which judges where one more pod may go, for
// inserter, ejector and eliminator alike.
package repair
