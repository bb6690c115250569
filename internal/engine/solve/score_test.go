package solve

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestBetterScore: a later solution is taken for each thing that a score has, in its order.
func TestBetterScore(t *testing.T) {
	was := score{left: []int32{5, 0}, cost: 2}
	require.False(t, was.betterThan(was))
	for name, better := range map[string]score{
		"higher priority placed": {left: []int32{0, 0}, cost: 9},
		"more pods":              {left: []int32{5}, cost: 9},
		"cheaper":                {left: was.left, cost: 1},
	} {
		require.True(t, better.betterThan(was), name)
		require.False(t, was.betterThan(better), name)
	}
}
