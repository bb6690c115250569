package resources_test

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestFits(t *testing.T) {
	tests := []struct {
		why             string
		need, available string
		exceeds         []name
	}{
		{"nothing fits anywhere", "", "", nil},
		{"exactly full", "cpu=2, pods=1", "cpu=2, pods=1", nil},
		{"one milli-CPU too many", "cpu=2001m", "cpu=2", []name{"cpu"}},
		{"missing counts as zero", "nvidia.com/gpu=1", "cpu=2", []name{"nvidia.com/gpu"}},
		{"zero of something missing", "nvidia.com/gpu=0, cpu=1", "cpu=2", nil},
		{"zero of something used up", "cpu=0", "cpu=0", nil},
		{"every shortfall, sorted", "pods=2, cpu=3, memory=1Gi", "cpu=1, memory=2Gi, pods=1", []name{"cpu", "pods"}},
		{"negative of something requested", "cpu=1", "cpu=-1", []name{"cpu"}},
		{"negative of something else", "cpu=1", "cpu=2, memory=-1", []name{"memory"}},
		{"negative blocks even nothing", "", "memory=-1", []name{"memory"}},
		{"negative blocks a zero request", "memory=0", "memory=-1", []name{"memory"}},
		{"a negative request frees nothing and needs nothing", "cpu=-1", "memory=1Gi", nil},
		{"a negative request cannot make up for a negative amount", "cpu=-5", "cpu=-1", []name{"cpu"}},
	}
	for _, tt := range tests {
		t.Run(tt.why, func(t *testing.T) {
			need, available := parse(tt.need), parse(tt.available)
			require.Equal(t, tt.exceeds, need.Exceeds(available))
			require.Equal(t, len(tt.exceeds) == 0, need.Fits(available))
		})
	}
}

func TestFitLaws(t *testing.T) {
	check(t, "Fits is Exceeds being empty", func(a, b randomList) bool {
		return a.Fits(b.list) == (len(a.Exceeds(b.list)) == 0)
	})
	check(t, "what fits without negatives leaves nothing negative", func(a, b randomList) bool {
		if len(a.Negative()) > 0 || !a.Fits(b.list) {
			return true
		}
		rest, err := b.Sub(a.list)
		return err == nil && rest.Negative() == nil
	})
	check(t, "what leaves a negative rest does not fit", func(a, b randomList) bool {
		rest, err := b.Sub(a.list)
		return err != nil || rest.Negative() == nil || !a.Fits(b.list)
	})
	check(t, "the larger of two lists fits where both do", func(a, b, c randomList) bool {
		return a.Max(b.list).Fits(c.list) == (a.Fits(c.list) && b.Fits(c.list))
	})
}

func TestFitsDoesNotAllocate(t *testing.T) {
	need, available := parse("cpu=1, memory=1Gi, pods=1"), parse("cpu=2, memory=2Gi, pods=2")
	require.Zero(t, testing.AllocsPerRun(100, func() { need.Fits(available) }))
	require.Zero(t, testing.AllocsPerRun(100, func() { need.Get("pods") }))
}
