package overlay_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/dovetail-sdk/dovetail/cloudprovider/overlay"
)

func TestAdjustPrice(t *testing.T) {
	tests := []struct {
		price      float64
		adjustment string
		want       float64
	}{
		{1, "+10%", 1.1},
		{1, "-15.5%", 0.845},
		{2, "+.5%", 2.01},
		{2, "+250%", 7},
		{0.5, "+0.05", 0.55},
		{2, "-1.5", 0.5},
		{2, "+.5", 2.5},
		{2, "-0", 2},
		{3, "-100%", 3e-7},
		{3, "-3", 3e-7},
		{3, "-400", 3e-7},
		{0.3, "-0.30000000000000001", 0.3e-7},
		{0, "-10%", 0},
		{0, "-1", 0},
		{0, "+1", 1},
		{math.MaxFloat64, "+10%", math.MaxFloat64},
		{math.Inf(1), "-10%", math.Inf(1)},
	}
	for _, test := range tests {
		t.Run(test.adjustment, func(t *testing.T) {
			got, err := overlay.AdjustPrice(test.price, test.adjustment)
			require.NoError(t, err)
			require.InDelta(t, test.want, got, test.want*1e-12)
		})
	}
	got, err := overlay.AdjustPrice(math.NaN(), "+1")
	require.NoError(t, err)
	require.True(t, math.IsNaN(got))
}

func TestAdjustPriceFaults(t *testing.T) {
	for _, text := range []string{"", "1", "10%", "+", "-", "%", "+%", "+1e3", "-101%", "-100.5%", "+1.", "+-1", "+1%%", "+0x1", "+Inf", "+1_0", " +1"} {
		got, err := overlay.AdjustPrice(2, text)
		require.ErrorContains(t, err, "spec.priceAdjustment", "%q", text)
		require.Equal(t, 2.0, got, "%q", text)
	}
}

// FuzzAdjustPrice: every text is refused, or gives a price that can be charged
// and moves the way its sign says.
func FuzzAdjustPrice(f *testing.F) {
	for _, seed := range []string{"+10%", "-15.5%", "+0.05", "-1.2", "-100%", "+.5", "-0", "1", "+", "-%", "+99999999999999999999999999999999999999"} {
		f.Add(0.25, seed)
	}
	f.Fuzz(func(t *testing.T, price float64, text string) {
		got, err := overlay.AdjustPrice(price, text)
		if err != nil {
			require.Equal(t, math.Float64bits(price), math.Float64bits(got))
			return
		}
		if math.IsNaN(price) || math.IsInf(price, 0) || price <= 0 {
			return
		}
		require.False(t, math.IsNaN(got) || math.IsInf(got, 0))
		require.GreaterOrEqual(t, got, price*1e-7)
		if text[0] == '-' {
			// A percentage multiplies and divides, which may round up by a bit.
			require.LessOrEqual(t, got, price*(1+1e-15))
		} else if price < math.MaxFloat64/1e4 {
			require.GreaterOrEqual(t, got, price*(1-1e-15))
		}
	})
}
