// Package exclusive lists what one pod takes of a node so that other pods cannot use it: host
// ports, and disks that pods name without a claim (kube-scheduler's filters NodePorts and
// VolumeRestrictions). Input: a pod. Output: the names of what it takes. Invariant: whether two of
// them clash does not depend on their order.
package exclusive
