package fake_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/fake"
)

// calls makes six calls to a cloud with one fault, and says which of them it befell:
// get on an instance in zone a, get on one in zone b, list, twice over, ten seconds
// apart.
func calls(t *testing.T, f fake.Fault) string {
	t.Helper()
	cloud := world(t, fake.Options{Seed: 5})
	a, b := mustLaunch(t, cloud, "a", spotA), mustLaunch(t, cloud, "b", spotB)
	f.Err = errors.New("hit")
	require.NoError(t, cloud.Script(f))
	out := ""
	for i := range 6 {
		var err error
		switch i % 3 {
		case 0:
			_, err = cloud.Get(t.Context(), a.ID)
		case 1:
			_, err = cloud.Get(t.Context(), b.ID)
		case 2:
			_, err = cloud.List(t.Context())
		}
		out += map[bool]string{true: "x", false: "."}[err != nil]
		cloud.Advance(10 * second)
	}
	return out
}

// How counts choose among calls is for package internal/fault.
func TestWhichCallsAFaultBefalls(t *testing.T) {
	for _, c := range []struct {
		want  string
		fault fake.Fault
	}{
		{"xx.xx.", fake.Fault{Op: "get"}},
		{".....x", fake.Fault{Op: "List", Nth: 2}},
		{"...x..", fake.Fault{Zone: "a", Nth: 2}},
		{".x..x.", fake.Fault{Zone: "b", Op: "Get"}},
		{"......", fake.Fault{Zone: "b", Op: "list"}},
		{"..xx..", fake.Fault{From: 20 * second, Until: 40 * second}},
		{"......", fake.Fault{Pool: "general"}},
	} {
		name := fmt.Sprintf("%+v", c.fault)
		require.Equal(t, c.want, calls(t, c.fault), name)
		require.Equal(t, c.want, calls(t, c.fault), "a fault keeps no counts of its own: "+name)
	}
}

func TestChanceIsBySeed(t *testing.T) {
	hits := func(seed uint64) (out []bool) {
		cloud := world(t, fake.Options{Seed: seed})
		require.NoError(t, cloud.Script(fake.Fault{Percent: 30, Err: errors.New("bad luck")}))
		for range 100 {
			_, err := cloud.List(t.Context())
			out = append(out, err != nil)
		}
		return out
	}
	require.Equal(t, hits(1), hits(1))
	require.NotEqual(t, hits(1), hits(2))
}

func TestFaultsOfCreate(t *testing.T) {
	for _, c := range []struct {
		fault fake.Fault
		want  bool
	}{
		{fake.Fault{Zone: "a"}, true}, // which is where it would go
		{fake.Fault{Zone: "b"}, false},
		{fake.Fault{Pool: "general"}, true},
		{fake.Fault{Pool: "other"}, false},
		{fake.Fault{Pool: "general", Zone: "b"}, false},
	} {
		cloud := world(t, fake.Options{})
		c.fault.Err = errors.New("hit")
		require.NoError(t, cloud.Script(c.fault))
		_, err := cloud.Create(t.Context(), ask(t, cloud, "token", m5))
		require.Equal(t, c.want, err != nil, c.fault)
	}
	inB := fake.Fault{Zone: "b", Err: errors.New("hit")}
	// Once a is dry the machine would go to b.
	cloud := world(t, fake.Options{Stock: []fake.Stock{{Scope: cloudprovider.Scope{Zone: "a"}, Count: 0}}})
	require.NoError(t, cloud.Script(inB))
	_, err := cloud.Create(t.Context(), ask(t, cloud, "t", m5))
	require.ErrorContains(t, err, "hit")
	// A repeated call is about the machine that there is.
	cloud = world(t, fake.Options{})
	first := mustLaunch(t, cloud, "t", spotB)
	require.NoError(t, cloud.Script(inB))
	_, err = cloud.Create(t.Context(), ask(t, cloud, "t", spotA))
	require.ErrorContains(t, err, "hit")
	require.ErrorContains(t, cloud.Delete(t.Context(), first.ID), "hit")
	require.ErrorContains(t, cloud.Reboot(t.Context(), first.ID, "op"), "hit")
	_, err = cloud.IsDrifted(t.Context(), claimOf(first))
	require.ErrorContains(t, err, "hit")
}

func TestScriptFaults(t *testing.T) {
	cloud := world(t, fake.Options{})
	err := cloud.Script(fake.Fault{}, fake.Fault{Op: "fly", Err: fake.ErrLost}, fake.Fault{Op: "walk", Nth: -1, Err: fake.ErrLost}, fake.Fault{Err: fake.ErrLost})
	require.ErrorIs(t, err, cloudprovider.ErrDenied)
	for _, want := range []string{
		"fault 0: Err: missing; say what becomes of the call", `fault 1: Op: there is no call "fly"`, "fault 2: Nth: -1; use zero or more", `fault 2: Op: there is no call "walk"`,
	} {
		require.ErrorContains(t, err, want)
	}
	_, err = cloud.List(t.Context())
	require.NoError(t, err, "none was added")
}
