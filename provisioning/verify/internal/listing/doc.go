// Package listing checks the order of the lists of a plan. Its input is the plan and the price of
// each new node; its output are the entries that stand in the wrong place. It holds that two plans
// with the same content are the same, entry by entry.
package listing
