package traces_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/dovetail-sdk/dovetail/benchmarks/internal/life"
	"github.com/dovetail-sdk/dovetail/benchmarks/internal/traces"
	"github.com/dovetail-sdk/dovetail/internal/simcluster"
)

// idle launches nothing.
type idle struct{}

func (idle) Step(context.Context) error { return nil }

// TestTraces: each trace plays, its events happen in order, its pods come, and all of them have a plan from empty.
func TestTraces(t *testing.T) {
	for _, name := range traces.Names() {
		trace, err := traces.New(name, 1)
		require.NoError(t, err)
		require.True(t, slices.IsSortedFunc(trace.Events, func(a, b simcluster.Event) int { return int(a.After - b.After) }), name)
		for _, e := range trace.Events {
			require.Less(t, e.After, trace.Warmup+trace.Length, "%s: %s", name, e.Text)
		}
		trace.Warmup, trace.Length, trace.Events = 0, 2*time.Minute, nil
		f, err := life.Play(t.Context(), trace, func(life.Site) (life.Contender, error) { return idle{}, nil }, nil)
		require.NoError(t, err, name)
		require.NotZero(t, f.Pending, name)
		require.NotZero(t, f.FromEmpty, name)
		require.Zero(t, f.Bill, name)
	}
}

// TestUnknown names the traces that there are.
func TestUnknown(t *testing.T) {
	_, err := traces.New("year", 1)
	require.ErrorContains(t, err, "two-days")
}
