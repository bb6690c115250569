// Package compile makes the Problem: pods in classes, options with their capacities,
// the room of nodes, constraints between pods as rules, where each class may go.
//
// Input: model.Input, pods that stand for room to keep, and model.Options. Output: a
// Problem, or faults, all of them. Invariant: once it is made, a Problem is only read, and
// may be solved by several goroutines at once; all that changes is its Cache, in which what is
// worked out when first asked for is kept under locks, and which changes no answer. NewProblem states the order in which
// the parts are compiled.
package compile
