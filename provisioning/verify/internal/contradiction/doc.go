// Package contradiction finds objects of an input that contradict each other.
//
// They are faults of the input and not of a plan for it: what the plan comes to depends on which of
// the objects is believed. provisioning.Prepare refuses each of them.
package contradiction
