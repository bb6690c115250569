// Package minors lists the differences between the supported minor versions of Kubernetes that
// decide whether a pod may run on a node.
//
// It holds facts only: table.go has a row for each difference, with its source. The engine and its
// referee implement the meaning of each row separately.
package minors
