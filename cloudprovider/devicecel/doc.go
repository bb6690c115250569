// Package devicecel evaluates the selectors of dynamic resource allocation, the
// CEL expressions of DeviceClasses and ResourceClaims, with the code that
// kube-scheduler uses.
//
// It is a package of its own as the interpreter is large: programs that have no
// devices to select need not build it. A Matcher is all that the engine wants
// to know of it:
//
//	input.Devices.Matcher = devicecel.New()
//
// # Guarantees
//
// An expression is compiled once and kept, up to a bounded number of
// expressions; what is kept makes no difference to an answer. The length and
// the cost of an expression are limited as Kubernetes limits them, so that a
// selector which an API server would not take, or which kube-scheduler would
// give up on, is an error. A Matcher is safe for concurrent use and changes
// nothing that it is given.
package devicecel
