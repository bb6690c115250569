// Package metrics has the metrics of a node autoscaler under the names and labels of
// Karpenter v1.15, so that dashboards and alerts which were made for that keep working.
//
// It is data and arithmetic, and uses no metrics library: [All] lists the metrics, and each
// function makes [Sample] values from a decision or from the state of the cluster. A program
// registers a collector of its library for each [Metric], and passes it the samples:
//
//	Counter              add Value
//	Gauge                set to Value; drop the series that the call did not return
//	Histogram, Summary   observe Value
//
// Gauges come from [Fleet.Samples], [Offerings], [Scheduled] and [Proposed], each of which returns
// all series of its metrics; remove series that are missing. If a plan or proposal failed they
// return no gauges, and the last ones stay. All others count events: a decision was begun, a
// machine was launched, a pod was evicted.
//
// # Conventions
//
// Durations are in seconds, memory is in bytes, cores are a number, prices are USD per hour. Values
// of the label reason are in snake case, as in Karpenter, except that metrics about budgets have
// them in lower case. A label without a value is empty.
//
// # Left out
//
// Metrics of Karpenter's internals (the age of its cluster state, timeouts of its consolidation
// methods), and metrics of controller-runtime, which serves them itself. docs/metrics.md has the
// table.
//
// All functions are pure and safe for concurrent use; they do not modify their arguments, and the
// caller owns the slices that they return. Their time is proportional to the size of the input.
package metrics
