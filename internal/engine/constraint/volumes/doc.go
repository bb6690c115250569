// Package volumes describes, as a kind of constraint, what pods share through their volumes: disks
// named without a claim, which two pods of one node may not share, and claims, which require pods
// to be on the same node. Package volume reads both, and package workload knows which pods use
// them.
package volumes
