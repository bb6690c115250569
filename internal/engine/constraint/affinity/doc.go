// Package affinity is the kind of pod affinity. Package workload reads what it says, and
// package topology and the ledger judge it.
package affinity
