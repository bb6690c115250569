// Package repair improves solutions that are being made: it places unplaced pods one by one, and
// then searches for a better plan by taking pods off some nodes and placing them anew.
//
// Input: a State, in which the packing of an attempt has assigned pods to nodes, and the order in
// which these pods are to be bound. Output: the same State, and an order. Invariant: after each
// pass listed in passes.go the pods with a place can be bound one by one, in the order that the
// pass returns, by the checks of kube-scheduler. Done holds what one pass has to tell later ones.
//
// Read first: passes; State; placer, which decides where one more pod may go; search, whose trials
// the ledger undoes unless they improve the plan. ways.go lists the pods to take off for pending
// pods; recreate.go and room.go find places for pods.
package repair
