package batcher_test

import (
	"fmt"
	"math/rand"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/dovetail-sdk/dovetail/cloudprovider/batcher"
)

var three = time.Date(2026, 1, 2, 15, 0, 0, 0, time.UTC)

func TestWindow(t *testing.T) {
	for _, tt := range []struct {
		name      string
		idle, max time.Duration
		adds      []time.Duration
		due       time.Duration
	}{
		{"one", time.Second, 10 * time.Second, []time.Duration{0}, time.Second},
		{"more", time.Second, 10 * time.Second, []time.Duration{0, 500 * time.Millisecond}, 1500 * time.Millisecond},
		{"a stream", 2 * time.Second, 3 * time.Second, []time.Duration{0, time.Second, 2 * time.Second}, 3 * time.Second},
		{"set back", time.Second, 10 * time.Second, []time.Duration{0, 5 * time.Second, time.Second}, 6 * time.Second},
		{"set back behind the first", time.Second, 10 * time.Second, []time.Duration{time.Hour, 0}, time.Second},
		{"defaults", 0, 0, []time.Duration{0, 9500 * time.Millisecond}, 10 * time.Second},
		{"only idle", time.Minute, 0, []time.Duration{0}, time.Minute},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w, err := batcher.NewWindow(tt.idle, tt.max)
			require.NoError(t, err)
			require.False(t, w.Due(three.Add(time.Hour)))
			require.Zero(t, w.DueAt())
			empty := w
			for _, at := range tt.adds {
				w = w.Add(three.Add(at))
			}
			require.True(t, w.Open())
			require.Equal(t, three.Add(tt.due), w.DueAt())
			require.False(t, w.Due(three.Add(tt.due-1)))
			require.True(t, w.Due(three.Add(tt.due)))
			require.Equal(t, empty, w.Clear())
		})
	}
	var zero batcher.Window
	require.Equal(t, batcher.DefaultWindowIdle, zero.Idle())
	require.Equal(t, batcher.DefaultWindowMax, zero.Max())
	require.Equal(t, three.Add(time.Second), zero.Add(three).DueAt())
}

func TestWindowGathers(t *testing.T) {
	const second = time.Second
	for name, row := range map[string]struct {
		pods []int // waiting, second by second
		want int   // the second at which it closes; -1 is never
	}{
		"nothing":        {[]int{0, 0, 0, 0}, -1},
		"one pod":        {[]int{0, 1, 1, 1, 1}, 4},
		"they come":      {[]int{1, 2, 3, 3, 3, 3}, 5},
		"without end":    {[]int{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}, 8},
		"they went away": {[]int{1, 1, 0, 0, 1, 1, 1, 1}, 7},
		"some went away": {[]int{5, 4, 3, 3}, 3},
	} {
		w, err := batcher.NewWindow(3*second, 8*second)
		require.NoError(t, err)
		closed := -1
		for i, pods := range row.pods {
			var due bool
			if w, due = w.Gather(three.Add(time.Duration(i)*second), pods); due {
				closed = i
				require.False(t, w.Open())
				break
			}
		}
		require.Equal(t, row.want, closed, name)
	}
}

func TestWindowRefuses(t *testing.T) {
	_, err := batcher.NewWindow(-time.Second, -time.Minute)
	require.ErrorContains(t, err, "idle: -1s")
	require.ErrorContains(t, err, "max: -1m0s")
	_, err = batcher.NewWindow(time.Minute, time.Second)
	require.ErrorContains(t, err, "at least idle, 1m0s")
	_, err = batcher.NewWindow(0, time.Millisecond)
	require.ErrorContains(t, err, "at least idle, 1s")
}

// TestWindowOfAClockThatIsSetBack has a clock that is set back by an hour while a window is open.
func TestWindowOfAClockThatIsSetBack(t *testing.T) {
	var zero batcher.Window
	back := three.Add(-time.Hour)
	require.True(t, zero.Add(three).Due(back), "the wait cannot be measured")
	require.True(t, zero.Add(three).Due(three.Add(-1)))

	w, due := zero.Gather(three, 1)
	require.False(t, due)
	w, due = w.Gather(back, 1)
	require.False(t, due, "the wait begins again")
	require.Equal(t, back.Add(time.Second), w.DueAt())
	_, due = w.Gather(back.Add(time.Second), 1)
	require.True(t, due)
}

// Whatever comes when: nothing waits longer than max, what comes one by one within
// idle stays together until then, and nothing is due before idle has passed or max
// is reached.
func TestWindowLaw(t *testing.T) {
	for seed := range int64(200) {
		random := rand.New(rand.NewSource(seed))
		idle := time.Duration(1+random.Intn(50)) * time.Millisecond
		most := idle + time.Duration(random.Intn(200))*time.Millisecond
		w, err := batcher.NewWindow(idle, most)
		require.NoError(t, err)
		var waiting []time.Time // since they came
		now := three
		for range 300 {
			now = now.Add(time.Duration(random.Intn(20)) * time.Millisecond)
			quiet := len(waiting) > 0 && now.Sub(waiting[len(waiting)-1]) >= idle
			old := len(waiting) > 0 && now.Sub(waiting[0]) >= most
			require.Equal(t, quiet || old, w.Due(now))
			if w.Due(now) {
				w, waiting = w.Clear(), nil
			}
			if random.Intn(2) == 0 {
				w, waiting = w.Add(now), append(waiting, now)
			}
			require.Equal(t, len(waiting) > 0, w.Open())
		}
	}
}

func ExampleWindow() {
	w, err := batcher.NewWindow(time.Second, 10*time.Second)
	if err != nil {
		fmt.Println(err)
		return
	}
	now := time.Date(2026, 1, 2, 15, 0, 0, 0, time.UTC)
	for _, pod := range []string{"web-1", "web-2", "web-3"} {
		w = w.Add(now)
		fmt.Println(pod, "comes at", now.Format("05.0"), "plan at", w.DueAt().Format("05.0"))
		now = now.Add(400 * time.Millisecond)
	}
	fmt.Println(w.Due(now), w.Due(w.DueAt()), w.Clear().Due(w.DueAt()))
	// Output:
	// web-1 comes at 00.0 plan at 01.0
	// web-2 comes at 00.4 plan at 01.4
	// web-3 comes at 00.8 plan at 01.8
	// false true false
}

// A loop that looks at the pending pods twice a second.
func ExampleWindow_Gather() {
	var w batcher.Window
	now := time.Date(2026, 1, 2, 15, 0, 0, 0, time.UTC)
	for _, pending := range []int{2, 5, 5, 5, 0} {
		var due bool
		w, due = w.Gather(now, pending)
		fmt.Println(now.Format("05.0"), pending, "pending, plan:", due, "open:", w.Open())
		now = now.Add(500 * time.Millisecond)
	}
	// Output:
	// 00.0 2 pending, plan: false open: true
	// 00.5 5 pending, plan: false open: true
	// 01.0 5 pending, plan: false open: true
	// 01.5 5 pending, plan: true open: false
	// 02.0 0 pending, plan: false open: false
}

func ExampleNewWindow() {
	_, err := batcher.NewWindow(time.Minute, time.Second)
	fmt.Println(err)
	// Output:
	// window: max: 1s; use a time of at least idle, 1m0s, or zero for the default
}
