package requirements_test

import (
	"math"
	"slices"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
)

// one parses the single requirement of a text.
func one(t testing.TB, text string) requirements.Requirement {
	t.Helper()
	s, err := requirements.Parse(text)
	require.NoError(t, err)
	require.Equal(t, 1, s.Len(), text)
	for r := range s.All() {
		return r
	}
	panic("unreachable")
}

func TestRequirementZeroValue(t *testing.T) {
	var r requirements.Requirement
	require.True(t, r.Equal(requirements.NotIn("")))
	require.True(t, r.AllowsAbsent())
	require.True(t, r.Has("anything"))
	require.Equal(t, `"" notin ()`, r.String())
}

func TestIntersectKeepsItsKey(t *testing.T) {
	require.Equal(t, "a = x", requirements.In("a", "x", "y").Intersect(requirements.In("b", "x")).String())
}

// TestLongLists walks the paths for lists of a catalog's size, of every pair of
// sizes, against membership one by one.
func TestLongLists(t *testing.T) {
	every := func(n, step, from int) []string {
		var out []string
		for i := from; i < from+n*step; i += step {
			out = append(out, strconv.Itoa(i))
		}
		return out
	}
	var lists [][]string
	for _, n := range []int{1, 2, 9, 40, 400} {
		for _, step := range []int{1, 3, 7} {
			lists = append(lists, every(n, step, 0), every(n, step, 5), every(n, step, 1000))
		}
	}
	for _, a := range lists {
		for _, b := range lists {
			in, other, notIn := requirements.In("k", a...), requirements.In("k", b...), requirements.NotIn("k", b...)
			var common, rest []string
			for _, v := range a {
				if slices.Contains(b, v) {
					common = append(common, v)
				} else {
					rest = append(rest, v)
				}
			}
			require.True(t, in.Intersect(other).Equal(requirements.In("k", common...)))
			require.True(t, in.Intersect(notIn).Equal(requirements.In("k", rest...)))
			require.True(t, notIn.Intersect(in).Equal(requirements.In("k", rest...)))
			require.True(t, notIn.Intersect(requirements.NotIn("k", a...)).Equal(requirements.NotIn("k", slices.Concat(a, b)...)))
			require.Equal(t, len(common) > 0, in.Overlaps(other))
			require.Equal(t, len(rest) > 0, in.Overlaps(notIn))
		}
	}
}

func TestConstructorsCopyTheirValues(t *testing.T) {
	values := []string{"b", "a", "b"}
	r, s := requirements.In("k", values...), requirements.NotIn("k", values...)
	require.Equal(t, []string{"b", "a", "b"}, values)
	values[0] = "z"
	require.Equal(t, "k in (a, b)", r.String())
	require.Equal(t, "k notin (a, b)", s.String())

	got, _ := r.Values()
	got[0] = "z"
	require.Equal(t, "k in (a, b)", r.String())

	r.NodeSelectorRequirements()[0].Values[0] = "z"
	s.NodeSelectorRequirements()[0].Values[0] = "z"
	require.Equal(t, "k in (a, b)", r.String())
	require.Equal(t, "k notin (a, b)", s.String())
}

func TestAny(t *testing.T) {
	tests := []struct{ text, want string }{
		{"k in (b, a)", "a"},
		{"k in (10, 9)", "10"},
		{`k = ""`, ""},
		{"k", "0"},
		{"k notin (0, 1, 3)", "2"},
		{"k notin (a)", "0"},
		{"k > 4", "5"},
		{"k > 4, k notin (5, 6)", "7"},
		{"k < 4", "0"},
		{"k < 1", "0"},
		{"k < 2, k notin (0, 1)", "00"},
		{"k > -9, k < -5", "-6"},
		{"k > -9, k < -5, k notin (-6)", "-7"},
		{"k > -9, k < -7, k notin (-8, -08)", "-008"},
		{"k > 4, k < 6, k notin (5)", "05"},
		{"k > 4, k < 6, k notin (5, 05)", "005"},
		{"k >= 9223372036854775807", "9223372036854775807"},
		{"k >= 9223372036854775807, k notin (9223372036854775807)", "09223372036854775807"},
		{"k <= -9223372036854775808, k notin (-9223372036854775808)", "-09223372036854775808"},
	}
	for _, tt := range tests {
		got, ok := one(t, tt.text).Any()
		require.True(t, ok, tt.text)
		require.Equal(t, tt.want, got, tt.text)
	}
	for _, text := range []string{"!k", "k in ()"} {
		got, ok := one(t, text).Any()
		require.False(t, ok, text)
		require.Empty(t, got, text)
	}
}

func TestWithMinValues(t *testing.T) {
	r := requirements.In("k", "a")
	require.Zero(t, r.MinValues())
	require.Equal(t, 2, r.WithMinValues(2).MinValues())
	require.Zero(t, r.MinValues(), "the receiver stays")
	require.True(t, r.WithMinValues(-1).Equal(r))
	require.False(t, r.WithMinValues(1).Equal(r))
}

func TestNew(t *testing.T) {
	tests := []struct {
		op     corev1.NodeSelectorOperator
		values []string
		want   string
	}{
		{"In", []string{"b", "a"}, "k in (a, b)"},
		{"NotIn", []string{"a"}, "k notin (a)"},
		{"NotIn", nil, "k notin ()"},
		{"Exists", nil, "k"},
		{"DoesNotExist", nil, "!k"},
		{"Gt", []string{"4"}, "k > 4"},
		{"Gte", []string{"+04"}, "k > 3"},
		{"Lt", []string{"4"}, "k < 4"},
		{"Lte", []string{"4"}, "k < 5"},
		{"Gt", []string{"9223372036854775807"}, "k in ()"},
	}
	for _, tt := range tests {
		r, err := requirements.New("k", tt.op, tt.values...)
		require.NoError(t, err)
		require.Equal(t, tt.want, r.String())
	}
}

func TestNewErrors(t *testing.T) {
	tests := []struct {
		op     corev1.NodeSelectorOperator
		values []string
		want   string
	}{
		{"In", nil, `label "k": operator In needs at least one value; add one, or use DoesNotExist if the label must be absent`},
		{"Exists", []string{"a"}, `label "k": operator Exists takes no values; remove them, or use In or NotIn`},
		{"Gt", []string{"four"}, `label "k": operator Gt needs exactly one integer of at most 64 bits, found ["four"]; write one such as "4"`},
		{"Lte", nil, `label "k": operator Lte needs exactly one integer of at most 64 bits, found no value; write one such as "4"`},
		{"Lt", []string{"1", "2"}, `label "k": operator Lt needs exactly one integer of at most 64 bits, found ["1" "2"]; write one such as "4"`},
		{"Like", nil, `label "k": operator "Like" is not known; use one of In, NotIn, Exists, DoesNotExist, Gt, Gte, Lt, Lte`},
	}
	for _, tt := range tests {
		r, err := requirements.New("k", tt.op, tt.values...)
		require.EqualError(t, err, tt.want)
		require.True(t, r.Equal(requirements.Requirement{}))
	}
}

// FuzzInteger holds the reading of integers against strconv, by which
// kube-scheduler reads them.
func FuzzInteger(f *testing.F) {
	for _, s := range []string{
		"", "0", "-0", "+7", "007", "-", "+", "--1", "+-1", "1_000", "0x1", "1.0", " 1", "1 ", "٣",
		"9223372036854775807", "9223372036854775808", "-9223372036854775808", "-9223372036854775809",
		"18446744073709551616", "00000000000000000000000000000001", "99999999999999999999",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		n, err := strconv.ParseInt(s, 10, 64)
		require.Equal(t, err == nil, requirements.Gte("k", math.MinInt64).Has(s))
		if err != nil {
			return
		}
		require.True(t, requirements.Gte("k", n).Intersect(requirements.Lte("k", n)).Has(s))
		require.False(t, requirements.Gt("k", n).Has(s))
		require.False(t, requirements.Lt("k", n).Has(s))
	})
}
