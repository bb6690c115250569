// Package traces has the traces that benchmarks/day plays.
package traces

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/dovetail-sdk/dovetail/benchmarks/internal/life"
	"github.com/dovetail-sdk/dovetail/internal/twodays"
)

var all = map[string]func(seed uint64) (*life.Trace, error){
	"two-days":   twoDays,
	"churn":      churn,
	"scale-down": scaleDown,
	"nights":     nights,
	"week":       week,
	"hour":       hour,
}

// Names lists the traces, sorted.
func Names() []string { return slices.Sorted(maps.Keys(all)) }

// New makes a trace. The same name and seed make the same trace.
func New(name string, seed uint64) (*life.Trace, error) {
	make, ok := all[name]
	if !ok {
		return nil, fmt.Errorf("there is no trace %q: choose one of %q", name, Names())
	}
	t, err := make(seed)
	if err != nil {
		return nil, fmt.Errorf("trace %s: %w", name, err)
	}
	t.Name = name
	return t, nil
}

// twoDays returns the trace of examples/autoscaler.
func twoDays(seed uint64) (*life.Trace, error) {
	cloud, err := twodays.Cloud(seed)
	if err != nil {
		return nil, err
	}
	pools, err := twodays.Pools()
	if err != nil {
		return nil, err
	}
	return &life.Trace{
		Length: 48 * time.Hour, Sample: 5 * time.Minute,
		Cloud: cloud, Provider: twodays.Provider(cloud), Pools: pools,
		Daemon: twodays.Daemon(), Workloads: twodays.Workloads(seed), Events: twodays.Events(),
	}, nil
}

// hour returns the first hour of the two days, for tests.
func hour(seed uint64) (*life.Trace, error) {
	t, err := twoDays(seed)
	if err == nil {
		t.Length, t.Events = time.Hour, nil // all events come later
	}
	return t, err
}
