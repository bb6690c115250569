// Package metrics has the metrics of a node autoscaler under the names and labels of
// Karpenter v1.15, so that dashboards and alerts which were made for that keep working.
//
// It is data and arithmetic, and knows no metrics library: [All] lists what there is,
// and each function makes [Sample] values of a decision or of what stands in the
// cluster. A program registers a collector for each [Metric] of its library, and hands
// it the samples:
//
//	Counter              add Value
//	Gauge                set to Value; drop the series that the call did not give
//	Histogram, Summary   observe Value
//
// Gauges come from [Fleet.Samples], [Offerings], [Scheduled] and [Proposed], each of
// which gives all series of its metrics, so one that is not among them is over; where a
// plan or proposal failed they give no gauge, and the last ones stay. All others are
// counted when something has happened: a decision was begun, a machine was launched, a
// pod was evicted.
//
// # Conventions
//
// Durations are in seconds, memory is in bytes, cores are a number, prices are USD per
// hour. Values of the label reason are in snake case, as Karpenter writes them, but of
// the metrics about budgets in lower case. A label for which there is nothing is empty.
//
// # Left out
//
// What is about the inside of Karpenter and has no meaning here (the age of its cluster
// state, timeouts of its consolidation methods), and metrics of controller-runtime,
// which that serves itself. docs/metrics.md has the table.
//
// All functions are pure and safe for concurrent use; they change nothing they are given,
// and the slices that they return are the caller's. They take time in proportion to what
// they are given.
package metrics
