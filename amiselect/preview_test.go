package amiselect_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/dovetail-sdk/dovetail/amiselect"
)

// fleet makes nodes named prefix-0 and on, each a day younger than the last.
func fleet(pool, image string, count int) (out []amiselect.Node) {
	for n := range count {
		out = append(out, amiselect.Node{Name: fmt.Sprintf("%s-%d", pool, n), NodePool: pool, ImageID: image,
			InstanceType: m5, Created: date("2024-05-01").AddDate(0, 0, n)})
	}
	return out
}

// bounded allows n nodes at a time.
func bounded(n int) amiselect.Pace {
	return func(_ string, _ time.Time, disrupting int) (int, time.Time) { return n - disrupting, time.Time{} }
}

func selections(t *testing.T) (old, next amiselect.Selection) {
	images := al2023("1.31", "20240605", "20240703", "20240807")
	return mustSelect(t, alias("al2023@v20240703"), images, on("1.31")), mustSelect(t, alias("al2023@v20240807"), images, on("1.31"))
}

// starts renders when each node begins, in minutes from now.
func starts(r amiselect.Rollout) (out []string) {
	for _, m := range r.Moves {
		if m.Start.IsZero() {
			out = append(out, m.Node+" never")
			continue
		}
		out = append(out, fmt.Sprintf("%s +%.0fm", m.Node, m.Start.Sub(now).Minutes()))
	}
	return out
}

func TestPreview(t *testing.T) {
	old, next := selections(t)
	nodes := fleet("a", "ami-x86std20240703", 4)
	nodes = append(nodes, fleet("b", "ami-x86std20240703", 2)...)
	nodes[3].ImageID = "ami-x86std20240605" // had drifted before
	nodes = append(nodes,
		amiselect.Node{Name: "settled", NodePool: "a", ImageID: "ami-x86std20240807", InstanceType: m5},
		amiselect.Node{Name: "unknown", NodePool: "a", InstanceType: m5})
	r, err := amiselect.Preview(now, old, next, nodes, &amiselect.PreviewOptions{Pace: bounded(2), Replacement: 10 * time.Minute})
	require.NoError(t, err)
	require.Equal(t, []string{"a-3 +0m", "a-0 +0m", "b-0 +0m", "b-1 +0m", "a-1 +10m", "a-2 +10m"}, starts(r))
	require.True(t, r.Complete)
	require.Equal(t, now.Add(20*time.Minute), r.Finish)
	require.Equal(t, []string{"settled"}, r.Settled)
	require.Equal(t, []string{"unknown"}, r.Unjudged)
	require.Empty(t, r.Kept)
	require.True(t, r.Moves[0].Already)
	require.False(t, r.Moves[1].Already)
	require.Equal(t, "ami-x86std20240807", r.Moves[1].To.ID)
	require.Equal(t, amiselect.CodeRelease, r.Moves[1].Reason.Code)

	same, err := amiselect.Preview(now, old, old, fleet("a", "ami-x86std20240703", 1), nil)
	require.NoError(t, err)
	require.Equal(t, amiselect.Rollout{Kept: []string{"a-0"}, Complete: true}, same)

	// Nobody had drifted before there were terms.
	first, err := amiselect.Preview(now, amiselect.Selection{}, next, nodes[3:4], nil)
	require.NoError(t, err)
	require.False(t, first.Moves[0].Already)
}

func TestPreviewPace(t *testing.T) {
	old, next := selections(t)
	nodes := fleet("a", "ami-x86std20240703", 4)
	shut := func(at time.Time) bool { return at.Before(now.Add(90 * time.Minute)) }
	for _, tt := range []struct {
		name  string
		pace  amiselect.Pace
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
			r, err := amiselect.Preview(now, old, next, nodes, &amiselect.PreviewOptions{Pace: tt.pace, Replacement: tt.takes})
			require.NoError(t, err)
			require.Equal(t, tt.want, starts(r))
			if !r.Complete {
				require.Zero(t, r.Finish)
			}
		})
	}
}

func TestPreviewOfMachines(t *testing.T) {
	old, next := selections(t)
	nodes := []amiselect.Node{
		{Name: "gpu", ImageID: "ami-x86nvidia20240703", InstanceType: g5},
		{Name: "wrong", ImageID: "ami-x86std20240807", InstanceType: g5},
		{Name: "typeless", ImageID: "ami-x86std20240703"},
		{Name: "inf", ImageID: "ami-x86neuron20240807", InstanceType: inf2},
	}
	r, err := amiselect.Preview(now, old, next, nodes, nil)
	require.NoError(t, err)
	to := map[string]string{}
	for _, m := range r.Moves {
		to[m.Node] = m.To.ID
	}
	require.Equal(t, map[string]string{"gpu": "ami-x86nvidia20240807", "wrong": "ami-x86nvidia20240807", "typeless": ""}, to)
	require.Equal(t, []string{"inf"}, r.Settled)
}

func TestPreviewFaults(t *testing.T) {
	_, err := amiselect.Preview(now, amiselect.Selection{}, amiselect.Selection{}, []amiselect.Node{{}, {Name: "a"}, {Name: "a"}},
		&amiselect.PreviewOptions{Replacement: -time.Second, Horizon: -time.Second})
	require.EqualError(t, err, `preview: the new selection is empty; an empty selection replaces nothing
options.replacement: -1s must not be negative
options.horizon: -1s must not be negative; zero is 366 days
nodes[0]: has no name
nodes[2]: "a" is listed twice; remove one`)
}
