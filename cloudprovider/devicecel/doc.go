// Package devicecel evaluates the selectors of dynamic resource allocation, the
// CEL expressions of DeviceClasses and ResourceClaims, with the code that
// kube-scheduler uses.
//
// It is a separate package because the interpreter is large: programs without devices need not
// build it. The engine uses it through a Matcher:
//
//	input.Devices.Matcher = devicecel.New()
//
// # Guarantees
//
// An expression is compiled once and kept, up to a bounded number of expressions; the cache does
// not affect answers. The length and the cost of an expression are limited as in Kubernetes: a
// selector that the API server would refuse, or whose evaluation kube-scheduler would stop, is an
// error. A Matcher is safe for concurrent use and does not modify its arguments.
package devicecel
