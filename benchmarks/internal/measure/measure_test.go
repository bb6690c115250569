package measure_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/dovetail-sdk/dovetail/benchmarks/internal/measure"
)

func TestOfCountsAllocations(t *testing.T) {
	var kept [][]byte
	cost, err := measure.Of(func() error {
		for range 100 {
			kept = append(kept, make([]byte, 1<<16))
		}
		return nil
	})
	require.NoError(t, err)
	require.Len(t, kept, 100)
	require.GreaterOrEqual(t, cost.Bytes, uint64(100<<16))
	require.Less(t, cost.Bytes, uint64(200<<16))
	require.GreaterOrEqual(t, cost.Allocs, uint64(100))
	require.Greater(t, cost.Seconds, 0.0)
}

func TestErrorsComeThrough(t *testing.T) {
	sad := errors.New("sad")
	_, err := measure.Of(func() error { return sad })
	require.ErrorIs(t, err, sad)
	require.ErrorIs(t, measure.Profiled("", func() error { return sad }), sad)
	dir := t.TempDir()
	require.ErrorIs(t, measure.Profiled(filepath.Join(dir, "cpu"), func() error { return sad }), sad)
	require.Error(t, measure.Profiled(filepath.Join(dir, "no", "cpu"), func() error { return nil }))
}

func TestProfiledWritesAProfile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "cpu")
	ran := false
	require.NoError(t, measure.Profiled(file, func() error {
		ran = true
		return nil
	}))
	require.True(t, ran)
	data, err := os.ReadFile(file)
	require.NoError(t, err)
	require.NotEmpty(t, data)
}

func TestMedian(t *testing.T) {
	for _, test := range []struct {
		values []float64
		want   float64
	}{
		{nil, 0}, {[]float64{3}, 3}, {[]float64{9, 1, 2}, 2}, {[]float64{4, 1, 2, 9}, 3},
	} {
		before := append([]float64{}, test.values...)
		require.Equal(t, test.want, measure.Median(test.values))
		require.ElementsMatch(t, before, test.values)
	}
}
