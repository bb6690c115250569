package solve

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestBetterScore: a later solution is taken for each thing that a score has, in its order.
func TestBetterScore(t *testing.T) {
	was := score{left: []int32{5, 0}, uneven: 3, cost: 2, ejected: true}
	require.False(t, was.betterThan(was))
	for name, better := range map[string]score{
		"higher priority placed": {left: []int32{0, 0}, uneven: 9, cost: 9, ejected: true},
		"more pods":              {left: []int32{5}, uneven: 9, cost: 9, ejected: true},
		"more even":              {left: was.left, uneven: 2, cost: 9, ejected: true},
		"cheaper":                {left: was.left, uneven: 3, cost: 1, ejected: true},
		"none ejected":           {left: was.left, uneven: 3, cost: 2},
	} {
		require.True(t, better.betterThan(was), name)
		require.False(t, was.betterThan(better), name)
	}
	first, cheaper := score{cost: 2}, score{cost: 1}
	require.True(t, cheaper.betterThan(first), "where no pods were ejected either")
}
