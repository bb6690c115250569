package main

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/dovetail-sdk/dovetail/cloudprovider/batcher"
)

func TestGather(t *testing.T) {
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
		a := autoscaler{window: w}
		closed := -1
		for i, pods := range row.pods {
			if a.gather(start.Add(time.Duration(i)*second), pods) {
				closed = i
				break
			}
		}
		require.Equal(t, row.want, closed, name)
	}
}
