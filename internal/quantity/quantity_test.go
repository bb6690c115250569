package quantity_test

import (
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
