package cloudprovider

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// The counters that speed up lookups shrink with the marks. From outside a leak
// shows only as memory and time.
func TestCountersFollowMarks(t *testing.T) {
	now := time.Unix(0, 0)
	const most = 50 // more than the table has buckets at first
	a, err := NewAvailability(func() time.Time { return now }, &AvailabilityOptions{MaxMarks: most})
	require.NoError(t, err)
	check := func(marks int) {
		t.Helper()
		require.Len(t, a.Marks(), marks)
		types, groups, linked, grouped := 0, 0, 0, 0
		for _, n := range a.types {
			require.Positive(t, n)
			types += n
		}
		for f, n := range a.marks.counts {
			groups += n
			require.Equal(t, n > 0, a.marks.inUse.Load()&(1<<f) != 0)
		}
		buckets := *a.marks.buckets.Load()
		for i := range buckets {
			for g := buckets[i].Load(); g != nil; g = g.next.Load() {
				require.NotEmpty(t, g.marks)
				linked++
				grouped += len(g.marks)
			}
		}
		require.Equal(t, a.marks.groups, groups)
		require.Equal(t, a.marks.groups, linked)
		require.Equal(t, marks, grouped)
		require.Zero(t, a.marks.version.Load()%2)
		require.Equal(t, marks, types)
	}
	for i := range 2 * most {
		a.MarkUnavailable(Scope{InstanceType: fmt.Sprint(i / 2), Zone: fmt.Sprint(i % 2)}, "")
		check(min(i+1, most))
	}
	require.True(t, a.MarkAvailable(Scope{InstanceType: "9", Zone: "1"}))
	check(most - 1)
	now = now.Add(time.Hour)
	check(0)
	a.MarkUnavailable(Scope{}, "")
	check(1)
	a.Clear()
	check(0)
}
