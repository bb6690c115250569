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

// resourceValue is a resource as a value of the label resource_type.
func resourceValue(r corev1.ResourceName) string {
	return strings.ReplaceAll(strings.ToLower(string(r)), "-", "_")
}

// reasonValue is a reason in lower case, as metrics about decisions and budgets have it.
func reasonValue(r string) string { return strings.ToLower(r) }

// snake is a word such as GarbageCollected in snake case.
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

// allowance is how many nodes a budget admits, or the most that Karpenter writes.
func allowance(a budgets.Allowance) int {
	if a.Unlimited {
		return math.MaxInt32
	}
	return a.Nodes
}
