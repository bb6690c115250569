// Package simcluster simulates a small Kubernetes in memory on a cloud of package fake. It has
// objects by name, and makes the changes that kubelets, kube-scheduler and the controllers of
// workloads make while time passes. A program that takes the part of an autoscaler reads and writes
// its objects.
//
// Nothing runs by itself: [Cluster.Advance] moves the time. The same calls give the same results,
// byte for byte. It is not safe for concurrent use.
package simcluster
