// Package contradiction finds objects of an input that contradict each other.
//
// They are faults of the input and not of a plan for it: the right plan depends on which of the
// objects is correct. provisioning.Prepare refuses such an input.
package contradiction
