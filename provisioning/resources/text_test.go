package resources_test

import (
	"encoding/json"
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/dovetail-sdk/dovetail/provisioning/resources"
)

func TestParse(t *testing.T) {
	tests := []struct{ text, want string }{
		{"", ""},
		{" \t\n", ""},
		{"cpu=2, memory=8Gi, pods=29", "cpu=2, memory=8Gi, pods=29"},
		{"pods=29,memory=8Gi,cpu=2000m", "cpu=2, memory=8Gi, pods=29"},
		{" cpu = 0.5 ", "cpu=500m"},
		{"cpu=1e3, memory=1E", "cpu=1000, memory=976562500000000Ki"},
		{"memory=1.5Gi", "memory=1536Mi"},
		{"memory=-1Ki", "memory=-1Ki"},
		{"cpu=0, memory=0", "cpu=0, memory=0"},
		{"memory=7Ei", "memory=7Ei"},
		{"nvidia.com/gpu=8, example.com/a_b-c=1000", "example.com/a_b-c=1000, nvidia.com/gpu=8"},
		{"cpu=9223372036854775807m", "cpu=9223372036854775807m"},
		{"memory=-9223372036854775808", "memory=-9223372036854775808"},
	}
	for _, tt := range tests {
		got, err := resources.Parse(tt.text)
		require.NoError(t, err, tt.text)
		require.Equal(t, tt.want, got.String(), tt.text)
	}
}

func TestParseRefuses(t *testing.T) {
	tests := []struct{ text, want string }{
		{"cpu", `"cpu": no "=" in it; write name=quantity, as in cpu=2`},
		{"cpu=1,", `"": no "=" in it; write name=quantity, as in cpu=2`},
		{"=1", `resource "": not a resource name; use letters, digits, "-", "_", "." and "/", as in nvidia.com/gpu`},
		{"a b=1", `resource "a b": not a resource name; use letters, digits, "-", "_", "." and "/", as in nvidia.com/gpu`},
		{"cpu=", `resource cpu: "" is not a quantity; write a number with an optional suffix, as in 500m, 2 or 8Gi`},
		{"cpu=two", `resource cpu: "two" is not a quantity; write a number with an optional suffix, as in 500m, 2 or 8Gi`},
		{"cpu=1, cpu=1", "resource cpu: listed twice; keep one of the amounts"},
		{"pods=9223372036854775808", "resource pods: 9223372036854775808: amount out of range; the amount in whole units must fit in a signed 64-bit integer"},
		{"memory=8Ei", "resource memory: 8Ei: amount out of range; the amount in bytes must fit in a signed 64-bit integer"},
		{"memory=-9Ei", "resource memory: -9Ei: amount out of range; the amount in bytes must fit in a signed 64-bit integer"},
		{"cpu=1e16", "resource cpu: 1e16: amount out of range; the amount in milli-CPU must fit in a signed 64-bit integer"},
		{"cpu=1e2147483647", `resource cpu: "1e2147483647" has an exponent of more than 3 digits; write the amount out`},
		{"cpu=" + strings.Repeat("1", 65), "resource cpu: quantity of 65 characters; use at most 64"},
		{"cpu=x, b, cpu=1, cpu=2", `resource cpu: "x" is not a quantity; write a number with an optional suffix, as in 500m, 2 or 8Gi
"b": no "=" in it; write name=quantity, as in cpu=2
resource cpu: listed twice; keep one of the amounts`},
	}
	for _, tt := range tests {
		got, err := resources.Parse(tt.text)
		require.EqualError(t, err, tt.want, tt.text)
		require.Equal(t, list{}, got)
		require.Equal(t, strings.Contains(tt.want, "out of range"), errors.Is(err, resources.ErrOverflow), tt.text)
	}
	require.PanicsWithValue(t, `resources.MustParse: "cpu": no "=" in it; write name=quantity, as in cpu=2`,
		func() { resources.MustParse("cpu") })
}

func TestFormat(t *testing.T) {
	tests := []struct {
		name   name
		amount int64
		want   string
	}{
		{"cpu", 0, "0"},
		{"cpu", 1, "1m"},
		{"cpu", -2000, "-2"},
		{"cpu", 3_000_000, "3000"},
		{"cpu", math.MinInt64, "-9223372036854775808m"},
		{"memory", 0, "0"},
		{"memory", 1023, "1023"},
		{"memory", 1024, "1Ki"},
		{"memory", 1025, "1025"},
		{"memory", 3 << 29, "1536Mi"},
		{"memory", -5 << 40, "-5Ti"},
		{"memory", 7 << 60, "7Ei"},
		{"memory", math.MaxInt64, "9223372036854775807"},
		{"memory", math.MinInt64, "-9223372036854775808"},
		{"ephemeral-storage", 1 << 50, "1Pi"},
		{"hugepages-2Mi", 2 << 20, "2Mi"},
		{"pods", 1024, "1024"},
		{"nvidia.com/gpu", 1000, "1000"},
	}
	for _, tt := range tests {
		require.Equal(t, tt.want, resources.Format(tt.name, tt.amount), "%s %d", tt.name, tt.amount)
	}
}

func TestTextMarshalling(t *testing.T) {
	type holder struct{ Capacity, Limits resources.List }
	in := holder{Capacity: parse("cpu=2, memory=8Gi")}
	data, err := json.Marshal(in)
	require.NoError(t, err)
	require.JSONEq(t, `{"Capacity": "cpu=2, memory=8Gi", "Limits": ""}`, string(data))
	var out holder
	require.NoError(t, json.Unmarshal(data, &out))
	require.Equal(t, in, out)

	l := parse("cpu=1")
	require.Error(t, l.UnmarshalText([]byte("nonsense")))
	require.Equal(t, "cpu=1", l.String(), "changed by a failed call")
}

func FuzzParse(f *testing.F) {
	for _, seed := range []string{"", "cpu=2, memory=8Gi, pods=29", "cpu=-1u", "memory=8Ei", "a=1e999,b=2", "cpu=1, cpu=2",
		"memory=9223372036854775807.5", "x=0.00000000000000000000000001Ki", "cpu=.5", "cpu=+5.", "memory=-8Ei"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		l, err := resources.Parse(text)
		if err != nil {
			require.Zero(t, l.Len())
			return
		}
		again, err := resources.Parse(l.String())
		require.NoError(t, err, l.String())
		require.Equal(t, l, again)
		require.Equal(t, l.String(), again.String())
		for n, amount := range l.All() {
			q, err := resource.ParseQuantity(resources.Format(n, amount))
			require.NoError(t, err, "Kubernetes reads what Format writes")
			require.Equal(t, sign(amount), q.Sign())
		}
	})
}
