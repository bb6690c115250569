// Package judge says what a plan costs and how little any plan could cost. It
// reads scenario and plan only, so that it judges every contender alike.
//
// The cost of a plan is the sum over its new nodes of the cheapest launch that
// each allows. The bound is a linear programme: what must be paid at least to
// cover what the pods on new nodes ask for, in fractions of nodes, of each
// resource, by nodes that the pods may run on, net of the daemons that run
// there too. It knows nothing of pods being whole, of spreading, affinity and
// ports, of minValues, limits and reservations running out; so it is a floor,
// at times a low one.
//
// Whether a plan keeps the rules is not judged here.
package judge
