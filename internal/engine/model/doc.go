// Package model has the types that all phases of the engine share: the input, options, nodes that
// exist, reasons, faults, and the names of strategies and passes.
//
// Input: Kubernetes objects. Output: the same objects, sorted, with their faults listed. Invariant:
// no function here decides where a pod goes or writes to an object of the input.
package model
