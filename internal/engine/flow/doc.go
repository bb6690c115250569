// Package flow assigns things to places with room for a limited number of them,
// so that as much as possible is gained: a weighted b-matching between rows
// (kinds of things, of each so many) and columns (places, each with so much
// room).
//
// It knows nothing of nodes or reservations. Gains are turned into integers
// once, so that sums of them are exact: the search can neither go round in
// circles nor depend on the order of additions.
package flow
