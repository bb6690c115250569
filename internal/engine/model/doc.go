// Package model has what all phases of the engine speak of: the input and the options
// as they read them, nodes that exist, reasons, faults and the names of strategies and
// passes.
//
// Input: Kubernetes objects. Output: the same, sorted, with their faults listed. Invariant:
// nothing here decides where a pod goes; an object of the input is never written to.
package model
