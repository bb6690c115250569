package fake_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/fake"
)

// calls makes six calls to a cloud with one rule, and says which of them met its
// condition: get on an instance in zone a, get on one in zone b, list, twice
// over, ten seconds apart.
func calls(t *testing.T, when fake.When) string {
	t.Helper()
	cloud := world(t, fake.Options{Seed: 5})
	a, b := launch(t, cloud, "a", spotA), launch(t, cloud, "b", spotB)
	require.NoError(t, cloud.Script(when.Fail(errors.New("hit"))))
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

func TestConditions(t *testing.T) {
	for _, c := range []struct {
		want, text string
		when       fake.When
	}{
		{"xxxxxx", `Always()`, fake.When{}},
		{"xxxxxx", `Always()`, fake.Always()},
		{"xx.xx.", `On("get")`, fake.On("get")},
		{"..x..x", `On("List", "create")`, fake.On("List", fake.OpCreate)},
		{"......", `On()`, fake.On()},
		{".x....", `Nth(2, "get")`, fake.Nth(2, "get")},
		{".....x", `Nth(2, "list")`, fake.Nth(2, "list")},
		{"xxx...", `Times(3)`, fake.Times(3)},
		{"......", `Times(0)`, fake.Times(0)},
		{"..xxxx", `Skip(2)`, fake.Skip(2)},
		{".x.x.x", `Every(2)`, fake.Every(2)},
		{"x..x..", `InZone("a")`, fake.InZone("a")},
		{"xx.xx.", `InZone("a", "b")`, fake.InZone("a", "b")},
		{".x..x.", `InScope(zone=b, capacity-type=spot)`, fake.InScope(cloudprovider.Scope{Zone: "b", CapacityType: "spot"})},
		{"......", `InScope(capacity-type=on-demand)`, fake.InScope(cloudprovider.Scope{CapacityType: "on-demand"})},
		{"xx....", `Until(20s)`, fake.Until(20 * second)},
		{"...xxx", `Since(30s)`, fake.Since(30 * second)},
		{"......", `Chance(0)`, fake.Chance(0)},
		{"xxxxxx", `Chance(100)`, fake.Chance(100)},
		{"......", `ForPool("general")`, fake.ForPool("general")},
		{"xxxxxx", `And()`, fake.And()},
		{"......", `Or()`, fake.Or()},
		{"..x..x", `Not(On("get"))`, fake.Not(fake.On("get"))},
		{"..xx.x", `Or(And(InZone("a"), Skip(1)), On("list"))`, fake.Or(fake.And(fake.InZone("a"), fake.Skip(1)), fake.On("list"))},
		// Conditions that count, count what reaches them.
		{"x..x..", `And(InZone("a"), Times(3))`, fake.And(fake.InZone("a"), fake.Times(3))},
		{"x.....", `And(Times(3), InZone("a"))`, fake.And(fake.Times(3), fake.InZone("a"))},
		{"...x..", `And(InZone("a"), Skip(1))`, fake.And(fake.InZone("a"), fake.Skip(1))},
		{"...x..", `And(InZone("a"), Nth(2, "get"))`, fake.And(fake.InZone("a"), fake.Nth(2, "get"))},
		{".x....", `And(Nth(2, "get"), InZone("b"))`, fake.And(fake.Nth(2, "get"), fake.InZone("b"))},
		{"xxxxx.", `Or(On("get"), Times(1))`, fake.Or(fake.On("get"), fake.Times(1))},
		{"xxx...", `Or(Times(1), Times(2))`, fake.Or(fake.Times(1), fake.Times(2))},
		{"..xxxx", `Not(Times(2))`, fake.Not(fake.Times(2))},
		{"xx.xx.", `Not(Not(On("get")))`, fake.Not(fake.Not(fake.On("get")))},
	} {
		t.Run(c.text, func(t *testing.T) {
			require.Equal(t, c.text, c.when.String())
			require.Equal(t, c.want, calls(t, c.when))
			require.Equal(t, c.want, calls(t, c.when), "a condition keeps no counts of its own")
		})
	}
}

// The algebra of conditions that do not count is that of sets.
func TestConditionLaws(t *testing.T) {
	all := []fake.When{fake.Always(), fake.Or(), fake.On("get"), fake.InZone("a"), fake.Since(20 * second), fake.Until(40 * second)}
	for _, p := range all {
		for _, q := range all {
			name := p.String() + " " + q.String()
			require.Equal(t, calls(t, fake.And(p, q)), calls(t, fake.And(q, p)), name)
			require.Equal(t, calls(t, fake.Or(p, q)), calls(t, fake.Or(q, p)), name)
			require.Equal(t, calls(t, fake.Not(fake.And(p, q))), calls(t, fake.Or(fake.Not(p), fake.Not(q))), name)
			require.Equal(t, calls(t, fake.Or(p, fake.And(p, q))), calls(t, p), name)
			require.Equal(t, calls(t, fake.And(p, fake.Not(p))), calls(t, fake.Or()), name)
		}
	}
}

func TestChance(t *testing.T) {
	hits := func(seed uint64) string {
		cloud := world(t, fake.Options{Seed: seed})
		require.NoError(t, cloud.Script(fake.Chance(30).Fail(errors.New("bad luck")), fake.And(fake.Chance(30)).Refuse(cloudprovider.Scope{})))
		out := ""
		for range 1000 {
			_, err := cloud.List(t.Context())
			out += map[bool]string{true: "x", false: "."}[err != nil]
		}
		return out
	}
	got := hits(1)
	require.Equal(t, got, hits(1))
	require.NotEqual(t, got, hits(2))
	n := 0
	for _, r := range got {
		if r == 'x' {
			n++
		}
	}
	require.InDelta(t, 300, n, 50)
}

func TestConditionsOfCreate(t *testing.T) {
	for _, c := range []struct {
		when fake.When
		want bool
	}{
		{fake.InZone("a"), true}, // which is where it would go
		{fake.InZone("b"), false},
		{fake.InScope(keySpotA.Scope()), true},
		{fake.ForPool("general"), true},
		{fake.ForPool("other"), false},
		{fake.About("claim"), true},
		{fake.About("token"), true},
		{fake.About("", "x"), false},
	} {
		cloud := world(t, fake.Options{})
		req := ask(t, cloud, "token", m5)
		require.NoError(t, cloud.Script(c.when.Fail(errors.New("hit"))))
		req.Name = "claim"
		_, err := cloud.Create(t.Context(), req)
		require.Equal(t, c.want, err != nil, c.when)
	}
	// Once a is dry the machine would go to b.
	cloud := world(t, fake.Options{Stock: []fake.Stock{{Scope: cloudprovider.Scope{Zone: "a"}, Count: 0}}})
	require.NoError(t, cloud.Script(fake.InZone("b").Fail(errors.New("hit"))))
	_, err := cloud.Create(t.Context(), ask(t, cloud, "t", m5))
	require.ErrorContains(t, err, "hit")
	// A repeated call is about the machine that there is.
	cloud = world(t, fake.Options{})
	first := launch(t, cloud, "t", spotB)
	require.NoError(t, cloud.Script(fake.InZone("b").Fail(errors.New("hit"))))
	_, err = cloud.Create(t.Context(), ask(t, cloud, "t", spotA))
	require.ErrorContains(t, err, "hit")
	require.ErrorContains(t, cloud.Delete(t.Context(), first.ID), "hit")
	require.ErrorContains(t, cloud.Reboot(t.Context(), first.ID, "op"), "hit")
	claim := &v1.NodeClaim{}
	claim.Status.ProviderID = first.ID
	_, err = cloud.IsDrifted(t.Context(), claim)
	require.ErrorContains(t, err, "hit")
}

func TestScriptFaults(t *testing.T) {
	cloud := world(t, fake.Options{})
	err := cloud.Script(
		fake.Rule{}, fake.On("fly").Lose(), fake.Nth(0, "walk").Lose(), fake.Times(-1).Lose(), fake.Skip(-1).Lose(), fake.Every(0).Lose(),
		fake.Chance(101).Lose(), fake.Always().Fail(nil), fake.Always().Partly(nil), fake.Always().Delay(-1),
		fake.And(fake.Not(fake.Every(-3))).Lose(), fake.Always().Lose(),
	)
	require.ErrorIs(t, err, cloudprovider.ErrDenied)
	for _, want := range []string{
		"rule 0: it has no effect", `rule 1: On("fly"): there is no call "fly"`, `rule 2: Nth(0, "walk"): 0; use 1 or more`, `rule 2: Nth(0, "walk"): there is no call "walk"`,
		"rule 3: Times(-1): -1; use 0 or more", "rule 4: Skip(-1)", "rule 5: Every(0): 0; use 1 or more", "rule 6: Chance(101): use 0 to 100",
		"rule 7: Fail(<nil>): the error is nil", "rule 8: Partly(<nil>)", "rule 9: Delay(-1ns)", "rule 10: Every(-3)",
	} {
		require.ErrorContains(t, err, want)
	}
	_, err = cloud.List(t.Context())
	require.NoError(t, err, "none was added")
}

func TestRuleText(t *testing.T) {
	for want, rule := range map[string]fake.Rule{
		`Nth(2, "create").Fail(throttled)`:           fake.Nth(2, "create").Fail(cloudprovider.ErrThrottled),
		`Always().Lose()`:                            fake.Always().Lose(),
		`On("list").Delay(1m0s)`:                     fake.On("list").Delay(time.Minute),
		`Always().Partly(boom)`:                      fake.Always().Partly(errors.New("boom")),
		`Always().Twice()`:                           fake.Always().Twice(),
		`Always().Stall()`:                           fake.Always().Stall(),
		`Always().Refuse(zone=a)`:                    fake.Always().Refuse(cloudprovider.Scope{Zone: "a"}),
		`And(InZone("a"), Times(3)).Fail(not ready)`: fake.And(fake.InZone("a"), fake.Times(3)).Fail(cloudprovider.ErrNotReady),
	} {
		require.Equal(t, want, rule.String())
	}
	require.Equal(t, "set stock of zone=a to unlimited", fmt.Sprint(fake.SetStock(cloudprovider.Scope{Zone: "a"}, fake.Unlimited)))
}
