// Package flow assigns things to places of limited room so that the total gain is highest: a
// weighted b-matching between rows, which are kinds of things with a supply of each, and columns,
// which are places with a room of each.
//
// It knows nothing of nodes or reservations. Gains are converted to integers once, so that sums are
// exact: the search cannot cycle and does not depend on the order of additions.
package flow
