package provisioning_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"github.com/dovetail-sdk/dovetail/provisioning"
)

// TestAmounts holds how amounts are written for people: many CPUs in whole ones, and
// bytes of which a share was taken without their last digits, but never more than
// there is.
func TestAmounts(t *testing.T) {
	for _, c := range []struct {
		resource corev1.ResourceName
		largest  int64
		want     string
	}{
		{"cpu", 1930, "1.93"},
		{"cpu", 9999, "9.999"},
		{"cpu", 32000, "32"},
		{"cpu", 382970, "382.97"},
		{"cpu", 382971, "382.971"},
		{"memory", 29 << 30, "29Gi"},
		{"memory", 7001 << 20, "7001Mi"},
		{"memory", 7001<<20 + 1024, "7001Mi"},
		{"memory", 7001<<20 + 1, "7001Mi"},
		{"memory", 7001<<20 - 1, "7000.99Mi"},
		{"memory", 7001<<20 + 104_858, "7001.1Mi"},
		{"memory", 1000, "1000"},
		{"ephemeral-storage", 1<<20 + 1<<19 + 1, "1.5Mi"},
		{"example.com/widget", 123_456_789, "123456789"},
	} {
		s := provisioning.Shortfall{Resource: c.resource, Requested: 1 << 40, Largest: c.largest, InstanceType: "x"}
		require.Contains(t, s.String(), " no suitable instance type has more than "+c.want+" (x)")
	}
}
