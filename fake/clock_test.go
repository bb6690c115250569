package fake_test

import (
	"math"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/fake"
)

func TestAdvance(t *testing.T) {
	cloud := world(t, fake.Options{Timing: fake.Timing{Launch: fake.Exactly(30 * second), Registration: fake.Exactly(10 * second), Initialization: fake.Exactly(20 * second)}})
	mustLaunch(t, cloud, "one", odA)
	cloud.Advance(5 * second)
	mustLaunch(t, cloud, "two", odA)
	require.Equal(t, epoch.Add(5*second), cloud.Now())

	kinds := func(events []fake.Event) (out []string) {
		for _, e := range events {
			out = append(out, e.String())
		}
		return out
	}
	require.Empty(t, cloud.Advance(24*second))
	require.Equal(t, []string{"+30s joined one"}, kinds(cloud.Advance(second)))
	require.Equal(t, []string{"+35s joined two", "+40s registered one"}, kinds(cloud.Advance(10*second)))
	require.Equal(t, []string{"+45s registered two", "+1m0s ready one", "+1m5s ready two"}, kinds(cloud.Advance(time.Hour)))
	require.Empty(t, cloud.Advance(-time.Hour), "time does not go back")
	require.Equal(t, epoch.Add(time.Hour+40*second), cloud.Now())
	for range 3 {
		cloud.Advance(math.MaxInt64)
	}
	require.Equal(t, epoch.Add(math.MaxInt64), cloud.Now(), "it stops where durations end")
}

// However a stretch of time is cut into steps, the same happens.
func TestAdvanceInAnySteps(t *testing.T) {
	run := func(steps ...time.Duration) string {
		cloud := world(t, fake.Options{
			Seed: 3, Timing: fake.Timing{Launch: fake.Span{Max: 2 * minute}, Initialization: fake.Span{Max: 3 * minute}, Shutdown: fake.Span{Max: minute}},
			Spot:       fake.Spot{Lifetime: time.Hour, Advice: minute},
			Breakdowns: []fake.Breakdown{{Mean: time.Hour, Fault: fake.NodeFault{Type: "Ready", Status: "False"}}},
		})
		require.NoError(t, cloud.After(30*minute, fake.Interrupt(fake.Target{Count: 2}, minute)))
		for _, token := range []string{"a", "b", "c", "d", "e", "f"} {
			mustLaunch(t, cloud, token, spotA)
		}
		for _, d := range steps {
			cloud.Advance(d)
		}
		return cloud.Log()
	}
	want := run(2 * time.Hour)
	require.Equal(t, want, run(slices.Repeat([]time.Duration{time.Second}, 7200)...))
	require.Equal(t, want, run(time.Nanosecond, time.Hour, 59*minute, minute-time.Nanosecond))
}

// The clock of the options and Advance add up, and time never goes back.
func TestOwnClock(t *testing.T) {
	now := epoch
	cloud := world(t, fake.Options{Clock: func() time.Time { return now }, Timing: fake.Timing{Launch: fake.Exactly(minute)}})
	mustLaunch(t, cloud, "one", odA)
	now = now.Add(30 * second)
	require.Empty(t, cloud.Nodes())
	now = now.Add(30 * second)
	require.Len(t, cloud.Nodes(), 1, "what is due happens before the next call")
	cloud.Advance(minute)
	require.Equal(t, epoch.Add(2*minute), cloud.Now())
	now = epoch.Add(-time.Hour)
	require.Equal(t, epoch.Add(2*minute), cloud.Now())
	now = epoch.Add(3 * minute)
	require.Equal(t, epoch.Add(4*minute), cloud.Now())
}

func TestDoAndAfter(t *testing.T) {
	cloud := world(t, fake.Options{})
	scope := keySpotA.Scope()
	require.NoError(t, cloud.After(minute, fake.SetStock(scope, 5), fake.Refill(scope, 2)))
	require.NoError(t, cloud.Do(fake.SetStock(scope, 1)))
	free := func() int {
		n, err := cloud.Free(keySpotA)
		require.NoError(t, err)
		return n
	}
	require.Equal(t, 1, free())
	cloud.Advance(minute - 1)
	require.Equal(t, 1, free())
	cloud.Advance(1)
	require.Equal(t, 7, free())

	// Nothing happens if one of them is not valid, and all faults are named.
	err := cloud.Do(fake.SetStock(scope, 3), fake.Action{}, fake.Refill(cloudprovider.Scope{Zone: "mars"}, 1), fake.Refill(scope, -1),
		fake.SetStock(scope, -2), fake.SetReservation("cr-9", 1), fake.EndReservation("cr-9", 0), fake.Interrupt(fake.Target{}, -1),
		fake.Maintain(fake.Target{}, -1), fake.Break(fake.Target{}, fake.NodeFault{}), fake.Break(fake.Target{}, fake.NodeFault{Status: "True"}),
		fake.PublishImage(fake.Image{}), fake.SetNodeClass(fake.NodeClass{}))
	require.ErrorIs(t, err, cloudprovider.ErrDenied)
	for _, want := range []string{
		"the zero Action says nothing", "refill zone=mars by 1: no offering is in that scope", "by -1: the number is below zero", "to -2: the number is below zero",
		`there is no reservation "cr-9"`, "warning: -1ns; use zero or more", "in: -1ns; use zero or more", `Status: ""; use True, False or Unknown`,
		"Type: empty; name a node condition", "image: the ID is empty", "node class: the name is empty",
	} {
		require.ErrorContains(t, err, want)
	}
	require.Equal(t, 7, free())
}

func TestOptionFaults(t *testing.T) {
	_, err := fake.New(&fake.Options{
		InstanceTypes: twoTypes(t),
		Timing:        fake.Timing{Launch: fake.Span{Min: -1}, Registration: fake.Span{Min: 2, Max: 1}, Initialization: fake.Span{Max: -1}, Shutdown: fake.Span{Min: -1}, Reboot: fake.Span{Min: -1}},
		Lag:           fake.Lag{List: -1, Get: -1},
		Stock:         []fake.Stock{{Count: -2, Every: -1, Most: -1}, {Scope: cloudprovider.Scope{Zone: "mars"}}},
		Reservations: []fake.Reservation{
			{}, {ID: "x", Capacity: -1, InstanceTypes: []string{"m9.large"}}, {ID: "x"}, {ID: "y"}, {ID: "z", InstanceTypes: []string{"m5.large"}, Zones: []string{"mars"}},
			{ID: "w", InstanceTypes: []string{"m5.large", "m5.large"}, Price: math.NaN()}, {ID: "v", Warning: -1},
		},
		Spot:           fake.Spot{Every: 1, Lifetime: -1, Swing: math.NaN(), Advice: -1},
		Breakdowns:     []fake.Breakdown{{}},
		RateLimits:     []fake.RateLimit{{Ops: []string{"fly"}}},
		Images:         []fake.Image{{}, {ID: "i"}, {ID: "i"}},
		NodeClasses:    []fake.NodeClass{{}, {Name: "c"}, {Name: "c"}},
		RepairPolicies: []cloudprovider.RepairPolicy{},
		Redelivery:     -1,
	})
	for _, want := range []string{
		"Timing.Launch: -1ns to 0s", "Timing.Registration: Max 1ns is below Min 2ns", "Timing.Initialization", "Timing.Shutdown", "Timing.Reboot",
		"Lag.List: -1ns", "Lag.Get: -1ns", "Stock[0].Count: -2", "Stock[0].Every", "Stock[0].Most", "Stock[1].Scope: no offering is in zone=mars",
		"Reservations[0].ID: empty", "Reservations[1] (x): Capacity: -1", `Reservations[1] (x): InstanceTypes: the catalog has no "m9.large"`,
		"Reservations[2] (x): there is another one", "Reservations[3] (y): the catalog has no offering of it", `Reservations[4] (z): Zones: m5.large has no offering in "mars"`,
		"Reservations[5] (w): Price: NaN", `Reservations[5] (w): Zones: m5.large has no offering in "a", or has this one already`, "Reservations[6] (v): Warning: -1ns",
		"Spot.Every: 1ns", "Spot.Lifetime: -1ns", "Spot.Swing: NaN", "Spot.Advice: -1ns", "Breakdowns[0].Mean: 0s", "Breakdowns[0].Fault: node fault: Status",
		`RateLimits[0].Ops: there is no call "fly"; the calls are instancetypes, create`, "RateLimits[0].Burst: 0", "RateLimits[0].Every: 0s",
		"Images[0].ID: empty", "Images[2].ID: i is there twice", "NodeClasses[0].Name: empty", "NodeClasses[2].Name: c is there twice",
		"RepairPolicies: repair policies: 0 without reasonRegex", "Redelivery: -1ns",
	} {
		require.ErrorContains(t, err, want)
	}
}
