// Package spread is the kind of topology spread constraints. Package workload reads what
// they say, and package topology and the ledger judge them.
package spread
