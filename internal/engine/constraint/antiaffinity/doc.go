// Package antiaffinity describes pod anti-affinity as a kind of constraint; that of running pods
// counts too. Package workload reads the terms, and package topology and the ledger judge them.
package antiaffinity
