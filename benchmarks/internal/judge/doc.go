// Package judge computes what a plan costs and a lower bound on the cost of any plan. It reads only
// the scenario and the plan, so that every contender is judged alike.
//
// The cost of a plan is the sum over its new nodes of the cheapest launch that each allows. The
// bound is a linear programme. It is the least cost of fractions of nodes whose resources cover the
// requests of the pods on new nodes, net of the daemons that run there. Only nodes count on which
// the pods may run. The programme ignores that pods are indivisible, spreading, affinity and ports,
// minValues, limits, and that reservations run out. The bound is therefore a lower bound, and at
// times a low one.
//
// The package does not check whether a plan breaks rules.
package judge
