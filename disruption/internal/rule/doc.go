// Package rule names the rules that can keep a node from being disrupted, in the order in which
// they are checked.
//
// Input: none. Output: a [Rule], or an [Outcome] with its detail. Invariant: the order is total,
// and each rule has one Code of package disruption.
package rule
