// Package attempt assigns the pods of a problem to domains and makes the problem for the packer.
//
// Input: a compile.Problem and Hints from earlier attempts. Output: an Attempt, with the items to
// pack; and, given a packing, how many pods of each part (the pods of a class that go to one
// cell, or to any) the constraints over domains admit, or another attempt with better hints.
// Invariant: attempts with the same hints are equal, and the admitted counts satisfy all
// constraints over domains.
package attempt
