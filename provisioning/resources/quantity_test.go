package resources_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/dovetail-sdk/dovetail/provisioning/resources"
)

func TestFromResourceListRounding(t *testing.T) {
	tests := []struct {
		name     name
		quantity string
		want     int64
	}{
		{"cpu", "2", 2000},
		{"cpu", "1500m", 1500},
		{"cpu", "0.1", 100},
		{"cpu", "1u", 1},    // up to the unit
		{"cpu", "1001u", 2}, // never down
		{"cpu", "1n", 1},
		{"cpu", "0", 0},
		{"cpu", "2k", 2_000_000},
		{"cpu", "-1500m", -1500},
		{"cpu", "-1u", -1}, // away from zero
		{"cpu", "-1001u", -2},
		{"cpu", "-1.0000000000000000000001", -1001}, // the slow form inside Quantity, too
		{"cpu", "1.0000000000000000000001", 1001},
		{"memory", "1Ki", 1024},
		{"memory", "1.5Gi", 3 << 29},
		{"memory", "128974848000m", 128974848},
		{"memory", "1m", 1},
		{"memory", "1e3", 1000},
		{"memory", "-1Gi", -1 << 30},
		{"memory", "9223372036854775807", math.MaxInt64},
		{"memory", "-9223372036854775808", math.MinInt64},
		{"memory", "9223372036854775806.5", math.MaxInt64},
		{"cpu", "9223372036854775807m", math.MaxInt64},
		{"cpu", "-9223372036854775808m", math.MinInt64},
		{"pods", "29", 29},
		{"pods", "1.5", 2},
		{"nvidia.com/gpu", "8", 8},
		{"hugepages-1Gi", "4Gi", 4 << 30},
	}
	for _, tt := range tests {
		q := resource.MustParse(tt.quantity)
		got, err := resources.FromResourceList(corev1.ResourceList{tt.name: q})
		require.NoError(t, err, "%s=%s", tt.name, tt.quantity)
		require.Equal(t, tt.want, got.Get(tt.name), "%s=%s", tt.name, tt.quantity)
	}
}

func TestFromResourceListRefuses(t *testing.T) {
	got, err := resources.FromResourceList(corev1.ResourceList{
		"cpu":         resource.MustParse("9223372036854776"),
		"memory":      *resource.NewScaledQuantity(1, 19),
		"pods":        *resource.NewScaledQuantity(-1, math.MaxInt32),
		"bad name":    resource.MustParse("1"),
		"nvidia.com/": resource.MustParse("1"), // odd, but it can be written
	})
	require.Equal(t, list{}, got)
	require.ErrorIs(t, err, resources.ErrOverflow)
	require.EqualError(t, err, `resource "bad name": not a resource name; use letters, digits, "-", "_", "." and "/", as in nvidia.com/gpu
resource cpu: 9223372036854776: amount out of range; the amount in milli-CPU must fit in a signed 64-bit integer, use a smaller quantity
resource memory: 10E: amount out of range; the amount in bytes must fit in a signed 64-bit integer, use a smaller quantity
resource pods: about -Inf: amount out of range; the amount in whole units must fit in a signed 64-bit integer, use a smaller quantity`)
}

func TestFromResourceListEdges(t *testing.T) {
	got, err := resources.FromResourceList(nil)
	require.NoError(t, err)
	require.Equal(t, list{}, got)
	// Exponents that no expansion of powers of ten would survive.
	got, err = resources.FromResourceList(corev1.ResourceList{
		"cpu":    *resource.NewScaledQuantity(1, math.MinInt32+3),
		"memory": *resource.NewScaledQuantity(-1, math.MinInt32+3),
		"pods":   *resource.NewScaledQuantity(0, math.MaxInt32),
	})
	require.NoError(t, err)
	require.Equal(t, "cpu=1m, memory=-1, pods=0", got.String())
}

// The input is shared by many goroutines in practice, and a Quantity caches and
// converts in place when used through a pointer.
func TestFromResourceListLeavesInputAlone(t *testing.T) {
	build := func() corev1.ResourceList {
		return corev1.ResourceList{
			"cpu":    resource.MustParse("-1.0000000000000000000001"),
			"memory": resource.MustParse("1.5Gi"),
			"pods":   *resource.NewScaledQuantity(5, 30),
		}
	}
	rl := build()
	_, err := resources.FromResourceList(rl)
	require.Error(t, err)
	require.Equal(t, build(), rl)
}

func TestResourceListFormats(t *testing.T) {
	rl := parse("cpu=1500m, ephemeral-storage=20Gi, hugepages-2Mi=4Mi, memory=1536Mi, nvidia.com/gpu=8, pods=110").ResourceList()
	want := map[name]string{
		"cpu": "1500m", "ephemeral-storage": "20Gi", "hugepages-2Mi": "4Mi", "memory": "1536Mi",
		"nvidia.com/gpu": "8", "pods": "110",
	}
	require.Len(t, rl, len(want))
	for n, text := range want {
		q := rl[n]
		require.Equal(t, text, q.String())
	}
	require.NotNil(t, list{}.ResourceList())
	require.Empty(t, list{}.ResourceList())
}

func FuzzFromResourceList(f *testing.F) {
	f.Add("cpu", int64(2), int32(0))
	f.Add("memory", int64(15), int32(-1))
	f.Add("pods", int64(-7), int32(18))
	f.Add("nvidia.com/gpu", int64(math.MinInt64), int32(math.MaxInt32))
	f.Add("cpu", int64(math.MaxInt64), int32(math.MinInt32))
	f.Fuzz(func(t *testing.T, n string, value int64, scale int32) {
		q := resource.NewScaledQuantity(value, resource.Scale(scale))
		got, err := resources.FromResourceList(corev1.ResourceList{name(n): *q})
		if err != nil {
			require.NotEmpty(t, err.Error())
			return
		}
		amount := got.Get(name(n))
		require.Equal(t, q.Sign(), sign(amount), "sign")
		if scale >= -18 && scale <= 18 {
			want := q.Value()
			if n == "cpu" {
				want = q.MilliValue()
			}
			require.Equal(t, want, amount, "kube-scheduler's amount")
		}
		back, err := resources.FromResourceList(got.ResourceList())
		require.NoError(t, err)
		require.Equal(t, got, back)
		again, err := resources.Parse(got.String())
		require.NoError(t, err)
		require.Equal(t, got, again)
	})
}

func sign(n int64) int {
	switch {
	case n > 0:
		return 1
	case n < 0:
		return -1
	}
	return 0
}
