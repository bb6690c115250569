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
			Spot: fake.Spot{Lifetime: time.Hour},
		})
		require.NoError(t, cloud.After(30*minute, fake.Action{Target: fake.Target{Count: 2}, Notice: cloudprovider.InterruptionSpot, Warning: minute}))
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
	cloud := world(t, fake.Options{Now: func() time.Time { return now }, Timing: fake.Timing{Launch: fake.Exactly(minute)}})
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
	require.Equal(t, epoch.Add(4*minute), mustLaunch(t, cloud, "two", odA).CreatedAt)
}

func TestDoAndAfter(t *testing.T) {
	cloud := world(t, fake.Options{})
	scope := keySpotA.Scope()
	stock := fake.Stock{Scope: scope, Count: 5}
	require.NoError(t, cloud.After(minute, fake.Action{Stock: &stock}, fake.Action{NodeClass: fake.NodeClass{Name: "x"}}))
	stock.Count = 9 // the action is known by then
	require.NoError(t, cloud.Do(fake.Action{Stock: &fake.Stock{Scope: scope, Count: 1}}))
	require.Equal(t, 1, freeOf(t, cloud, keySpotA))
	cloud.Advance(minute - 1)
	require.Equal(t, 1, freeOf(t, cloud, keySpotA))
	cloud.Advance(1)
	require.Equal(t, 5, freeOf(t, cloud, keySpotA))

	// Nothing happens if one of them is not valid, and all faults are named.
	err := cloud.Do(fake.Action{Stock: &fake.Stock{Scope: scope, Count: 3}}, fake.Action{}, fake.Action{Stock: &fake.Stock{Scope: cloudprovider.Scope{Zone: "mars"}, Count: -2}},
		fake.Action{Reservation: fake.Reservation{ID: "cr-9", Capacity: -1}}, fake.Action{Notice: cloudprovider.InterruptionSpot, Warning: -1},
		fake.Action{Notice: "Flood"}, fake.Action{Break: fake.NodeFault{Type: "Ready"}}, fake.Action{Mend: true, Image: fake.Image{ID: "i"}})
	require.ErrorIs(t, err, cloudprovider.ErrDenied)
	for _, want := range []string{
		"Do: denied: action 1: 0 things are to happen; set one of Notice", "action 2: Stock.Count: -2; use zero or more", "action 2: Stock.Scope: no offering is in zone=mars",
		`action 3: Reservation.ID: there is no reservation "cr-9"`, "action 3: Reservation.Capacity: -1", "action 4: Warning: -1ns; use zero or more",
		`action 5: Notice: there is no kind "Flood"`, `action 6: Break.Status: ""; use True, False or Unknown`, "action 7: 2 things are to happen",
	} {
		require.ErrorContains(t, err, want)
	}
	require.Equal(t, 5, freeOf(t, cloud, keySpotA))
}

func TestOptionFaults(t *testing.T) {
	_, err := fake.New(&fake.Options{
		InstanceTypes: twoTypes(t),
		Timing:        fake.Timing{Launch: fake.Span{Min: -1}, Registration: fake.Span{Min: 2, Max: 1}, Initialization: fake.Span{Max: -1}, Shutdown: fake.Span{Min: -1}, Reboot: fake.Span{Min: -1}},
		ListLag:       -1,
		Stock:         []fake.Stock{{Count: -2}, {Scope: cloudprovider.Scope{Zone: "mars"}}},
		Spot:          fake.Spot{Every: 1, Lifetime: -1, Swing: math.NaN()},
		Images:        []fake.Image{{}, {ID: "i"}, {ID: "i"}},
		NodeClasses:   []fake.NodeClass{{}, {Name: "c"}, {Name: "c"}},
		Redelivery:    -1,
	})
	for _, want := range []string{
		"Timing.Launch: -1ns to 0s", "Timing.Registration: 2ns to 1ns", "Timing.Initialization", "Timing.Shutdown", "Timing.Reboot",
		"ListLag: -1ns", "Stock[0]: Stock.Count: -2", "Stock[1]: Stock.Scope: no offering is in zone=mars",
		"Spot.Every: 1ns", "Spot.Lifetime: -1ns", "Spot.Swing: NaN",
		"Images[0].ID: empty", "Images[2].ID: i is there twice", "NodeClasses[0].Name: empty", "NodeClasses[2].Name: c is there twice",
		"Redelivery: -1ns",
	} {
		require.ErrorContains(t, err, want)
	}
}
