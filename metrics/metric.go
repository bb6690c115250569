package metrics

import (
	"slices"
	"sort"
)

// Kind is how samples of a metric add up.
type Kind string

// The kinds, as Prometheus has them.
const (
	Counter   Kind = "counter"
	Gauge     Kind = "gauge"
	Histogram Kind = "histogram"
	Summary   Kind = "summary"
)

// Metric is what a collector has to know of a metric.
type Metric struct {
	// Name is the whole name, such as karpenter_nodes_allocatable.
	Name string
	// Help says what it is, in a sentence without a full stop.
	Help string
	Kind Kind
	// Unit is that of the values: seconds, bytes, cores, USD per hour, percent, or
	// empty for a number of things. Of amounts by resource_type it is that of the
	// resource: cores for cpu, bytes for memory and storage.
	Unit string
	// Labels are the names of its labels, in the order of Sample.Labels.
	Labels []string
	// Buckets are the upper bounds of a histogram, in ascending order.
	Buckets []float64
}

// Sample is a value of a metric.
type Sample struct {
	// Name is that of the metric.
	Name string
	// Labels are the values of its labels, in the order of Metric.Labels. Do not write to
	// them: samples of one call may share them.
	Labels []string
	// Value is in the unit of the metric.
	Value float64
}

// All are the metrics, by name. The caller owns the result.
func All() []Metric {
	out := make([]Metric, len(table))
	for i, m := range table {
		m.Labels, m.Buckets = slices.Clone(m.Labels), nil
		if m.Kind == Histogram {
			m.Buckets = durations()
		}
		out[i] = m
	}
	sort.Slice(out, func(i, j int) bool { return out[i].Name < out[j].Name })
	return out
}

// durations are upper bounds in seconds, close below a second and up to ten minutes.
func durations() []float64 {
	return []float64{0.005, 0.01, 0.025, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.6, 0.7, 0.8, 0.9, 1,
		1.25, 1.5, 1.75, 2, 2.5, 3, 3.5, 4, 4.5, 5, 6, 7, 8, 9, 10, 15, 20, 25, 30, 40, 50, 60, 120, 150, 300, 450, 600}
}
