// Package static compares NodePools with a fixed number of nodes with the nodes that they have.
//
// Input: pools of package catalog, and nodes. Output: the nodes to launch and the nodes to remove,
// for each pool. Invariant: the result depends on no pending pod, and the result of a pool on no
// other pool.
package static
