// Package kinds lists the kinds of constraints between pods and calls all of them.
//
// Input: a pod. Output: its constraints of each kind. Invariant: a kind is identified by its index
// in the list. The order matters in one case only: where two kinds exclude a pod, the reason names
// the first.
package kinds
