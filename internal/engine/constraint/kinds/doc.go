// Package kinds lists the kinds of constraints between pods, and asks all of them.
//
// Input: a pod. Output: what it has of each kind. Invariant: here a kind is a number, its
// place in the list; nothing depends on their order but which of two is named where both
// are in the way: the first.
package kinds
