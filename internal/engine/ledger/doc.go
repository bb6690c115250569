// Package ledger keeps the bins of a solution, existing nodes and new ones, and the counts by which
// constraints between pods are checked there.
//
// Input: a compile.Problem and bins. Output: whether constraints between pods allow one more pod of
// a class on a bin. A new node is in one domain of each label for which a constraint counts its
// pods. A node whose domain is not known counts in each domain in which it may be; a pod is then
// allowed only if the constraint holds in all of them. Adding a pod and removing it leaves the
// counts unchanged.
package ledger
