package fake_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/fake"
)

func noticesOf(t testing.TB, cloud *fake.Cloud) (out []string) {
	t.Helper()
	notices, err := cloud.Interruptions(t.Context())
	require.NoError(t, err)
	require.True(t, slices.IsSortedFunc(notices, func(a, b cloudprovider.Interruption) int { return a.At.Compare(b.At) }))
	names := map[string]string{}
	for _, e := range cloud.Events() {
		names[e.InstanceID] = e.Object
	}
	for _, n := range notices {
		text := fmt.Sprintf("%s %s at %v", names[n.InstanceID], n.Kind, n.At.Sub(epoch))
		if !n.Deadline.IsZero() {
			text += fmt.Sprintf(" by %v", n.Deadline.Sub(epoch))
		}
		out = append(out, text)
	}
	return out
}

func running(t testing.TB, cloud *fake.Cloud) (out []string) {
	t.Helper()
	for _, i := range listed(t, cloud) {
		if !i.Deleting {
			out = append(out, i.Name)
		}
	}
	slices.Sort(out)
	return out
}

func TestActionsOnMachines(t *testing.T) {
	for _, c := range []struct {
		name    string
		action  fake.Action
		notices []string
		left    []string // after two minutes
	}{
		{"interrupt", fake.Action{Notice: cloudprovider.InterruptionSpot, Warning: minute}, []string{"spot SpotInterrupted at 1m0s by 2m0s"}, []string{"od", "reserved"}},
		{"the reservation ends", fake.Action{Notice: cloudprovider.InterruptionReservation, Warning: minute}, []string{"reserved ReservationInterrupted at 1m0s by 2m0s"}, []string{"od", "spot"}},
		{"interrupt at once", fake.Action{Target: fake.Target{Scope: keySpotA.Scope()}, Notice: cloudprovider.InterruptionSpot}, []string{"spot SpotInterrupted at 1m0s by 1m0s"}, []string{"od", "reserved"}},
		{"interrupt later", fake.Action{Notice: cloudprovider.InterruptionSpot, Warning: time.Hour}, []string{"spot SpotInterrupted at 1m0s by 1h1m0s"}, []string{"od", "reserved", "spot"}},
		{"rebalance", fake.Action{Notice: cloudprovider.InterruptionRebalance}, []string{"spot RebalanceRecommended at 1m0s"}, []string{"od", "reserved", "spot"}},
		{"maintenance", fake.Action{Target: fake.Target{Scope: cloudprovider.Scope{CapacityType: "on-demand"}}, Notice: cloudprovider.InterruptionMaintenance, Warning: minute}, []string{"od Maintenance at 1m0s by 2m0s"}, []string{"reserved", "spot"}},
		{"stop", fake.Action{Target: fake.Target{NodePool: "general", Scope: keySpotA.Scope()}, Notice: cloudprovider.InterruptionStopping}, []string{"spot Stopping at 1m0s"}, []string{"od", "reserved"}},
		{"unhealthy", fake.Action{Target: fake.Target{Scope: keySpotA.Scope()}, Notice: cloudprovider.InterruptionUnhealthy}, []string{"spot Unhealthy at 1m0s"}, []string{"od", "reserved", "spot"}},
		{"another pool", fake.Action{Target: fake.Target{NodePool: "other"}, Notice: cloudprovider.InterruptionStopping}, nil, []string{"od", "reserved", "spot"}},
		{"an instance that is not there", fake.Action{Target: fake.Target{Instances: []string{"x"}}, Notice: cloudprovider.InterruptionStopping}, nil, []string{"od", "reserved", "spot"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			cloud := world(t, fake.Options{InstanceTypes: withReservation(t, 1)})
			mustLaunch(t, cloud, "reserved", inReservation)
			mustLaunch(t, cloud, "spot", spotA)
			mustLaunch(t, cloud, "od", odA)
			require.NoError(t, cloud.After(minute, c.action))
			cloud.Advance(minute)
			got := noticesOf(t, cloud)
			slices.Sort(got)
			require.Equal(t, c.notices, got)
			cloud.Advance(2 * minute)
			require.Equal(t, c.left, running(t, cloud))
		})
	}
}

func TestTargetCounts(t *testing.T) {
	var hit []string
	for range 2 {
		cloud := world(t, fake.Options{Seed: 4})
		for i := range 20 {
			mustLaunch(t, cloud, fmt.Sprint("n", i), spotA)
		}
		require.NoError(t, cloud.Do(fake.Action{Target: fake.Target{Count: 5}, Notice: cloudprovider.InterruptionStopping}))
		left := running(t, cloud)
		require.Len(t, left, 15)
		if hit != nil {
			require.Equal(t, hit, left)
		}
		hit = left
		require.NoError(t, cloud.Do(fake.Action{Target: fake.Target{Count: 50}, Notice: cloudprovider.InterruptionStopping}))
		require.Empty(t, running(t, cloud))
	}
}

func TestRedelivery(t *testing.T) {
	cloud := world(t, fake.Options{Redelivery: 30 * second})
	mustLaunch(t, cloud, "one", spotA)
	require.NoError(t, cloud.Do(fake.Action{Notice: cloudprovider.InterruptionRebalance}))
	require.Len(t, noticesOf(t, cloud), 1)
	require.Empty(t, noticesOf(t, cloud))
	cloud.Advance(30 * second)
	notices, err := cloud.Interruptions(t.Context())
	require.NoError(t, err)
	require.Len(t, notices, 1)
	require.NoError(t, cloud.Acknowledge(t.Context(), "other", notices[0].ID, notices[0].ID))
	cloud.Advance(minute)
	require.Empty(t, noticesOf(t, cloud))
}

// Spot machines live as long as asked for on average, are warned as asked for,
// and each ends when it ends whatever others there are.
func TestSpotLifetime(t *testing.T) {
	ends := func(n int) map[string]time.Duration {
		cloud := world(t, fake.Options{Seed: 11, Spot: fake.Spot{Lifetime: 10 * time.Hour, Warning: 90 * second}})
		for i := range n {
			mustLaunch(t, cloud, fmt.Sprint("n", i), spotA)
		}
		mustLaunch(t, cloud, "od", odA)
		cloud.Advance(1000 * time.Hour)
		noticed, out := map[string]time.Duration{}, map[string]time.Duration{}
		for _, e := range cloud.Events() {
			switch e.Kind {
			case fake.EventNoticed:
				noticed[e.Object] = e.Elapsed
			case fake.EventGone:
				out[e.Object] = e.Elapsed
				require.Equal(t, noticed[e.Object]+90*second, e.Elapsed)
			}
		}
		require.Equal(t, []string{"od"}, running(t, cloud))
		return out
	}
	many := ends(400)
	sum := time.Duration(0)
	for _, d := range many {
		sum += d
	}
	require.InEpsilon(t, 10, (sum / 400).Hours(), 0.1)
	for name, d := range ends(20) {
		require.Equal(t, many[name], d)
	}
}

func TestWarningBelowZero(t *testing.T) {
	cloud := world(t, fake.Options{Spot: fake.Spot{Lifetime: time.Hour, Warning: -1}})
	mustLaunch(t, cloud, "one", spotA)
	cloud.Advance(100 * time.Hour)
	notices, err := cloud.Interruptions(t.Context())
	require.NoError(t, err)
	require.Equal(t, notices[0].At, notices[0].Deadline)
	require.Empty(t, running(t, cloud))
}

func TestSpotPricesWalk(t *testing.T) {
	types := twoTypes(t)
	cloud := world(t, fake.Options{Seed: 2, Spot: fake.Spot{Every: 5 * minute, Swing: 0.4}})
	list := map[cloudprovider.OfferingKey]float64{}
	onDemand := map[string]float64{}
	for _, it := range types {
		for i := range it.Offerings {
			o := &it.Offerings[i]
			list[o.Key(it.Name)] = o.Price
			if o.CapacityType == v1.CapacityTypeOnDemand {
				onDemand[it.Name] = o.Price
			}
		}
	}
	before := catalogOf(t, cloud)
	require.Equal(t, types, before, "at the start prices are those of the catalog")
	changes, different := 0, map[float64]bool{}
	for range 500 {
		held := catalogOf(t, cloud)
		cloud.Advance(5*minute - 1)
		require.Same(t, held[0], catalogOf(t, cloud)[0], "between ticks nothing changes")
		cloud.Advance(1)
		for n, it := range catalogOf(t, cloud) {
			require.NoError(t, it.Validate())
			for i := range it.Offerings {
				o, key := &it.Offerings[i], it.Offerings[i].Key(it.Name)
				if o.CapacityType == v1.CapacityTypeOnDemand {
					require.InDelta(t, list[key], o.Price, 0)
					continue
				}
				require.InDelta(t, list[key], o.Price, list[key]*0.4+1e-6)
				require.LessOrEqual(t, o.Price, onDemand[it.Name])
				if o.Price != held[n].Offerings[i].Price {
					changes++
				}
				different[o.Price] = true
			}
		}
	}
	require.Greater(t, changes, 1000)
	require.Greater(t, len(different), 500)
	require.Equal(t, types, before, "what was handed out stays")

	// Create goes by the price of the moment.
	types = catalogOf(t, cloud)
	o, _ := types[1].Offering(keySpotA)
	require.InDelta(t, o.Price, mustLaunch(t, cloud, "one", spotA).Price, 0)
}

// A price never rises above that of on-demand capacity.
func TestSpotPriceCeiling(t *testing.T) {
	types := twoTypes(t)
	for i := range types[1].Offerings {
		types[1].Offerings[i].Price = 0.1
	}
	cloud := world(t, fake.Options{InstanceTypes: types, Spot: fake.Spot{Every: minute, Swing: 0.9}})
	for range 200 {
		cloud.Advance(minute)
		o, _ := catalogOf(t, cloud)[1].Offering(keySpotA)
		require.LessOrEqual(t, o.Price, 0.1)
	}
}
