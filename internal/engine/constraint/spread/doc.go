// Package spread describes topology spread constraints as a kind of constraint. Package workload
// reads the constraints, and package topology and the ledger judge them.
package spread
