// Package minors knows in what the minor versions of Kubernetes that are supported differ for
// those who judge whether a pod may go on a node.
//
// It holds facts only: table.go has a row for each difference, with its source. What a row
// means for a pod and a node is read by those who ask, the engine and its referee each in
// code of their own.
package minors
