// Package static says how pools with a fixed number of nodes stand.
//
// Input: pools of package catalog, and nodes. Output: what to launch and what to remove,
// pool by pool. Invariant: no pod to be placed is looked at, and no pool has any say in
// another.
package static
