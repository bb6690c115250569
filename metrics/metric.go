package metrics

import (
	"maps"
	"math"
	"slices"
	"sort"
	"strings"
	"unicode"

	corev1 "k8s.io/api/core/v1"

	"github.com/dovetail-sdk/dovetail/budgets"
)

// Kind is the type of a metric.
type Kind string

// The types of Prometheus.
const (
	Counter   Kind = "counter"
	Gauge     Kind = "gauge"
	Histogram Kind = "histogram"
	Summary   Kind = "summary"
)

// Metric has everything that a collector needs to register a metric.
type Metric struct {
	// Name is the full name, such as karpenter_nodes_allocatable.
	Name string
	// Help describes the metric in a sentence without a full stop.
	Help string
	Kind Kind
	// Unit is the unit of the values: seconds, bytes, cores, USD per hour, percent, or empty for a
	// count. Metrics with the label resource_type have the unit of the resource: cores for cpu,
	// bytes for memory and storage.
	Unit string
	// Labels are the names of its labels, in the order of Sample.Labels.
	Labels []string
	// Buckets are the upper bounds of a histogram, in ascending order.
	Buckets []float64
}

// Sample is a value of a metric.
type Sample struct {
	// Name is the name of the metric.
	Name string
	// Labels are the values of its labels, in the order of Metric.Labels. Do not write to
	// them: samples of one call may share them.
	Labels []string
	// Value is in the unit of the metric.
	Value float64
}

// All returns the metrics, sorted by name. The caller owns the result.
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

// durations returns upper bounds in seconds, narrow below a second and up to ten minutes.
func durations() []float64 {
	return []float64{0.005, 0.01, 0.025, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.6, 0.7, 0.8, 0.9, 1,
		1.25, 1.5, 1.75, 2, 2.5, 3, 3.5, 4, 4.5, 5, 6, 7, 8, 9, 10, 15, 20, 25, 30, 40, 50, 60, 120, 150, 300, 450, 600}
}

// amounts are amounts of resources, as numbers.
type amounts map[corev1.ResourceName]float64

func (a amounts) add(l corev1.ResourceList) {
	for name, q := range l {
		a[name] += q.AsApproximateFloat64()
	}
}

func (a amounts) merge(b amounts) {
	for name, amount := range b {
		a[name] += amount
	}
}

func (a amounts) names() []corev1.ResourceName { return slices.Sorted(maps.Keys(a)) }

// resourceValue returns a resource as a value of the label resource_type.
func resourceValue(r corev1.ResourceName) string {
	return strings.ReplaceAll(strings.ToLower(string(r)), "-", "_")
}

// reasonValue returns a reason in lower case, for metrics about decisions and budgets.
func reasonValue(r string) string { return strings.ToLower(r) }

// snake returns a word such as GarbageCollected in snake case.
func snake(word string) string {
	var b strings.Builder
	for i, r := range word {
		if unicode.IsUpper(r) && i > 0 {
			b.WriteByte('_')
		}
		b.WriteRune(unicode.ToLower(r))
	}
	return b.String()
}

// allowance returns how many nodes a budget allows, at most Karpenter's maximum.
func allowance(a budgets.Allowance) int {
	if a.Unlimited {
		return math.MaxInt32
	}
	return a.Nodes
}
