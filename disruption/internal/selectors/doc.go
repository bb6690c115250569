// Package selectors finds those of many label selectors that may select a pod,
// without asking all of them.
package selectors
