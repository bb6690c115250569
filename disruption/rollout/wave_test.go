package rollout_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/budgets"
	"github.com/dovetail-sdk/dovetail/disruption/rollout"
)

var start = time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)

// nodesOf are nodes a0, a1, ... of a pool, the oldest first.
func nodesOf(pool string, n int) (out []rollout.Node) {
	for i := range n {
		out = append(out, rollout.Node{Name: fmt.Sprint(pool, i), NodePool: pool,
			Created: start.Add(time.Duration(i-1000) * time.Hour), Reason: "test"})
	}
	return out
}

func sizes(waves []rollout.Wave) (out []int) {
	for _, w := range waves {
		out = append(out, len(w.Nodes))
	}
	return out
}

func TestWaves(t *testing.T) {
	for _, c := range []struct {
		nodes int
		opts  *rollout.Options
		want  []int
	}{
		{0, nil, nil},
		{1, nil, []int{1}},
		{10, nil, []int{1, 2, 4, 3}},
		{15, nil, []int{1, 2, 4, 8}},
		{10, &rollout.Options{Canary: 3}, []int{3, 6, 1}},
		{10, &rollout.Options{Canary: 20}, []int{10}},
		{10, &rollout.Options{MaxWave: 3}, []int{1, 2, 3, 3, 1}},
		{10, &rollout.Options{Canary: 5, MaxWave: 3}, []int{3, 3, 3, 1}},
		{4, &rollout.Options{Growth: 1}, []int{1, 1, 1, 1}},
		{100, &rollout.Options{Growth: 1 << 62}, []int{1, 99}},
	} {
		waves, err := rollout.Waves(nodesOf("a", c.nodes), c.opts)
		require.NoError(t, err)
		require.Equal(t, c.want, sizes(waves), "%d %+v", c.nodes, c.opts)
	}
}

func TestWavesOrder(t *testing.T) {
	at := func(h int) time.Time { return start.Add(time.Duration(h) * time.Hour) }
	nodes := []rollout.Node{
		{Name: "z", NodePool: "b"},
		{Name: "late", NodePool: "a", Drifted: at(2), Created: at(-9)},
		{Name: "young", NodePool: "a", Drifted: at(1), Created: at(-1)},
		{Name: "twin-b", NodePool: "a", Drifted: at(1), Created: at(-2)},
		{Name: "twin-a", NodePool: "a", Drifted: at(1), Created: at(-2)},
		{Name: "unknown", NodePool: "a", Created: at(0)},
	}
	waves, err := rollout.Waves(nodes, &rollout.Options{Canary: 2})
	require.NoError(t, err)
	require.Equal(t, []rollout.Wave{
		{NodePool: "a", Number: 1, Nodes: []string{"unknown", "twin-a"}},
		{NodePool: "a", Number: 2, Nodes: []string{"twin-b", "young", "late"}},
		{NodePool: "b", Number: 1, Nodes: []string{"z"}}}, waves)
	slices.Reverse(nodes)
	again, err := rollout.Waves(nodes, &rollout.Options{Canary: 2})
	require.NoError(t, err)
	require.Equal(t, waves, again)
}

func TestFaults(t *testing.T) {
	bad := []rollout.Node{{Name: "a", NodePool: "p"}, {Name: "a", NodePool: "p"}, {}}
	opts := rollout.Options{Canary: -1, Growth: -2, MaxWave: -3, Soak: -1}
	_, err := rollout.Waves(bad, &opts)
	both := []string{"options.canary", "options.growth", "options.maxWave", "options.soak"}
	for _, want := range append(both, "nodes[1].name", "nodes[2].name", "nodes[2].nodePool") {
		require.ErrorContains(t, err, want)
	}
	_, err = rollout.Preview(start, bad, &rollout.PreviewOptions{Waves: opts, Replacement: -1, Horizon: -1})
	for _, want := range append(both, "options.replacement", "options.horizon", "nodes[1].name") {
		require.ErrorContains(t, err, want)
	}
}

func TestPreview(t *testing.T) {
	opts := &rollout.PreviewOptions{
		Waves:       rollout.Options{Soak: 30 * time.Minute},
		Replacement: 10 * time.Minute,
		Pace: func(pool string, _ time.Time, disrupting int) (int, time.Time) {
			if pool == "a" {
				return 3 - disrupting, time.Time{}
			}
			return 100, time.Time{}
		},
	}
	r, err := rollout.Preview(start, append(nodesOf("b", 1), nodesOf("a", 7)...), opts)
	require.NoError(t, err)
	var lines []string
	for _, m := range r.Moves {
		lines = append(lines, fmt.Sprintf("%s wave %d %s-%s", m.Node, m.Wave, m.Start.Sub(start), m.End.Sub(start)))
	}
	require.Equal(t, []string{"a0 wave 1 0s-10m0s", "b0 wave 1 0s-10m0s", "a1 wave 2 40m0s-50m0s", "a2 wave 2 40m0s-50m0s",
		"a3 wave 3 1h20m0s-1h30m0s", "a4 wave 3 1h20m0s-1h30m0s", "a5 wave 3 1h20m0s-1h30m0s", "a6 wave 3 1h30m0s-1h40m0s"}, lines)
	require.True(t, r.Complete)
	require.Equal(t, start.Add(100*time.Minute), r.Finish)
}

// A window of a budget opens and closes in the middle of a rollout.
func TestPreviewBudgets(t *testing.T) {
	schedule, hours := "0 10 * * *", &metav1.Duration{Duration: 23 * time.Hour}
	compiled, err := budgets.Compile([]v1.Budget{{Nodes: "2"}, {Nodes: "0", Schedule: &schedule, Duration: hours}}, nil)
	require.NoError(t, err)
	pace := rollout.BudgetPace(map[string]*budgets.Compiled{"a": compiled}, map[string]budgets.Counts{"a": {Nodes: 10}}, budgets.Drifted)
	r, err := rollout.Preview(start, nodesOf("a", 7), &rollout.PreviewOptions{Replacement: 25 * time.Minute, Pace: pace})
	require.NoError(t, err)
	var starts []string
	for _, m := range r.Moves {
		starts = append(starts, m.Node+" "+m.Start.Format("2 15:04"))
	}
	// Nine to ten is all there is of each day.
	require.Equal(t, []string{"a0 2 09:00", "a1 2 09:25", "a2 2 09:25", "a3 2 09:50", "a4 2 09:50", "a5 3 09:00", "a6 3 09:00"}, starts)

	more, until := pace("unknown", start, 5)
	require.Positive(t, more)
	require.Zero(t, until)
}

func TestPreviewNeverDone(t *testing.T) {
	for name, pace := range map[string]rollout.Pace{
		"never":   func(string, time.Time, int) (int, time.Time) { return 0, time.Time{} },
		"by inch": func(_ string, at time.Time, _ int) (int, time.Time) { return -1, at.Add(1) },
		"back":    func(_ string, at time.Time, _ int) (int, time.Time) { return 0, at.Add(-time.Hour) },
		"one":     func(_ string, _ time.Time, d int) (int, time.Time) { return 1 - d, time.Time{} },
	} {
		r, err := rollout.Preview(start, nodesOf("a", 3), &rollout.PreviewOptions{Pace: pace, Replacement: time.Hour, Horizon: 90 * time.Minute})
		require.NoError(t, err, name)
		require.False(t, r.Complete, name)
		require.Zero(t, r.Finish, name)
		require.Len(t, r.Moves, 3)
		require.Zero(t, r.Moves[2].Start)
	}
}

// Replacements that take no time, in waves without soak, are all done at once.
func TestPreviewAtOnce(t *testing.T) {
	one := func(string, time.Time, int) (int, time.Time) { return 1, time.Time{} }
	r, err := rollout.Preview(start, nodesOf("a", 20), &rollout.PreviewOptions{Pace: one})
	require.NoError(t, err)
	require.Equal(t, start, r.Finish)
	require.True(t, r.Complete)
	for _, m := range r.Moves {
		require.Equal(t, [2]time.Time{start, start}, [2]time.Time{m.Start, m.End})
	}
	r, err = rollout.Preview(start, nil, nil)
	require.NoError(t, err)
	require.Equal(t, rollout.Rollout{Complete: true}, r)
}

// At no time do more nodes of a pool go than the pace says, nor nodes of two
// waves; and the order of the nodes given has no meaning.
func TestPreviewLaws(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	for range 300 {
		most := 1 + rng.IntN(4)
		open := time.Duration(1+rng.IntN(5)) * time.Hour
		pace := func(_ string, at time.Time, disrupting int) (int, time.Time) {
			since := at.Sub(start)
			window := since / open
			if window%2 == 1 {
				return 0, start.Add((window + 1) * open)
			}
			return most - disrupting, start.Add((window + 1) * open)
		}
		opts := &rollout.PreviewOptions{Pace: pace, Replacement: time.Duration(rng.IntN(100)) * time.Minute,
			Waves: rollout.Options{Canary: 1 + rng.IntN(3), Growth: 1 + rng.IntN(3), Soak: time.Duration(rng.IntN(100)) * time.Minute}}
		nodes := append(nodesOf("a", rng.IntN(20)), nodesOf("b", rng.IntN(20))...)
		r, err := rollout.Preview(start, nodes, opts)
		require.NoError(t, err)
		require.True(t, r.Complete)
		require.Len(t, r.Moves, len(nodes))
		rng.Shuffle(len(nodes), func(i, j int) { nodes[i], nodes[j] = nodes[j], nodes[i] })
		again, err := rollout.Preview(start, nodes, opts)
		require.NoError(t, err)
		require.Equal(t, r, again)
		for _, m := range r.Moves {
			require.Zero(t, m.Start.Sub(start)/open%2, "only while it is open")
			running := 0
			for _, o := range r.Moves {
				if o.NodePool != m.NodePool {
					continue
				}
				if !o.Start.After(m.Start) && o.End.After(m.Start) {
					running++
				}
				if o.Wave < m.Wave {
					require.False(t, m.Start.Before(o.End.Add(opts.Waves.Soak)))
				}
			}
			require.LessOrEqual(t, running, most)
		}
	}
}

// Without waves the pace alone says when nodes go.
func TestPreviewPace(t *testing.T) {
	now := start
	bounded := func(n int) rollout.Pace {
		return func(_ string, _ time.Time, disrupting int) (int, time.Time) { return n - disrupting, time.Time{} }
	}
	var nodes []rollout.Node
	for i := range 4 {
		nodes = append(nodes, rollout.Node{Name: fmt.Sprint("a-", i), NodePool: "a"})
	}
	shut := func(at time.Time) bool { return at.Before(now.Add(90 * time.Minute)) }
	for _, tt := range []struct {
		name  string
		pace  rollout.Pace
		takes time.Duration
		want  []string
	}{
		{"no bound", nil, time.Hour, []string{"a-0 +0m", "a-1 +0m", "a-2 +0m", "a-3 +0m"}},
		{"in no time", bounded(1), 0, []string{"a-0 +0m", "a-1 +0m", "a-2 +0m", "a-3 +0m"}},
		{"one by one", bounded(1), time.Hour, []string{"a-0 +0m", "a-1 +60m", "a-2 +120m", "a-3 +180m"}},
		{"three at a time", bounded(3), time.Hour, []string{"a-0 +0m", "a-1 +0m", "a-2 +0m", "a-3 +60m"}},
		{"never", bounded(0), time.Hour, []string{"a-0 never", "a-1 never", "a-2 never", "a-3 never"}},
		{"negative", bounded(-5), time.Hour, []string{"a-0 never", "a-1 never", "a-2 never", "a-3 never"}},
		{"a window opens", func(_ string, at time.Time, disrupting int) (int, time.Time) {
			if shut(at) {
				return 0, now.Add(90 * time.Minute)
			}
			return 2 - disrupting, time.Time{}
		}, time.Hour, []string{"a-0 +90m", "a-1 +90m", "a-2 +150m", "a-3 +150m"}},
		{"a window closes", func(_ string, at time.Time, disrupting int) (int, time.Time) {
			if shut(at) {
				return 1 - disrupting, now.Add(90 * time.Minute)
			}
			return 0, time.Time{}
		}, time.Hour, []string{"a-0 +0m", "a-1 +60m", "a-2 never", "a-3 never"}},
		{"a pace that speaks of the past", func(_ string, _ time.Time, _ int) (int, time.Time) { return 0, now.Add(-time.Hour) },
			time.Hour, []string{"a-0 never", "a-1 never", "a-2 never", "a-3 never"}},
		{"a pace without end", func(_ string, at time.Time, _ int) (int, time.Time) { return 0, at.Add(time.Nanosecond) },
			time.Hour, []string{"a-0 never", "a-1 never", "a-2 never", "a-3 never"}},
		{"beyond the horizon", func(_ string, at time.Time, _ int) (int, time.Time) {
			if at.Before(now.AddDate(2, 0, 0)) {
				return 0, at.AddDate(1, 0, 0)
			}
			return 9, time.Time{}
		}, time.Hour, []string{"a-0 never", "a-1 never", "a-2 never", "a-3 never"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r, err := rollout.Preview(now, nodes, &rollout.PreviewOptions{Waves: rollout.Options{Canary: len(nodes)}, Pace: tt.pace, Replacement: tt.takes})
			require.NoError(t, err)
			var got []string
			for _, m := range r.Moves {
				if m.Start.IsZero() {
					got = append(got, m.Node+" never")
				} else {
					got = append(got, fmt.Sprintf("%s +%.0fm", m.Node, m.Start.Sub(now).Minutes()))
				}
			}
			require.Equal(t, tt.want, got)
			if !r.Complete {
				require.Zero(t, r.Finish)
			}
		})
	}
}
