// Package exclusive knows what of a node one pod keeps from the others: host ports, and
// disks that pods name without a claim (kube-scheduler's filters NodePorts and
// VolumeRestrictions). Its input is a pod, its output what the pod takes by name; it holds
// that whether two of them clash does not depend on which is asked.
package exclusive
