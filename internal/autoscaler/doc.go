// Package autoscaler is a whole node autoscaler for a simulated cluster: the loop around the
// decisions of the library, in the order of a node's life.
//
// examples/autoscaler plays it for two days and tells the story; benchmarks/day measures it.
// Nothing runs by itself: each call of [Autoscaler.Step] is one turn of the loop, at the time of
// the cluster. The same calls give the same course of things.
package autoscaler
