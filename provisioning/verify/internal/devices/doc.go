// Package devices reads the objects of dynamic resource allocation of an input: what the claims of
// a pod ask for, which devices are free on which nodes, and how many of a class there are. It
// reports a class as not countable if no matcher can evaluate its selectors or a device can be used
// by any number of claims.
package devices
