// Package ledger keeps the bins of a solution, nodes that exist and new ones, and the
// counts by which constraints between pods are judged there.
//
// Input: a compile.Problem and bins. Output: whether one more pod of a class may come to a
// bin, given where everybody is. Invariant: a new node may turn out to be in several
// domains; counts are the least and the most that may be in each, and a pod is let in only
// if the constraint holds whichever it turns out to be. Adding a pod and taking it off
// leaves the counts as they were.
package ledger
