// Package ledger keeps the bins of a solution, nodes that exist and new ones, and the
// counts by which constraints between pods are judged there.
//
// Input: a compile.Problem and bins. Output: whether constraints between pods allow one more pod
// of a class on a bin. A new node is in one domain of each label for which a constraint counts
// its pods. A node of which the domain is not known counts in each that it may be in; then a
// pod is allowed only if the constraint holds in all of them. Adding a pod and taking it off
// leaves the counts as they were.
package ledger
