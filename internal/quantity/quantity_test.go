package quantity_test

import (
	"cmp"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/dovetail-sdk/dovetail/internal/quantity"
)

func TestEndless(t *testing.T) {
	for _, text := range []string{
		"1e-99999999", "1E-2147483647", "0.1e-2000000000", " 1e-99999999\n", "+1e+00010000", "0e99999", "1e10000",
		"1e99999999999999999999", strings.Repeat("1", 101), strings.Repeat("0", 101) + "Gi", "1234567890123456789e1000", "0.00000000000000001e-1000",
	} {
		require.True(t, quantity.Endless(text), text)
	}
	for _, text := range []string{
		"", "e", "1", "100m", "1Ei", "5E", "12.5E", "1e3", "1e-3", "1e00005", "1e0000000005", "1e9999", "1E-9999",
		"123456789012345678e9999", "1234567890123456789e999", strings.Repeat("1", 100), "vcpus * 1e-99999", "eggplants", "1e99999x",
		strings.Repeat("vcpus + ", 100) + "1",
	} {
		require.False(t, quantity.Endless(text), text)
		if q, err := resource.ParseQuantity(text); err == nil {
			require.NotEmpty(t, q.String()) // and is worked out at once
		}
	}
}

// Quantities of any exponent are compared and shown at once.
func TestCompare(t *testing.T) {
	ascending := []string{"-1E2147483647", "-1", "0", "1n", "1m", "1", "1001m", "9223372036854775807", "1e300", "92e1650982911"}
	for i, a := range ascending {
		for j, b := range ascending {
			require.Equal(t, cmp.Compare(i, j), quantity.Compare(resource.MustParse(a), resource.MustParse(b)), "%s and %s", a, b)
		}
		require.NotEmpty(t, quantity.Text(resource.MustParse(a)))
	}
	require.Zero(t, quantity.Compare(resource.MustParse("1.5"), resource.MustParse("1500m")))
	require.Zero(t, quantity.Compare(*resource.NewScaledQuantity(0, math.MaxInt32), resource.Quantity{}))
	for text, want := range map[string]bool{"0": true, "-1": true, "1n": true, "9223372036854775807": true, "92e1650982911": false} {
		require.Equal(t, want, quantity.Exact(resource.MustParse(text)), text)
	}
	require.False(t, quantity.Exact(*resource.NewScaledQuantity(1, math.MinInt32)))
}
