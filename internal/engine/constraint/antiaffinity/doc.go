// Package antiaffinity is the kind of pod anti-affinity, which pods that run have as well.
// Package workload reads what it says, and package topology and the ledger judge it.
package antiaffinity
