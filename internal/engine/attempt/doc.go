// Package attempt assigns the pods of a problem to domains, and makes what the packer
// is asked.
//
// Input: a compile.Problem and Hints, which are what was learnt from attempts before.
// Output: an Attempt: items to pack, and, given what was packed, how many pods of each part
// the constraints over domains let through, or an attempt made of better hints. Invariant:
// an attempt with the same hints is the same, and what the admitted counts let through
// keeps to all constraints over domains.
package attempt
