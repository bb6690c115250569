// Package scenario has the two documents that contenders of the benchmarks
// exchange: a Scenario, which is a problem, and a Plan, which is an answer.
//
// A Scenario is everything that decides which nodes to launch: node pools, a
// catalog of instance types with prices, nodes that exist with their pods, pods
// that are pending, and storage. A Plan is nodes to launch, each with the
// instance types that it may become, pods bound to nodes that exist, pods left
// pending, and what it took to find out. Both are JSON, compressed by gzip in
// files whose name ends in ".gz".
//
// The package knows of no planner, so that every contender reads the same
// bytes and is judged by the same fields.
//
// # What is left out
//
// There are no resource claims (DRA), node overlays, buffers or Services: no
// family of scenarios has them.
//
// # Guarantees
//
// Writing is deterministic: the same value gives the same bytes, compressed or
// not. Reading reports all faults of a document at once and does not panic,
// whatever the bytes. Fields that the types do not know are ignored, as
// Kubernetes objects of other versions may have some.
package scenario
