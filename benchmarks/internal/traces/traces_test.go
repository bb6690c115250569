package traces_test

import (
	"context"
	"slices"
	"strings"
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

const podList = `name,cpu_milli,memory_mib,num_gpu,gpu_spec,creation_time,deletion_time
early,1000,1024,0,,100,300
web,4000,15258,1,,900,4000
train,16000,32768,2,V100M16,1500,2400
endless,500,1024,0,,2000,
late,500,1024,0,,9000,9100
`

// TestFromPods takes the pods of a window, each for as long as it is in there.
func TestFromPods(t *testing.T) {
	trace, err := traces.FromPods(strings.NewReader(podList), 1000, 30*time.Minute, 1)
	require.NoError(t, err)
	tasks := trace.Workloads[0].Tasks
	require.Len(t, tasks, 3)
	require.Equal(t, "web", tasks[0].Name)
	require.Equal(t, 50*time.Minute, tasks[0].Runs, "3000 of its 3100 seconds are left")
	require.Equal(t, 500*time.Second, tasks[1].At.Sub(tasks[0].At))
	require.Equal(t, 15*time.Minute, tasks[1].Runs)
	require.Zero(t, tasks[2].Runs, "it is never deleted")
	f, err := life.Play(t.Context(), trace, func(life.Site) (life.Contender, error) { return idle{}, nil }, nil)
	require.NoError(t, err)
	require.Equal(t, 3, f.Pending)
	require.NotZero(t, f.FromEmpty, "there is a node for each GPU")
	_, err = traces.FromPods(strings.NewReader(podList), 100000, time.Minute, 1)
	require.NoError(t, err, "endless is there still")
	_, err = traces.FromPods(strings.NewReader("name,cpu_milli,memory_mib,creation_time,deletion_time\na,1,1,5,6\n"), 100, time.Minute, 1)
	require.ErrorContains(t, err, "the first comes at 5")
}
