// Package corpus keeps fingerprints of answers in files under testdata, for tests: a
// line for each problem, with a hash of the whole answer, its cost, what is left over
// and the steps it took. They are the net under every change of the engine that is not
// meant to change its answers, and a list of what changed under one that is.
//
// make plans writes the files, make plans-check compares all lines, and go test
// compares a part of them. Both show what was and what is, line by line. A test package that
// imports it has the flag -plans.
//
// # Guarantees
//
// Equal answers have equal lines, whatever the order of maps. An answer is everything
// in it that is exported, other fields left out. Objects of Kubernetes and Karpenter are named and not spelled
// out, as they are those of the input; so are instance types.
//
// # Left out
//
// Floating-point sums may differ in the last digit from one processor to another, so
// that lines are compared on amd64 only.
package corpus
