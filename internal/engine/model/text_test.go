package model_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"github.com/dovetail-sdk/dovetail/internal/engine/model"
)

func TestQuantities(t *testing.T) {
	const ki, mi, gi = 1 << 10, 1 << 20, 1 << 30
	for _, tt := range []struct {
		name    corev1.ResourceName
		amounts []int64
		want    string
	}{
		{"memory", []int64{8 * gi, 4 * gi}, "8Gi 4Gi"},
		{"memory", []int64{8 * gi, 0, 1536 * mi}, "8192Mi 0Mi 1536Mi"},
		{"memory", []int64{10 * gi, 8162095000}, "10240Mi 7783.98Mi"},
		{"ephemeral-storage", []int64{240e9, 213552*mi + 770*ki + 1}, "228881.83Mi 213552.75Mi"},
		{"memory", []int64{gi, gi + 1}, "1073741824 1073741825"}, // which are the same in hundredths of a MiB
		{"memory", []int64{8 * gi, 900}, "8589934592 900"},
		{"memory", []int64{1 << 40, 100 * gi}, "1024Gi 100Gi"},
		{"memory", []int64{-ki, gi}, "-1Ki 1Gi"},
		{"cpu", []int64{2000, 4000}, "2 4"},
		{"cpu", []int64{2000, 1930}, "2000m 1930m"},
		{"cpu", []int64{500_000, 100, 447_510}, "500 0.1 447.51"},
		{"pods", []int64{3, 110}, "3 110"},
		{"hugepages-2Mi", []int64{2 * gi, 2 * mi}, "2048Mi 2Mi"},
	} {
		require.Equal(t, tt.want, strings.Join(model.Quantities(tt.name, tt.amounts...), " "))
	}
}
