package knapsack_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/dovetail-sdk/dovetail/internal/engine/knapsack"
)

func TestWhole(t *testing.T) {
	for _, tt := range []struct {
		prices []float64
		bound  float64
		want   float64
	}{
		{[]float64{0.24}, 0.3, 0.48},
		{[]float64{0.24}, 0.48, 0.48},
		{[]float64{0.24}, 0.48 * (1 + 1e-9), 0.48 * (1 + 1e-9)}, // rounding, and no third node
		{[]float64{0.35, 0.24, 0.24}, 0.525, 0.59},
		{[]float64{0.24}, 0, 0},
		{nil, 0.3, 0.3},
		{[]float64{0, 1}, 0.3, 0.3},      // any sum may be in reach
		{[]float64{1}, 12345.5, 12345.5}, // too many to add up
	} {
		require.InDelta(t, tt.want, knapsack.Whole(tt.prices, tt.bound), 1e-12)
	}
	require.True(t, knapsack.Addable([]float64{0.5, 0.7}, 10))
	require.False(t, knapsack.Addable([]float64{0, 0.7}, 10))
}
