// Package devices knows the objects of dynamic resource allocation of an input: what the claims
// of a pod ask for, which devices are free where, and how many of a class there are. What it
// cannot count, as nobody can evaluate a selector or a device is for as many as anybody likes,
// it says that it cannot.
package devices
