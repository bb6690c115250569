package fake

import (
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/dovetail-sdk/dovetail/cloudprovider"
)

// Exponential waits have the mean asked for, and a share of e^-k is longer than
// k means.
func TestExponential(t *testing.T) {
	const draws, mean = 20_000, time.Hour
	sum, longer := 0.0, [4]int{}
	for i := range draws {
		d := newDice(1, "test", fmt.Sprint(i)).exponential(mean)
		require.Positive(t, d)
		sum += float64(d)
		for k := range longer {
			if d > time.Duration(k)*mean {
				longer[k]++
			}
		}
	}
	require.InEpsilon(t, float64(mean), sum/draws, 0.02)
	for k, n := range longer {
		require.InDelta(t, math.Exp(-float64(k)), float64(n)/draws, 0.01, "longer than %d means", k)
	}
	require.Equal(t, maxWait, newDice(1, "x").exponential(math.MaxInt64))
}

func TestSpanIsDrawnFromEndToEnd(t *testing.T) {
	s := Span{Min: 3 * time.Millisecond, Max: 6 * time.Millisecond}
	seen := map[time.Duration]int{}
	for i := range 1000 {
		seen[newDice(2, fmt.Sprint(i)).in(s)]++
	}
	require.Len(t, seen, 4)
	for d := s.Min; d <= s.Max; d += time.Millisecond {
		require.InDelta(t, 250, seen[d], 60)
	}
	require.Equal(t, time.Second, newDice(0).in(Exactly(time.Second)))
	require.Equal(t, time.Second, newDice(0).in(Span{Min: time.Second}))
}

func TestStreamsDiffer(t *testing.T) {
	seen := map[uint64]string{}
	for seed := range uint64(20) {
		for _, names := range [][]string{nil, {"a"}, {"b"}, {"a", "b"}, {"ab"}, {"a", ""}} {
			what := fmt.Sprint(seed, names, len(names))
			n := newDice(seed, names...).Next()
			require.Empty(t, seen[n], what)
			seen[n] = what
		}
	}
}

// No price overflows on its way, up to the highest that walks.
func TestPriceOfTheDearest(t *testing.T) {
	cloud := &Cloud{now: time.Unix(3600, 0), start: time.Unix(0, 0), opts: Options{Spot: Spot{Every: time.Second, Swing: 0.9}}}
	for _, price := range []float64{1e-9, 1, 999.999, 1000} {
		for seed := range uint64(50) {
			s := &shelf{spot: true, walk: seed, ceiling: math.MaxInt64, offering: &cloudprovider.Offering{Price: price}}
			require.InDelta(t, price, cloud.price(s), price*0.9+1e-9)
		}
	}
	s := &shelf{spot: true, ceiling: math.MaxInt64, offering: &cloudprovider.Offering{Price: 1e7}}
	require.InDelta(t, 1e7, cloud.price(s), 0, "beyond it stands still")
}

// Waves start at zero, stay within one, use most of that, and move little by
// little.
func TestWave(t *testing.T) {
	for seed := range uint64(50) {
		lowest, highest := int64(0), int64(0)
		for tick := range int64(2000) {
			h := wave(seed, tick, 16)
			lowest, highest = min(lowest, h), max(highest, h)
			require.LessOrEqual(t, max(h, -h), int64(million))
			require.LessOrEqual(t, max(wave(seed, tick+1, 16)-h, h-wave(seed, tick+1, 16)), int64(2*million/16+1))
		}
		require.Zero(t, wave(seed, 0, 16))
		require.Less(t, lowest, int64(-million*8/10))
		require.Greater(t, highest, int64(million*8/10))
	}
}
