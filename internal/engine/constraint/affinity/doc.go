// Package affinity describes pod affinity as a kind of constraint. Package workload reads the
// terms, and package topology and the ledger judge them.
package affinity
