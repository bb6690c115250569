package parallel_test

import (
	"runtime"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/dovetail-sdk/dovetail/internal/parallel"
)

func TestWidth(t *testing.T) {
	require.Equal(t, 7, parallel.Width(7))
	require.Equal(t, min(4, runtime.GOMAXPROCS(0)), parallel.Width(0))
	require.Equal(t, parallel.Width(0), parallel.Width(-1))
}

// TestEach: each number is done once, and no more than width at a time.
func TestEach(t *testing.T) {
	for width := range 5 {
		for n := range 12 {
			var mu sync.Mutex
			var done []int
			running, most := 0, 0
			parallel.Each(width, n, func(i int) {
				mu.Lock()
				defer mu.Unlock()
				running++
				most = max(most, running)
				mu.Unlock()
				runtime.Gosched()
				mu.Lock()
				done = append(done, i)
				running--
			})
			want := make([]int, 0, n)
			for i := range n {
				want = append(want, i)
			}
			require.LessOrEqual(t, most, max(width, 1))
			if width < 2 {
				require.Equal(t, want, append([]int{}, done...), "in order")
			}
			require.ElementsMatch(t, want, done)
		}
	}
}
