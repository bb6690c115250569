package resources_test

import (
	"maps"
	"math"
	"math/rand"
	"reflect"
	"testing"
	"testing/quick"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"github.com/dovetail-sdk/dovetail/provisioning/resources"
)

type (
	list = resources.List
	name = corev1.ResourceName
)

var parse = resources.MustParse

func TestNew(t *testing.T) {
	amounts := map[name]int64{"pods": 29, "cpu": 2000, "nvidia.com/gpu": 0}
	l := resources.New(amounts)
	amounts["cpu"] = 1
	require.Equal(t, "cpu=2, nvidia.com/gpu=0, pods=29", l.String())
	require.Equal(t, 3, l.Len())
	require.Equal(t, list{}, resources.New(nil))
	require.Equal(t, list{}, resources.New(map[name]int64{}))
}

func TestLookupTellsZeroFromAbsent(t *testing.T) {
	l := parse("cpu=0, memory=1Gi")
	tests := []struct {
		name   name
		amount int64
		listed bool
	}{
		{"cpu", 0, true},
		{"memory", 1 << 30, true},
		{"pods", 0, false},
		{"", 0, false},
	}
	for _, tt := range tests {
		amount, listed := l.Lookup(tt.name)
		require.Equal(t, tt.amount, amount, tt.name)
		require.Equal(t, tt.listed, listed, tt.name)
		require.Equal(t, tt.amount, l.Get(tt.name), tt.name)
	}
}

func TestWithAndWithout(t *testing.T) {
	base := parse("cpu=1, pods=3")
	for _, tt := range []struct {
		name name
		want string
	}{
		{"aaa", "aaa=7, cpu=1, pods=3"},
		{"cpu", "cpu=7m, pods=3"},
		{"memory", "cpu=1, memory=7, pods=3"},
		{"pods", "cpu=1, pods=7"},
		{"zzz", "cpu=1, pods=3, zzz=7"},
	} {
		require.Equal(t, tt.want, base.With(tt.name, 7).String())
		require.Equal(t, "cpu=1, pods=3", base.String(), "receiver changed")
	}
	require.Equal(t, "cpu=7m", list{}.With("cpu", 7).String())
	require.Equal(t, "pods=3", base.Without("cpu", "memory").String())
	require.Equal(t, list{}, base.Without("cpu", "pods"))
	require.Equal(t, "cpu=1, pods=3", base.String(), "receiver changed")
}

// Copies made with With must not share spare room with each other.
func TestWithDoesNotAlias(t *testing.T) {
	base := list{}.With("cpu", 1)
	a, b := base.With("pods", 1), base.With("pods", 2)
	require.Equal(t, int64(1), a.Get("pods"))
	require.Equal(t, int64(2), b.Get("pods"))
}

func TestAllIsSortedAndStops(t *testing.T) {
	l := parse("pods=1, cpu=2, memory=3")
	var names []name
	for n, amount := range l.All() {
		require.Equal(t, l.Get(n), amount)
		names = append(names, n)
		if n == "memory" {
			break
		}
	}
	require.Equal(t, []name{"cpu", "memory"}, names)
}

func TestEqual(t *testing.T) {
	require.True(t, parse("cpu=1, pods=2").Equal(parse("pods=2, cpu=1000m")))
	require.True(t, list{}.Equal(resources.New(nil)))
	require.False(t, parse("cpu=0").Equal(list{}))
	require.False(t, parse("cpu=1").Equal(parse("cpu=2")))
	require.False(t, parse("cpu=1").Equal(parse("pods=1")))
}

func TestNegative(t *testing.T) {
	require.Nil(t, list{}.Negative())
	require.Nil(t, parse("cpu=0, pods=1").Negative())
	require.Equal(t, []name{"cpu", "pods"}, parse("pods=-1, memory=1, cpu=-1m").Negative())
}

// randomList draws from few names and mostly small amounts, so that two lists
// overlap, agree and disagree often.
type randomList struct{ list }

func (randomList) Generate(r *rand.Rand, _ int) reflect.Value {
	names := []name{"cpu", "ephemeral-storage", "hugepages-2Mi", "memory", "nvidia.com/gpu", "pods"}
	amounts := map[name]int64{}
	for _, n := range names {
		switch r.Intn(8) {
		case 0, 1, 2:
			amounts[n] = int64(r.Intn(7) - 3)
		case 3:
			amounts[n] = r.Int63() >> r.Intn(63)
		case 4:
			amounts[n] = -r.Int63() >> r.Intn(63)
		case 5:
			amounts[n] = []int64{math.MaxInt64, math.MinInt64, -math.MaxInt64, 1 << 62}[r.Intn(4)]
		}
	}
	return reflect.ValueOf(randomList{resources.New(amounts)})
}

func check(t *testing.T, law string, f any) {
	t.Helper()
	config := &quick.Config{MaxCount: 3000, Rand: rand.New(rand.NewSource(1))}
	if err := quick.Check(f, config); err != nil {
		t.Errorf("%s: %v", law, err)
	}
}

func union(l, m list) map[name]bool {
	names := map[name]bool{}
	for n := range l.All() {
		names[n] = true
	}
	for n := range m.All() {
		names[n] = true
	}
	return names
}

// pointwise says whether got lists exactly the names of l and m and f holds
// for each.
func pointwise(l, m, got list, f func(a, b, c int64) bool) bool {
	for n := range union(l, m) {
		c, listed := got.Lookup(n)
		if !listed || !f(l.Get(n), m.Get(n), c) {
			return false
		}
	}
	return got.Len() == len(union(l, m))
}

func TestListLaws(t *testing.T) {
	check(t, "maximum and minimum go by name", func(a, b randomList) bool {
		return pointwise(a.list, b.list, a.Max(b.list), func(x, y, z int64) bool { return z == max(x, y) }) &&
			pointwise(a.list, b.list, a.Min(b.list), func(x, y, z int64) bool { return z == min(x, y) })
	})
	check(t, "maximum and minimum commute", func(a, b randomList) bool {
		return a.Max(b.list).Equal(b.Max(a.list)) && a.Min(b.list).Equal(b.Min(a.list))
	})
	check(t, "merge takes the right where it lists", func(a, b randomList) bool {
		got := a.Merge(b.list)
		for n := range union(a.list, b.list) {
			want, listed := b.Lookup(n)
			if !listed {
				want = a.Get(n)
			}
			if v, ok := got.Lookup(n); !ok || v != want {
				return false
			}
		}
		return got.Len() == len(union(a.list, b.list))
	})
	check(t, "merge associates", func(a, b, c randomList) bool {
		return a.Merge(b.list).Merge(c.list).Equal(a.Merge(b.Merge(c.list)))
	})
	check(t, "the text reads back", func(a randomList) bool {
		got, err := resources.Parse(a.String())
		return err == nil && reflect.DeepEqual(got, a.list)
	})
	check(t, "quantities read back", func(a randomList) bool {
		got, err := resources.FromResourceList(a.ResourceList())
		return err == nil && reflect.DeepEqual(got, a.list)
	})
	check(t, "a list is rebuilt from All", func(a randomList) bool {
		return reflect.DeepEqual(resources.New(maps.Collect(a.All())), a.list)
	})
}
