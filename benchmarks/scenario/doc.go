// Package scenario has the two documents that contenders of the benchmarks
// exchange: a Scenario, which is a problem, and a Plan, which is an answer.
//
// A Scenario is everything that decides which nodes to launch: node pools, a catalog of instance
// types with prices, existing nodes with their pods, pending pods, and storage. A Plan has the
// nodes to launch, each with the instance types that it may become, the pods bound to existing
// nodes, the pods left pending, and the time and memory that solving took. Both are JSON,
// compressed by gzip in files whose name ends in ".gz".
//
// The package depends on no planner, so that every contender reads the same bytes and is judged by
// the same fields.
//
// # What is left out
//
// Resource claims (DRA), node overlays, buffers and Services are left out: no family of scenarios
// has them.
//
// # Guarantees
//
// Writing is deterministic: the same value gives the same bytes, compressed or not. Reading reports
// all faults of a document at once and does not panic, whatever the bytes. Unknown fields are
// ignored, because Kubernetes objects of other versions may have some.
package scenario
