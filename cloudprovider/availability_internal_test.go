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
	a, err := NewAvailability(func() time.Time { return now }, &AvailabilityOptions{MaxMarks: 5})
	require.NoError(t, err)
	check := func(marks int) {
		t.Helper()
		require.Len(t, a.Marks(), marks)
		require.Len(t, a.marks, marks)
		inUse, types := 0, 0
		for _, n := range a.inUse {
			inUse += n
		}
		for _, n := range a.types {
			require.Positive(t, n)
			types += n
		}
		require.Equal(t, marks, inUse)
		require.Equal(t, marks, types)
	}
	for i := range 20 {
		a.MarkUnavailable(Scope{InstanceType: fmt.Sprint(i / 2), Zone: fmt.Sprint(i % 2)}, "")
		check(min(i+1, 5))
	}
	require.True(t, a.MarkAvailable(Scope{InstanceType: "9", Zone: "1"}))
	check(4)
	now = now.Add(time.Hour)
	check(0)
	a.MarkUnavailable(Scope{}, "")
	check(1)
	a.Clear()
	check(0)
}
