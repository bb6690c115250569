// Package rule names everything that can keep a node from being disrupted, in the order in
// which it is looked at.
//
// Input: none. Output: a [Rule], or an [Outcome] with its detail. Invariant: the order is
// total, and each rule has one Code of package disruption.
package rule
