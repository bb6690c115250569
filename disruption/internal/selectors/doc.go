// Package selectors is an index of label selectors. It finds the selectors that may select a pod
// without evaluating all of them.
package selectors
