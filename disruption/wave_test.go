package disruption_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/budgets"
	"github.com/dovetail-sdk/dovetail/disruption"
)

var waveStart = time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)

// waveNodes are nodes a0, a1, ... of a pool, the oldest first.
func waveNodes(pool string, n int) (out []disruption.WaveNode) {
	for i := range n {
		out = append(out, disruption.WaveNode{Name: fmt.Sprint(pool, i), NodePool: pool,
			Created: waveStart.Add(time.Duration(i-1000) * time.Hour), Reason: "test"})
	}
	return out
}

func waveSizes(waves []disruption.Wave) (out []int) {
	for _, w := range waves {
		out = append(out, len(w.Nodes))
	}
	return out
}

func TestPlanWaves(t *testing.T) {
	for _, c := range []struct {
		nodes int
		opts  *disruption.WaveOptions
		want  []int
	}{
		{0, nil, nil},
		{1, nil, []int{1}},
		{10, nil, []int{1, 2, 4, 3}},
		{15, nil, []int{1, 2, 4, 8}},
		{10, &disruption.WaveOptions{Canary: 3}, []int{3, 6, 1}},
		{10, &disruption.WaveOptions{Canary: 20}, []int{10}},
		{10, &disruption.WaveOptions{MaxWave: 3}, []int{1, 2, 3, 3, 1}},
		{10, &disruption.WaveOptions{Canary: 5, MaxWave: 3}, []int{3, 3, 3, 1}},
		{4, &disruption.WaveOptions{Growth: 1}, []int{1, 1, 1, 1}},
		{100, &disruption.WaveOptions{Growth: 1 << 62}, []int{1, 99}},
	} {
		waves, err := disruption.PlanWaves(waveNodes("a", c.nodes), c.opts)
		require.NoError(t, err)
		require.Equal(t, c.want, waveSizes(waves), "%d %+v", c.nodes, c.opts)
	}
}

func TestPlanWavesOrder(t *testing.T) {
	at := func(h int) time.Time { return waveStart.Add(time.Duration(h) * time.Hour) }
	nodes := []disruption.WaveNode{
		{Name: "z", NodePool: "b"},
		{Name: "late", NodePool: "a", Drifted: at(2), Created: at(-9)},
		{Name: "young", NodePool: "a", Drifted: at(1), Created: at(-1)},
		{Name: "twin-b", NodePool: "a", Drifted: at(1), Created: at(-2)},
		{Name: "twin-a", NodePool: "a", Drifted: at(1), Created: at(-2)},
		{Name: "unknown", NodePool: "a", Created: at(0)},
	}
	waves, err := disruption.PlanWaves(nodes, &disruption.WaveOptions{Canary: 2})
	require.NoError(t, err)
	require.Equal(t, []disruption.Wave{
		{NodePool: "a", Number: 1, Nodes: []string{"unknown", "twin-a"}},
		{NodePool: "a", Number: 2, Nodes: []string{"twin-b", "young", "late"}},
		{NodePool: "b", Number: 1, Nodes: []string{"z"}}}, waves)
	slices.Reverse(nodes)
	again, err := disruption.PlanWaves(nodes, &disruption.WaveOptions{Canary: 2})
	require.NoError(t, err)
	require.Equal(t, waves, again)
}

func TestWaveFaults(t *testing.T) {
	bad := []disruption.WaveNode{{Name: "a", NodePool: "p"}, {Name: "a", NodePool: "p"}, {}}
	opts := disruption.WaveOptions{Canary: -1, Growth: -2, MaxWave: -3, Soak: -1, Backoff: disruption.WaveBackoff{Base: -1}}
	_, err := disruption.PlanWaves(bad, &opts)
	both := []string{"options.canary", "options.growth", "options.maxWave", "options.soak", "options.backoff.base"}
	for _, want := range append(both, "nodes[1].name", "nodes[2].name", "nodes[2].nodePool") {
		require.ErrorContains(t, err, want)
	}
	_, err = disruption.PreviewWaves(waveStart, bad, &disruption.WavePreviewOptions{Waves: opts, Replacement: -1, Horizon: -1})
	for _, want := range append(both, "options.replacement", "options.horizon", "nodes[1].name") {
		require.ErrorContains(t, err, want)
	}
	_, err = disruption.NextWaves(waveStart, disruption.WaveInput{
		Waves:  []disruption.Wave{{NodePool: "p", Number: 1, Nodes: []string{"a", "a"}}, {NodePool: "p", Number: 1}, {}},
		Status: []disruption.WaveStatus{{Node: "a", State: "gone"}, {Node: "a"}, {Node: "b"}}}, &opts)
	for _, want := range append(both, "waves[0].nodes", "waves[1].number", "waves[2].number", "status[0].state", "status[1].node", "status[2].node") {
		require.ErrorContains(t, err, want)
	}
	_, err = disruption.PlanWaves(nil, &disruption.WaveOptions{Backoff: disruption.WaveBackoff{Base: time.Hour, Max: time.Minute}})
	require.ErrorContains(t, err, "options.backoff.max")
}

func TestWaveBackoffWait(t *testing.T) {
	exact := disruption.WaveBackoff{Exact: true}
	for level, want := range []time.Duration{0, 1, 2, 4, 8, 10, 10} {
		require.Equal(t, want*time.Minute, exact.Wait("p", level))
	}
	require.Equal(t, 10*time.Minute, exact.Wait("p", 1<<62))
	require.Zero(t, exact.Wait("p", -1))
	require.Equal(t, time.Hour, disruption.WaveBackoff{Base: time.Hour, Exact: true}.Wait("p", 9))

	distinct := map[time.Duration]bool{}
	for i := range 200 {
		pool := fmt.Sprint("pool-", i)
		for level := range 8 {
			got, full := (disruption.WaveBackoff{}).Wait(pool, level), exact.Wait(pool, level)
			require.GreaterOrEqual(t, got, full/2)
			require.LessOrEqual(t, got, full)
			require.Equal(t, got, (disruption.WaveBackoff{}).Wait(pool, level))
		}
		distinct[disruption.WaveBackoff{}.Wait(pool, 1)] = true
	}
	require.Greater(t, len(distinct), 100, "pools are spread out")
}

func TestWaveBackoffUntil(t *testing.T) {
	b := disruption.WaveBackoff{Exact: true}
	fail := func(after time.Duration) disruption.WaveAttempt {
		return disruption.WaveAttempt{At: waveStart.Add(after), Failed: true}
	}
	done := func(after time.Duration) disruption.WaveAttempt {
		return disruption.WaveAttempt{At: waveStart.Add(after)}
	}
	for name, c := range map[string]struct {
		attempts []disruption.WaveAttempt
		until    time.Duration
		level    int
	}{
		"none":                    {nil, -1, 0},
		"once":                    {[]disruption.WaveAttempt{fail(0)}, time.Minute, 1},
		"together count once":     {[]disruption.WaveAttempt{fail(0), fail(time.Second), fail(59 * time.Second)}, time.Minute, 1},
		"at the end of the wait":  {[]disruption.WaveAttempt{fail(0), fail(time.Minute)}, 3 * time.Minute, 2},
		"in any order":            {[]disruption.WaveAttempt{fail(time.Minute), fail(0)}, 3 * time.Minute, 2},
		"long after":              {[]disruption.WaveAttempt{fail(0), fail(time.Hour)}, time.Hour + 2*time.Minute, 2},
		"success resets":          {[]disruption.WaveAttempt{fail(0), fail(time.Minute), done(2 * time.Minute)}, -1, 0},
		"success, then a failure": {[]disruption.WaveAttempt{fail(0), done(time.Second), fail(2 * time.Second)}, time.Minute + 2*time.Second, 1},
		"both at once":            {[]disruption.WaveAttempt{done(0), fail(0)}, -1, 0},
	} {
		t.Run(name, func(t *testing.T) {
			until, level := b.Until("p", c.attempts)
			require.Equal(t, c.level, level)
			if c.until < 0 {
				require.Zero(t, until)
			} else {
				require.Equal(t, waveStart.Add(c.until), until)
			}
		})
	}
}

func TestNextWaves(t *testing.T) {
	waves, err := disruption.PlanWaves(append(waveNodes("a", 4), waveNodes("b", 1)...), nil)
	require.NoError(t, err)
	opts := &disruption.WaveOptions{Soak: 10 * time.Minute, MaxFailures: 2, Backoff: disruption.WaveBackoff{Exact: true}}
	done := func(node string, ago time.Duration) disruption.WaveStatus {
		return disruption.WaveStatus{Node: node, State: disruption.WaveDone, Ended: waveStart.Add(-ago)}
	}
	running := func(node string) disruption.WaveStatus {
		return disruption.WaveStatus{Node: node, State: disruption.WaveReplacing}
	}
	failed := func(ago ...time.Duration) (out []disruption.WaveAttempt) {
		for _, d := range ago {
			out = append(out, disruption.WaveAttempt{At: waveStart.Add(-d), Failed: true})
		}
		return out
	}
	for name, c := range map[string]struct {
		status   []disruption.WaveStatus
		attempts []disruption.WaveAttempt
		want     disruption.WaveTurn
	}{
		"canary":        {nil, nil, disruption.WaveTurn{Wave: 1, Begin: []string{"a0"}}},
		"canary runs":   {[]disruption.WaveStatus{running("a0")}, nil, disruption.WaveTurn{Wave: 1, Hold: disruption.WaveRunning}},
		"soak":          {[]disruption.WaveStatus{done("a0", 4*time.Minute)}, nil, disruption.WaveTurn{Wave: 2, Hold: disruption.WaveSoaking, Until: waveStart.Add(6 * time.Minute)}},
		"second":        {[]disruption.WaveStatus{done("a0", 10*time.Minute)}, nil, disruption.WaveTurn{Wave: 2, Begin: []string{"a1", "a2"}}},
		"half of it":    {[]disruption.WaveStatus{done("a0", time.Hour), running("a2")}, nil, disruption.WaveTurn{Wave: 2, Begin: []string{"a1"}}},
		"failed":        {nil, failed(30 * time.Second), disruption.WaveTurn{Wave: 1, Hold: disruption.WaveBackingOff, Until: waveStart.Add(30 * time.Second)}},
		"failed before": {nil, failed(time.Minute), disruption.WaveTurn{Wave: 1, Begin: []string{"a0"}}},
		"halted":        {nil, failed(time.Hour, 2*time.Hour), disruption.WaveTurn{Wave: 1, Hold: disruption.WaveHalted}},
		"mended": {nil, append(failed(time.Hour, 2*time.Hour), disruption.WaveAttempt{At: waveStart}),
			disruption.WaveTurn{Wave: 1, Begin: []string{"a0"}}},
		"over": {[]disruption.WaveStatus{done("a0", 0), done("a1", 0), done("a2", 0), done("a3", 0)}, nil, disruption.WaveTurn{Wave: 3, Hold: disruption.WaveOver}},
		"later ones went first": {[]disruption.WaveStatus{done("a3", 0), done("a1", 0)}, nil,
			disruption.WaveTurn{Wave: 1, Begin: []string{"a0"}}},
	} {
		t.Run(name, func(t *testing.T) {
			turns, err := disruption.NextWaves(waveStart, disruption.WaveInput{Waves: waves, Status: c.status,
				Attempts: map[string][]disruption.WaveAttempt{"a": c.attempts}}, opts)
			require.NoError(t, err)
			c.want.NodePool = "a"
			require.Equal(t, []disruption.WaveTurn{c.want, {NodePool: "b", Wave: 1, Begin: []string{"b0"}}}, turns)
		})
	}
	turns, err := disruption.NextWaves(waveStart, disruption.WaveInput{Waves: waves,
		Attempts: map[string][]disruption.WaveAttempt{"a": failed(1*time.Hour, 2*time.Hour)}}, &disruption.WaveOptions{MaxFailures: -1})
	require.NoError(t, err)
	require.Equal(t, disruption.WaveFree, turns[0].Hold)
}

func TestPreviewWaves(t *testing.T) {
	opts := &disruption.WavePreviewOptions{
		Waves:       disruption.WaveOptions{Soak: 30 * time.Minute},
		Replacement: 10 * time.Minute,
		Pace: func(pool string, _ time.Time, disrupting int) (int, time.Time) {
			if pool == "a" {
				return 3 - disrupting, time.Time{}
			}
			return 100, time.Time{}
		},
	}
	r, err := disruption.PreviewWaves(waveStart, append(waveNodes("b", 1), waveNodes("a", 7)...), opts)
	require.NoError(t, err)
	var lines []string
	for _, m := range r.Moves {
		lines = append(lines, fmt.Sprintf("%s wave %d %s-%s", m.Node, m.Wave, m.Start.Sub(waveStart), m.End.Sub(waveStart)))
	}
	require.Equal(t, []string{"a0 wave 1 0s-10m0s", "b0 wave 1 0s-10m0s", "a1 wave 2 40m0s-50m0s", "a2 wave 2 40m0s-50m0s",
		"a3 wave 3 1h20m0s-1h30m0s", "a4 wave 3 1h20m0s-1h30m0s", "a5 wave 3 1h20m0s-1h30m0s", "a6 wave 3 1h30m0s-1h40m0s"}, lines)
	require.True(t, r.Complete)
	require.Equal(t, waveStart.Add(100*time.Minute), r.Finish)
	var instants []string
	for _, i := range r.Calendar() {
		instants = append(instants, fmt.Sprintf("%s +%d -%d running %d left %d", i.At.Sub(waveStart), len(i.Begin), len(i.End), i.Running, i.Left))
	}
	require.Equal(t, []string{"0s +2 -0 running 2 left 6", "10m0s +0 -2 running 0 left 6", "40m0s +2 -0 running 2 left 4", "50m0s +0 -2 running 0 left 4",
		"1h20m0s +3 -0 running 3 left 1", "1h30m0s +1 -3 running 1 left 0", "1h40m0s +0 -1 running 0 left 0"}, instants)
}

// A window of a budget opens and closes in the middle of a rollout.
func TestPreviewWavesBudgets(t *testing.T) {
	schedule, hours := "0 10 * * *", &metav1.Duration{Duration: 23 * time.Hour}
	compiled, err := budgets.Compile([]v1.Budget{{Nodes: "2"}, {Nodes: "0", Schedule: &schedule, Duration: hours}}, nil)
	require.NoError(t, err)
	pace := disruption.WaveBudgets(map[string]*budgets.Compiled{"a": compiled}, map[string]budgets.Counts{"a": {Nodes: 10}}, budgets.Drifted)
	r, err := disruption.PreviewWaves(waveStart, waveNodes("a", 7), &disruption.WavePreviewOptions{Replacement: 25 * time.Minute, Pace: pace})
	require.NoError(t, err)
	var starts []string
	for _, m := range r.Moves {
		starts = append(starts, m.Node+" "+m.Start.Format("2 15:04"))
	}
	// Nine to ten is all there is of each day.
	require.Equal(t, []string{"a0 2 09:00", "a1 2 09:25", "a2 2 09:25", "a3 2 09:50", "a4 2 09:50", "a5 3 09:00", "a6 3 09:00"}, starts)

	more, until := pace("unknown", waveStart, 5)
	require.Positive(t, more)
	require.Zero(t, until)
}

func TestPreviewWavesNeverDone(t *testing.T) {
	for name, pace := range map[string]disruption.WavePace{
		"never":   func(string, time.Time, int) (int, time.Time) { return 0, time.Time{} },
		"by inch": func(_ string, at time.Time, _ int) (int, time.Time) { return -1, at.Add(1) },
		"back":    func(_ string, at time.Time, _ int) (int, time.Time) { return 0, at.Add(-time.Hour) },
		"one":     func(_ string, _ time.Time, d int) (int, time.Time) { return 1 - d, time.Time{} },
	} {
		r, err := disruption.PreviewWaves(waveStart, waveNodes("a", 3), &disruption.WavePreviewOptions{Pace: pace, Replacement: time.Hour, Horizon: 90 * time.Minute})
		require.NoError(t, err, name)
		require.False(t, r.Complete, name)
		require.Zero(t, r.Finish, name)
		require.Len(t, r.Moves, 3)
		require.Zero(t, r.Moves[2].Start)
	}
}

// Replacements that take no time, in waves without soak, are all done at once.
func TestPreviewWavesAtOnce(t *testing.T) {
	one := func(string, time.Time, int) (int, time.Time) { return 1, time.Time{} }
	r, err := disruption.PreviewWaves(waveStart, waveNodes("a", 20), &disruption.WavePreviewOptions{Pace: one})
	require.NoError(t, err)
	require.Equal(t, waveStart, r.Finish)
	require.True(t, r.Complete)
	require.Len(t, r.Calendar(), 1)
	r, err = disruption.PreviewWaves(waveStart, nil, nil)
	require.NoError(t, err)
	require.Equal(t, disruption.WaveRollout{Complete: true}, r)
}

// At no time do more nodes of a pool go than the pace says, nor nodes of two
// waves; and the order of the nodes given has no meaning.
func TestPreviewWavesLaws(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	for range 300 {
		most := 1 + rng.IntN(4)
		open := time.Duration(1+rng.IntN(5)) * time.Hour
		pace := func(_ string, at time.Time, disrupting int) (int, time.Time) {
			since := at.Sub(waveStart)
			window := since / open
			if window%2 == 1 {
				return 0, waveStart.Add((window + 1) * open)
			}
			return most - disrupting, waveStart.Add((window + 1) * open)
		}
		opts := &disruption.WavePreviewOptions{Pace: pace, Replacement: time.Duration(rng.IntN(100)) * time.Minute,
			Waves: disruption.WaveOptions{Canary: 1 + rng.IntN(3), Growth: 1 + rng.IntN(3), Soak: time.Duration(rng.IntN(100)) * time.Minute}}
		nodes := append(waveNodes("a", rng.IntN(20)), waveNodes("b", rng.IntN(20))...)
		r, err := disruption.PreviewWaves(waveStart, nodes, opts)
		require.NoError(t, err)
		require.True(t, r.Complete)
		require.Len(t, r.Moves, len(nodes))
		rng.Shuffle(len(nodes), func(i, j int) { nodes[i], nodes[j] = nodes[j], nodes[i] })
		again, err := disruption.PreviewWaves(waveStart, nodes, opts)
		require.NoError(t, err)
		require.Equal(t, r, again)
		for _, m := range r.Moves {
			require.Zero(t, m.Start.Sub(waveStart)/open%2, "only while it is open")
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
		for _, i := range r.Calendar() {
			require.GreaterOrEqual(t, i.Running, 0)
		}
	}
}

// waveClaim is a claim of pool web as the pool made it.
func waveClaim(pool *v1.NodePool, name, zone string) *v1.NodeClaim {
	return &v1.NodeClaim{ObjectMeta: metav1.ObjectMeta{Name: name, CreationTimestamp: metav1.NewTime(waveStart.Add(-time.Hour)),
		Labels: map[string]string{v1.NodePoolLabelKey: pool.Name, corev1.LabelTopologyZone: zone},
		Annotations: map[string]string{v1.NodePoolHashAnnotationKey: pool.Hash(),
			v1.NodePoolHashVersionAnnotationKey: v1.NodePoolHashVersion}}}
}

func wavePool(zones ...string) *v1.NodePool {
	pool := &v1.NodePool{ObjectMeta: metav1.ObjectMeta{Name: "web"}}
	pool.Spec.Template.Spec.Requirements = []v1.NodeSelectorRequirementWithMinValues{{Key: corev1.LabelTopologyZone, Operator: corev1.NodeSelectorOpIn, Values: zones}}
	return pool
}

func TestPreviewEdit(t *testing.T) {
	old := wavePool("a", "b")
	claims := []*v1.NodeClaim{waveClaim(old, "in-a", "a"), waveClaim(old, "in-b", "b"), waveClaim(old, "in-c", "c")}
	claims[1].Status.NodeName = "node-b"
	stale := waveClaim(old, "stale", "a")
	stale.Annotations[v1.NodePoolHashVersionAnnotationKey] = "v1"
	drifted := waveClaim(old, "drifted", "b")
	drifted.Annotations[v1.NodePoolHashAnnotationKey] = "1"
	drifted.Status.Conditions = []metav1.Condition{{Type: v1.ConditionTypeDrifted, Status: metav1.ConditionTrue, LastTransitionTime: metav1.NewTime(waveStart.Add(-time.Minute))}}
	foreign := waveClaim(old, "foreign", "b")
	foreign.Labels[v1.NodePoolLabelKey] = "other"
	leaving := waveClaim(old, "leaving", "b")
	leaving.DeletionTimestamp = &leaving.CreationTimestamp
	claims = append(claims, stale, drifted, foreign, leaving)

	e, err := disruption.PreviewEdit(waveStart, disruption.WaveEditInput{Before: old, After: wavePool("a", "c"), Claims: claims})
	require.NoError(t, err)
	created := waveStart.Add(-time.Hour)
	require.Equal(t, disruption.WaveEdit{
		Nodes: []disruption.WaveNode{
			{Name: "drifted", NodePool: "web", Drifted: waveStart.Add(-time.Minute), Created: created, Reason: disruption.NodePoolDrifted},
			{Name: "node-b", NodePool: "web", Drifted: waveStart, Created: created, Reason: disruption.RequirementsDrifted}},
		Already: []string{"drifted"}, Settled: []string{"in-c"}, Kept: []string{"in-a"}, Unjudged: []string{"stale"},
	}, e)

	edited := wavePool("a", "b", "c")
	edited.Spec.Template.Labels = map[string]string{"team": "x"}
	e, err = disruption.PreviewEdit(waveStart, disruption.WaveEditInput{Before: old, After: edited, Claims: claims})
	require.NoError(t, err)
	require.Len(t, e.Nodes, 4)
	same, err := disruption.PreviewEdit(waveStart, disruption.WaveEditInput{Before: old, After: old, Claims: claims})
	require.NoError(t, err)
	require.Empty(t, same.Settled)
	require.Len(t, same.Nodes, len(same.Already), "nothing is edited")
}

func TestPreviewEditFaults(t *testing.T) {
	_, err := disruption.PreviewEdit(waveStart, disruption.WaveEditInput{})
	require.ErrorContains(t, err, "a NodePool is nil")
	bad := wavePool("a")
	bad.Name = "db"
	bad.Spec.Template.Spec.Requirements[0].Operator = "Like"
	claim := waveClaim(bad, "x", "a")
	_, err = disruption.PreviewEdit(waveStart, disruption.WaveEditInput{Before: wavePool("a"), After: bad, Claims: []*v1.NodeClaim{nil, claim, claim}})
	for _, want := range []string{`"web" and "db" have different names`, `NodePool "db"`, "claims[0]: is nil", `claims[2]: "x" is listed twice`} {
		require.ErrorContains(t, err, want)
	}
	require.NotContains(t, strings.ToLower(err.Error()), "panic")
}

func BenchmarkPreviewWaves(b *testing.B) {
	nodes := waveNodes("a", 5000)
	opts := &disruption.WavePreviewOptions{Replacement: 5 * time.Minute, Pace: func(_ string, _ time.Time, d int) (int, time.Time) { return 50 - d, time.Time{} }}
	b.Run("nodes=5000", func(b *testing.B) {
		for b.Loop() {
			_, _ = disruption.PreviewWaves(waveStart, nodes, opts)
		}
	})
}
