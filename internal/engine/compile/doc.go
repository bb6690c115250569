// Package compile makes the Problem: pods in classes, options with their capacities, the room of
// nodes, constraints between pods as rules, and where each class may go.
//
// Input: model.Input, headroom pods, and model.Options. Output: a Problem, or all faults.
// Invariant: once made, a Problem is read-only, and several goroutines may solve it at once. Only
// its Cache changes, which is locked and changes no result. NewProblem defines the order in which
// the parts are compiled.
package compile
