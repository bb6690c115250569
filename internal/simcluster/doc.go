// Package simcluster is a small Kubernetes in memory on a cloud of package fake: objects
// by name, and what kubelets, kube-scheduler and the controllers of workloads do to them
// while time passes. A program that plays an autoscaler reads and writes its objects.
//
// Nothing runs by itself: [Cluster.Advance] moves the time. The same calls give the same
// course of things, byte for byte. It is not safe for concurrent use.
package simcluster
