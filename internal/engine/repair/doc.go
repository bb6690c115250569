// Package repair changes solutions that are being made: it places pods that were left over one by
// one, and then searches for a better plan by taking pods off some nodes and placing them anew.
//
// Input: a State, in which an attempt's packing has given pods to nodes, and an order in
// which these are to be bound. Output: the same State, and an order. Invariant: after each
// pass of the list in passes.go the pods that have a place can be bound one by one, in the
// order that the pass returns, by the checks of kube-scheduler. What one pass has to tell
// another is in Done.
//
// Where to begin: passes; State; placer, which judges where one more pod may go; search, whose
// trials are undone by the ledger unless they are better: ways.go says which pods are taken off
// for pods that wait, recreate.go and room.go how pods get a place.
package repair
