package when_test

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/dovetail-sdk/dovetail/internal/when"
)

type condition = when.Condition[string, int]

// even is true of even calls, and remembers in asked what it was asked.
func even(asked *[]int) condition {
	return when.New("Even()", func(string) when.Test[int] {
		return func(call int) bool {
			if asked != nil {
				*asked = append(*asked, call)
			}
			return call%2 == 0
		}
	})
}

// met says which of the calls 1 to 6 meet a condition.
func met(w condition) (calls []int) {
	is := w.Compile("cloud")
	for call := 1; call <= 6; call++ {
		if is(call) {
			calls = append(calls, call)
		}
	}
	return calls
}

func TestConditions(t *testing.T) {
	times, skip, every := when.Times[string, int], when.Skip[string, int], when.Every[string, int]
	for _, c := range []struct {
		w    condition
		text string
		want []int
	}{
		{condition{}, "", []int{1, 2, 3, 4, 5, 6}},
		{even(nil), "Even()", []int{2, 4, 6}},
		{times(2), "Times(2)", []int{1, 2}},
		{skip(4), "Skip(4)", []int{5, 6}},
		{every(3), "Every(3)", []int{3, 6}},
		{when.Counting[string]("Second()", 2, 1, func(seen int) bool { return seen == 2 }, even(nil).Compile("")), "Second()", []int{4}},
		{when.And([]condition{}), "And()", []int{1, 2, 3, 4, 5, 6}},
		{when.Or([]condition{}), "Or()", nil},
		{when.Not(even(nil)), "Not(Even())", []int{1, 3, 5}},
		{when.And([]condition{even(nil), times(2)}), "And(Even(), Times(2))", []int{2, 4}},
		{when.And([]condition{times(2), even(nil)}), "And(Times(2), Even())", []int{2}},
		{when.Or([]condition{even(nil), times(2)}), "Or(Even(), Times(2))", []int{1, 2, 3, 4, 6}},
	} {
		require.Equal(t, c.text, c.w.String())
		require.Equal(t, c.want, met(c.w), c.text)
		require.Equal(t, c.want, met(c.w), "%s keeps counts of its own", c.text)
		require.Empty(t, c.w.Errs())
	}
}

// TestOrder holds that what comes after the condition that decides is not asked.
func TestOrder(t *testing.T) {
	var asked []int
	met(when.And([]condition{even(nil), even(&asked)}))
	require.Equal(t, []int{2, 4, 6}, asked)
	asked = nil
	met(when.Or([]condition{even(nil), even(&asked)}))
	require.Equal(t, []int{1, 3, 5}, asked)
}

func TestErrs(t *testing.T) {
	bad := when.Plain[string]("Bad()", func(int) bool { return true }, errors.New("bad"))
	all := when.Not(when.Or([]condition{bad, when.And([]condition{when.Every[string, int](0), when.Times[string, int](-1)}), bad}))
	require.EqualError(t, errors.Join(all.Errs()...), "bad\nEvery(0): 0; use 1 or more\nTimes(-1): -1; use 0 or more\nbad")
	met(all) // and does no harm
	_ = append(all.Errs(), errors.New("another"))
	require.Len(t, all.Errs(), 4)
}

func TestQuoted(t *testing.T) {
	require.Equal(t, `"a", "b\""`, when.Quoted([]string{"a", `b"`}))
	require.Empty(t, when.Quoted(nil))
}
