// Package deletioncost numbers nodes in the order in which their pods are to be ended.
//
// Input: the numbers that nodes have, in the order in which they are to go. Output: numbers that
// ascend. Invariant: as many keep theirs as possible, and all are below zero.
package deletioncost
