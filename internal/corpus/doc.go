// Package corpus stores fingerprints of answers in files under testdata, for tests: a line for each
// problem, with a hash of the whole answer, its cost, the unplaced pods and the steps. The files
// detect unintended changes of answers by the engine, and list the intended ones.
//
// make plans writes the files, make plans-check compares all lines, and go test compares a part of
// them. Both print the old and the new version of each changed line. A test package that imports
// this package has the flag -plans.
//
// # Guarantees
//
// Equal answers have equal lines, whatever the order of maps. An answer is all its exported fields.
// Of objects of Kubernetes and Karpenter, and of instance types, only the names count, because they
// are part of the input.
//
// # Left out
//
// Floating-point sums may differ in the last digit between processors, so lines are compared on
// amd64 only.
package corpus
