package fault_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/dovetail-sdk/dovetail/internal/fault"
)

var errBroken = errors.New("broken")

func none(fault.Fault) []error { return nil }

// hits returns which of the calls, counted from 1, a fault befalls.
func hits(t *testing.T, seed uint64, f fault.Fault, calls ...fault.Call) (out []int) {
	t.Helper()
	var s fault.Script
	require.NoError(t, s.Add([]fault.Fault{f}, seed, none))
	for i, c := range calls {
		if errs := s.Meet(c); len(errs) > 0 {
			require.Equal(t, []error{f.Err}, errs)
			out = append(out, i+1)
		}
	}
	return out
}

func call(op, pool, zone string, at time.Duration) fault.Call {
	is := func(want string) func(string) bool { return func(got string) bool { return got == want } }
	return fault.Call{Op: op, At: at, Pool: is(pool), Zone: is(zone)}
}

// Counts choose among the calls that meet all else.
func TestCounts(t *testing.T) {
	calls := make([]fault.Call, 12)
	for i := range calls {
		calls[i] = call("create", "p", "a", 0)
	}
	for name, tc := range map[string]struct {
		fault fault.Fault
		want  []int
	}{
		"all":                   {fault.Fault{}, []int{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}},
		"the second":            {fault.Fault{Nth: 2}, []int{2}},
		"the first three":       {fault.Fault{Times: 3}, []int{1, 2, 3}},
		"fifth and sixth":       {fault.Fault{Nth: 5, Times: 2}, []int{5, 6}},
		"each fifth":            {fault.Fault{Every: 5}, []int{5, 10}},
		"each third of the six": {fault.Fault{Nth: 4, Times: 6, Every: 3}, []int{6, 9}},
		"all by chance":         {fault.Fault{Percent: 100, Nth: 12}, []int{12}},
	} {
		tc.fault.Err = errBroken
		require.Equal(t, tc.want, hits(t, 1, tc.fault, calls...), name)
	}
}

// A call has to meet every field, and only calls that do are counted.
func TestFields(t *testing.T) {
	calls := []fault.Call{
		call("list", "p", "a", 0), call("CREATE", "q", "a", 0), call("create", "p", "b", 0),
		call("create", "p", "a", 0), call("create", "p", "a", time.Minute), call("create", "p", "a", time.Hour),
	}
	for name, tc := range map[string]struct {
		fault fault.Fault
		want  []int
	}{
		"op":              {fault.Fault{Op: "Create"}, []int{2, 3, 4, 5, 6}},
		"pool":            {fault.Fault{Pool: "p"}, []int{1, 3, 4, 5, 6}},
		"zone":            {fault.Fault{Zone: "a", Nth: 3}, []int{4}},
		"from":            {fault.Fault{From: time.Minute}, []int{5, 6}},
		"until":           {fault.Fault{Op: "create", Until: time.Hour}, []int{2, 3, 4, 5}},
		"between":         {fault.Fault{From: time.Second, Until: time.Hour}, []int{5}},
		"all, the second": {fault.Fault{Op: "create", Pool: "p", Zone: "a", Nth: 2}, []int{5}},
	} {
		tc.fault.Err = errBroken
		require.Equal(t, tc.want, hits(t, 1, tc.fault, calls...), name)
	}
}

// Chance has about the share asked for, depends on the seed alone, and differs between
// faults of one script.
func TestPercent(t *testing.T) {
	calls := make([]fault.Call, 2000)
	f := fault.Fault{Percent: 30, Err: errBroken}
	first := hits(t, 1, f, calls...)
	require.InDelta(t, 600, len(first), 60)
	require.Equal(t, first, hits(t, 1, f, calls...))
	require.NotEqual(t, first, hits(t, 2, f, calls...))

	var s fault.Script
	other := fault.Fault{Percent: 30, Err: fault.ErrLost}
	require.NoError(t, s.Add([]fault.Fault{f, other}, 1, none))
	both := 0
	for _, c := range calls {
		if len(s.Meet(c)) == 2 {
			both++
		}
	}
	require.InDelta(t, 180, both, 60, "two faults have chance of their own")
}

// Each fault counts every call that meets it, whatever befell that call before.
func TestMeetAndClear(t *testing.T) {
	var s fault.Script
	require.NoError(t, s.Add([]fault.Fault{{Nth: 2, Err: errBroken}, {Times: 2, Err: fault.ErrTwice}}, 1, none))
	require.Equal(t, []error{fault.ErrTwice}, s.Meet(fault.Call{}))
	require.Equal(t, []error{errBroken, fault.ErrTwice}, s.Meet(fault.Call{}))
	require.Empty(t, s.Meet(fault.Call{}))
	require.NoError(t, s.Add([]fault.Fault{{Err: fault.ErrHang}}, 1, none))
	s.Clear()
	require.Empty(t, s.Meet(fault.Call{}))
}

// A script refuses all faults or none, and says everything that is wrong.
func TestAddFaults(t *testing.T) {
	var s fault.Script
	err := s.Add([]fault.Fault{
		{Nth: -1, Times: -2, Every: -3, Percent: 101, From: -time.Second, Until: -time.Second},
		{Err: errBroken},
		{From: time.Hour, Until: time.Hour, Err: fault.Partly{}},
		{Err: fault.Delay(-time.Second)},
		{Err: fault.Drip(0)},
		{Op: "fly", Err: errBroken},
	}, 1, func(f fault.Fault) (errs []error) {
		if f.Op != "" {
			errs = append(errs, fault.Wrong("Op", "%q; use walk", f.Op))
		}
		return errs
	})
	require.EqualError(t, err, `fault 0: Nth: -1; use zero or more
fault 0: Times: -2; use zero or more
fault 0: Every: -3; use zero or more
fault 0: Percent: 101; use 0 to 100, zero being all
fault 0: From: -1s; use zero or more
fault 0: Until: -1s; use more than From, or zero for ever
fault 0: Err: missing; say what becomes of the call
fault 2: Until: 1h0m0s; use more than From, or zero for ever
fault 2: Err: Partly without an error; say which one
fault 3: Err: Delay: -1s; use zero or more
fault 4: Err: Drip: 0; use one byte or more
fault 5: Op: "fly"; use walk`)
	require.Empty(t, s.Meet(fault.Call{}))
}

// What becomes of a call reads as a sentence in a log, and what it wraps can be asked
// for.
func TestTexts(t *testing.T) {
	for want, err := range map[string]error{
		"a delay of 2s":                                 fault.Delay(2 * time.Second),
		"an answer in pieces of 7 bytes":                fault.Drip(7),
		"half of the call, and then: broken":            fault.Partly{Err: errBroken},
		"refused: " + fmt.Sprint(fault.Refusal{}.Scope): fault.Refusal{},
	} {
		require.EqualError(t, err, want)
	}
	require.ErrorIs(t, fault.Partly{Err: errBroken}, errBroken)
	require.ErrorIs(t, fault.Wrong("Err", "no %w", errBroken), errBroken)
}
