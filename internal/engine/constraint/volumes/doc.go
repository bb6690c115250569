// Package volumes is the kind of what pods have in common by their volumes: disks that are
// named without a claim, which pods of one node may not share, and claims, by which pods
// must go together. Package volume reads them and package workload knows who uses them.
package volumes
