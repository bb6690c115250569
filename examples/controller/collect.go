package main

import (
	"errors"
	"sync"

	"github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/dovetail-sdk/dovetail/metrics"
)

// collectors export the metrics of package metrics to Prometheus. Gauges are stored by their
// source: each new set of gauges from a source replaces the set before.
type collectors struct {
	lock   sync.Mutex
	gauges map[string][]metrics.Sample
	descs  map[string]*prometheus.Desc
	add    map[string]func(labels []string, value float64) // of counters, histograms and summaries
}

func newCollectors(registry prometheus.Registerer) (*collectors, error) {
	c := &collectors{gauges: map[string][]metrics.Sample{}, descs: map[string]*prometheus.Desc{}, add: map[string]func([]string, float64){}}
	errs := []error{registry.Register(c)}
	for _, m := range metrics.All() {
		switch m.Kind {
		case metrics.Gauge:
			c.descs[m.Name] = prometheus.NewDesc(m.Name, m.Help, m.Labels, nil)
		case metrics.Counter:
			vec := prometheus.NewCounterVec(prometheus.CounterOpts{Name: m.Name, Help: m.Help}, m.Labels)
			c.add[m.Name] = func(labels []string, value float64) { vec.WithLabelValues(labels...).Add(value) }
			errs = append(errs, registry.Register(vec))
		case metrics.Histogram:
			vec := prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: m.Name, Help: m.Help, Buckets: m.Buckets}, m.Labels)
			c.add[m.Name] = func(labels []string, value float64) { vec.WithLabelValues(labels...).Observe(value) }
			errs = append(errs, registry.Register(vec))
		case metrics.Summary:
			vec := prometheus.NewSummaryVec(prometheus.SummaryOpts{Name: m.Name, Help: m.Help, Objectives: map[float64]float64{0: 0.01, 0.5: 0.01, 0.9: 0.01, 0.99: 0.01, 1: 0.01}}, m.Labels)
			c.add[m.Name] = func(labels []string, value float64) { vec.WithLabelValues(labels...).Observe(value) }
			errs = append(errs, registry.Register(vec))
		}
	}
	return c, errors.Join(errs...)
}

// Describe sends nothing, so that the set of series may change.
func (c *collectors) Describe(chan<- *prometheus.Desc) {}

// Collect sends the gauges.
func (c *collectors) Collect(out chan<- prometheus.Metric) {
	c.lock.Lock()
	defer c.lock.Unlock()
	for _, list := range c.gauges {
		for _, s := range list {
			out <- prometheus.MustNewConstMetric(c.descs[s.Name], prometheus.GaugeValue, s.Value, s.Labels...)
		}
	}
}

// take adds counters, observes histograms, and replaces the gauges of the source.
func (c *collectors) take(source string, samples []metrics.Sample) {
	var gauges []metrics.Sample
	for _, s := range samples {
		if add := c.add[s.Name]; add != nil {
			add(s.Labels, s.Value)
		} else {
			gauges = append(gauges, s)
		}
	}
	if len(gauges) > 0 {
		c.lock.Lock()
		defer c.lock.Unlock()
		c.gauges[source] = gauges
	}
}

// watchStarts measures how long pods take to be bound and ready. Pods that are older than this
// process are left out, because it is unknown how long they were pending.
func (a *autoscaler) watchStarts(s *snapshot) {
	seen := make(map[types.UID]*corev1.Pod, len(s.Pods))
	for _, p := range s.Pods {
		seen[p.UID] = p
		if before := a.pods[p.UID]; a.pods != nil && before != p {
			a.figures.take("pods", metrics.PodChanged(before, p))
		}
	}
	a.pods = seen
}
