package cloudprovider_test

import (
	"encoding/json"
	"fmt"
	"math/rand"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
)

var spotA = key{InstanceType: "m5.large", Zone: "zone-a", CapacityType: v1.CapacityTypeSpot}

// optionsFor returns one launch option for each key.
func optionsFor(keys ...key) []cloudprovider.LaunchOption {
	options := make([]cloudprovider.LaunchOption, len(keys))
	for i, k := range keys {
		options[i] = cloudprovider.LaunchOption{
			InstanceType: &cloudprovider.InstanceType{Name: k.InstanceType},
			Offering: &cloudprovider.Offering{Zone: k.Zone, CapacityType: k.CapacityType,
				ReservationID: k.ReservationID, Available: true, Price: 1},
		}
	}
	return options
}

func TestMarksGrow(t *testing.T) {
	c := newClock()
	a := newAvailability(t, c, &cloudprovider.AvailabilityOptions{TTL: time.Minute, MaxTTL: 5 * time.Minute})
	refuse := func() time.Duration {
		m := a.MarkUnavailable(spotA.Scope(), "NoStock")
		return m.Until.Sub(c.Now())
	}
	for i, want := range []time.Duration{1, 2, 4, 5, 5} {
		require.Equal(t, want*time.Minute, refuse(), "refusal %d", i)
		c.Advance(10 * time.Second)
		until := refuse()
		require.Equal(t, want*time.Minute, until, "a refusal under the mark counts as the same one")
		c.Advance(until)
		_, marked := a.Unavailable(spotA)
		require.False(t, marked)
	}
	require.Equal(t, 5, a.Refusals(spotA.Scope()))
	a.Launched(spotA)
	require.Equal(t, 2, a.Refusals(spotA.Scope()))
	require.Equal(t, 4*time.Minute, refuse(), "three in a row after the success halved five")
	c.Advance(14 * time.Minute)
	require.Zero(t, a.Refusals(spotA.Scope()), "ten times TTL after the mark ended it is forgotten")
	require.Equal(t, time.Minute, refuse())
}

func TestReasonsGrowFromTheirOwnTTL(t *testing.T) {
	c := newClock()
	a := newAvailability(t, c, &cloudprovider.AvailabilityOptions{TTL: time.Minute, MaxTTL: time.Hour,
		TTLByReason: map[string]time.Duration{"Quota": 40 * time.Minute, "Forever": 2 * time.Hour}})
	for _, want := range []time.Duration{40 * time.Minute, time.Hour, time.Hour} {
		m := a.MarkUnavailable(scope{Zone: "zone-a"}, "Quota")
		require.Equal(t, want, m.Until.Sub(c.Now()))
		c.Advance(want)
	}
	m := a.MarkUnavailable(scope{Zone: "zone-a"}, "Forever")
	require.Equal(t, 2*time.Hour, m.Until.Sub(c.Now()), "a TTL above the bound is kept")
}

func TestAdmitSpendsTheBudget(t *testing.T) {
	c := newClock()
	a := newAvailability(t, c, &cloudprovider.AvailabilityOptions{TTL: time.Minute, ProbeBudget: 2, ProbePeriod: 30 * time.Second})
	options := optionsFor(spotA)
	for range 5 {
		require.Len(t, a.Admit(options), 1, "nothing was refused yet")
	}
	a.MarkUnavailable(spotA.Scope(), "NoStock")
	require.Empty(t, a.Admit(options), "marked")
	c.Advance(time.Minute)
	require.Len(t, a.Admit(options), 1)
	c.Advance(10 * time.Second)
	require.Len(t, a.Admit(options), 1)
	require.Empty(t, a.Admit(options), "the budget of two is used up")
	m, marked := a.Unavailable(spotA)
	require.True(t, marked, "planners see it too")
	require.Equal(t, cloudprovider.ProbeReason, m.Reason)
	require.Equal(t, 20*time.Second, m.Until.Sub(c.Now()), "to the end of the period")
	c.Advance(20 * time.Second)
	require.Len(t, a.Admit(options), 1, "a new period")
	require.Equal(t, 1, a.Refusals(spotA.Scope()), "probes are no refusals")
}

func TestProbeOutcome(t *testing.T) {
	opts := &cloudprovider.AvailabilityOptions{TTL: time.Minute, MaxTTL: time.Hour, ProbeBudget: 1}
	t.Run("refused", func(t *testing.T) {
		c := newClock()
		a := newAvailability(t, c, opts)
		a.MarkUnavailable(spotA.Scope(), "NoStock")
		c.Advance(time.Minute)
		require.Len(t, a.Admit(optionsFor(spotA)), 1)
		m := a.MarkUnavailable(spotA.Scope(), "NoStock")
		require.Equal(t, "NoStock", m.Reason)
		require.Equal(t, 2*time.Minute, m.Until.Sub(c.Now()))
		require.Equal(t, 2, a.Refusals(spotA.Scope()))
	})
	t.Run("sold", func(t *testing.T) {
		c := newClock()
		a := newAvailability(t, c, opts)
		a.MarkUnavailable(spotA.Scope(), "NoStock")
		c.Advance(time.Minute)
		require.Len(t, a.Admit(optionsFor(spotA)), 1)
		require.Empty(t, a.Admit(optionsFor(spotA)))
		before := a.Sequence()
		a.Launched(spotA)
		require.NotEqual(t, before, a.Sequence())
		for range 3 {
			require.Len(t, a.Admit(optionsFor(spotA)), 1, "off probation")
		}
	})
	t.Run("sold while a refusal stands", func(t *testing.T) {
		c := newClock()
		a := newAvailability(t, c, opts)
		a.MarkUnavailable(spotA.Scope(), "NoStock")
		a.Launched(spotA)
		require.Equal(t, 1, a.Refusals(spotA.Scope()))
		_, marked := a.Unavailable(spotA)
		require.True(t, marked)
	})
}

func TestAdmitCountsWideScopesOnce(t *testing.T) {
	c := newClock()
	a := newAvailability(t, c, &cloudprovider.AvailabilityOptions{TTL: time.Minute, ProbeBudget: 1})
	other := key{InstanceType: "c5.large", Zone: "zone-b", CapacityType: v1.CapacityTypeSpot}
	onDemand := key{InstanceType: "c5.large", Zone: "zone-b", CapacityType: v1.CapacityTypeOnDemand}
	a.MarkUnavailable(scope{CapacityType: v1.CapacityTypeSpot}, "Quota")
	c.Advance(time.Minute)
	options := append(optionsFor(spotA, other, onDemand), cloudprovider.LaunchOption{})
	require.Equal(t, options[:3], a.Admit(options), "one launch is one probe; a broken option is left out")
	require.Equal(t, options[2:3], a.Admit(options), "on-demand was never refused")
	a.Launched(other)
	require.Len(t, a.Admit(options), 3, "spot is sold again")
}

func TestMarkFromInterruption(t *testing.T) {
	spot := &cloudprovider.Instance{ID: "i-1", Type: "m5.large", Zone: "zone-a", CapacityType: v1.CapacityTypeSpot}
	reserved := &cloudprovider.Instance{ID: "i-1", Type: "m5.large", Zone: "zone-a",
		CapacityType: v1.CapacityTypeReserved, ReservationID: "cr-1"}
	unnamed := *reserved
	unnamed.ReservationID = ""
	for _, test := range []struct {
		name     string
		instance *cloudprovider.Instance
		kind     cloudprovider.InterruptionKind
		id       string
		want     bool
	}{
		{"spot taken back", spot, cloudprovider.InterruptionSpot, "i-1", true},
		{"reservation taken back", reserved, cloudprovider.InterruptionReservation, "i-1", true},
		{"reservation without a name", &unnamed, cloudprovider.InterruptionReservation, "i-1", false},
		{"spot notice on a reserved instance", reserved, cloudprovider.InterruptionSpot, "i-1", false},
		{"risk only", spot, cloudprovider.InterruptionRebalance, "i-1", false},
		{"broken machine", spot, cloudprovider.InterruptionUnhealthy, "i-1", false},
		{"another instance", spot, cloudprovider.InterruptionSpot, "i-2", false},
		{"no instance", nil, cloudprovider.InterruptionSpot, "i-1", false},
		{"type unknown", &cloudprovider.Instance{ID: "i-1", Zone: "zone-a", CapacityType: v1.CapacityTypeSpot},
			cloudprovider.InterruptionSpot, "i-1", false},
	} {
		t.Run(test.name, func(t *testing.T) {
			a := newAvailability(t, newClock(), nil)
			m, marked := a.MarkFromInterruption(test.instance, cloudprovider.Interruption{InstanceID: test.id, Kind: test.kind})
			require.Equal(t, test.want, marked)
			if test.want {
				require.Equal(t, []cloudprovider.Mark{m}, a.Marks())
				require.Equal(t, string(test.kind), m.Reason)
				require.Equal(t, test.instance.OfferingKey().Scope(), m.Scope)
			} else {
				require.Empty(t, a.Marks())
			}
		})
	}
}

func TestAvailabilityOptionFaults(t *testing.T) {
	_, err := cloudprovider.NewAvailability(newClock().Now, &cloudprovider.AvailabilityOptions{
		MaxTTL: time.Minute, ForgetAfter: -1, ProbeBudget: -1, ProbePeriod: -1})
	require.EqualError(t, err, `availability: maxTTL: 1m0s; use a time of at least ttl, 3m0s, or zero for marks that do not grow
availability: forgetAfter: -1ns; use a time above zero, or zero for the default
availability: probeBudget: -1; use a number above zero, or zero for any number
availability: probePeriod: -1ns; use a time above zero, or zero for the default`)
}

func TestRememberedScopesAreBounded(t *testing.T) {
	c := newClock()
	a := newAvailability(t, c, &cloudprovider.AvailabilityOptions{MaxMarks: 3, ProbeBudget: 1})
	for i := range 10 {
		a.MarkUnavailable(scope{InstanceType: fmt.Sprint("t", i)}, "")
		c.Advance(time.Second)
	}
	s := a.Snapshot()
	require.Len(t, s.Marks, 3)
	require.Len(t, s.Refusals, 3)
	require.Equal(t, "t7", s.Refusals[0].Scope.InstanceType, "the last ones are kept")
}

// Snapshot, Restore and the original agree on every offering, now and later.
func TestSnapshotAgrees(t *testing.T) {
	for seed := range int64(40) {
		random := rand.New(rand.NewSource(seed))
		c := newClock()
		opts := &cloudprovider.AvailabilityOptions{TTL: time.Minute, MaxTTL: 10 * time.Minute, ProbeBudget: 1000}
		a := newAvailability(t, c, opts)
		var keys []key
		for i := range 12 {
			keys = append(keys, key{InstanceType: fmt.Sprint("t", i%4), Zone: fmt.Sprint("z", i%3), CapacityType: v1.CapacityTypeSpot})
		}
		pick := func() scope {
			s := keys[random.Intn(len(keys))].Scope()
			if random.Intn(2) == 0 {
				s.InstanceType = ""
			}
			if random.Intn(3) == 0 {
				s.Zone = ""
			}
			return s
		}
		for range 15 {
			a.MarkUnavailable(pick(), "NoStock")
			c.Advance(time.Duration(random.Intn(50)) * time.Second)
		}
		taken := a.Snapshot()
		text, err := json.Marshal(taken)
		require.NoError(t, err)
		var read cloudprovider.AvailabilitySnapshot
		require.NoError(t, json.Unmarshal(text, &read))
		restored := newAvailability(t, c, opts)
		require.NoError(t, restored.Restore(read))
		for range 10 {
			var types []*cloudprovider.InstanceType
			for _, o := range optionsFor(keys...) {
				o.InstanceType.Offerings = []cloudprovider.Offering{*o.Offering}
				types = append(types, o.InstanceType)
			}
			require.Equal(t, a.Apply(types), taken.Apply(c.Now(), types))
			require.Equal(t, a.Apply(types), restored.Apply(types))
			for _, k := range keys {
				want, marked := a.Unavailable(k)
				got, found := taken.Unavailable(c.Now(), k)
				require.Equal(t, marked, found)
				require.Equal(t, want, got)
				require.Equal(t, a.Refusals(k.Scope()), restored.Refusals(k.Scope()))
			}
			c.Advance(40 * time.Second)
		}
	}
}

func TestRestoreFaults(t *testing.T) {
	c := newClock()
	a := newAvailability(t, c, nil)
	a.MarkUnavailable(scope{Zone: "zone-a"}, "kept")
	m := cloudprovider.Mark{Since: start.Add(time.Hour), Until: start}
	err := a.Restore(cloudprovider.AvailabilitySnapshot{Marks: []cloudprovider.Mark{m, m},
		Refusals: []cloudprovider.Refusal{{Count: 0}, {Count: 1}}})
	require.EqualError(t, err, `availability snapshot: marks[0]: every offering ends at 2026-01-02T15:00:00Z, before it begins; swap since and until
availability snapshot: marks[1]: every offering is listed twice; keep the mark that ends last
availability snapshot: marks[1]: every offering ends at 2026-01-02T15:00:00Z, before it begins; swap since and until
availability snapshot: refusals[0]: every offering: count: 0; use one or more, or leave it out
availability snapshot: refusals[1]: every offering is listed twice; keep one`)
	require.Len(t, a.Marks(), 1)
}

// Whatever happens, no more launches than the budget go to an offering that
// keeps refusing, in any period.
func TestProbeBudgetHolds(t *testing.T) {
	random := rand.New(rand.NewSource(1))
	c := newClock()
	a := newAvailability(t, c, &cloudprovider.AvailabilityOptions{TTL: time.Minute, ProbeBudget: 3, ProbePeriod: time.Minute, ForgetAfter: time.Hour})
	a.MarkUnavailable(spotA.Scope(), "NoStock")
	var probes []time.Time
	for range 5000 {
		if len(a.Admit(optionsFor(spotA))) > 0 {
			probes = append(probes, c.Now())
			if random.Intn(4) == 0 {
				a.MarkUnavailable(spotA.Scope(), "NoStock")
			}
		}
		c.Advance(time.Duration(random.Intn(5000)) * time.Millisecond)
	}
	require.NotEmpty(t, probes)
	for i := range probes {
		later := slices.IndexFunc(probes[i:], func(p time.Time) bool { return !p.Before(probes[i].Add(time.Minute)) })
		if later >= 0 {
			require.LessOrEqual(t, later, 6, "two periods at the most overlap a minute")
		}
	}
}

// Everything at once, for the race detector; nothing is left afterwards.
func TestProbesRace(t *testing.T) {
	c := newClock()
	a := newAvailability(t, c, &cloudprovider.AvailabilityOptions{MaxTTL: time.Hour, ProbeBudget: 2, MaxMarks: 20})
	var wait sync.WaitGroup
	for i := range 8 {
		wait.Go(func() {
			k := key{InstanceType: fmt.Sprint("t", i%4), Zone: "zone-a", CapacityType: v1.CapacityTypeSpot}
			for range 100 {
				a.MarkUnavailable(k.Scope(), "NoStock")
				c.Advance(time.Minute)
				if len(a.Admit(optionsFor(k))) > 0 {
					a.Launched(k)
				}
				if err := a.Restore(a.Snapshot()); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wait.Wait()
	c.Advance(100 * time.Hour)
	require.Empty(t, a.Snapshot().Marks)
	require.Empty(t, a.Snapshot().Refusals)
}

func BenchmarkAdmit(b *testing.B) {
	for _, refused := range []int{0, 100} {
		b.Run(fmt.Sprintf("refused=%d", refused), func(b *testing.B) {
			c := newClock()
			a := newAvailability(b, c, &cloudprovider.AvailabilityOptions{ProbeBudget: 1 << 30, ForgetAfter: 1000 * time.Hour})
			var keys []key
			for i := range 300 {
				keys = append(keys, key{InstanceType: fmt.Sprint("t", i), Zone: "zone-a", CapacityType: v1.CapacityTypeSpot})
				if i < refused {
					a.MarkUnavailable(keys[i].Scope(), "NoStock")
				}
			}
			c.Advance(time.Hour)
			options := optionsFor(keys...)
			b.ReportAllocs()
			for b.Loop() {
				a.Admit(options)
			}
		})
	}
}

func ExampleAvailabilitySnapshot_Apply() {
	now, _ := instant()
	availability, _ := cloudprovider.NewAvailability(now, nil)
	availability.MarkUnavailable(cloudprovider.Scope{CapacityType: "spot"}, "Quota")
	snapshot := availability.Snapshot()
	for _, at := range []time.Time{now(), now().Add(time.Hour)} {
		for _, t := range snapshot.Apply(at, newShelf().types) {
			for _, o := range t.Offerings {
				fmt.Println(o.Key(t.Name), o.Available)
			}
		}
	}
	// Output:
	// m5.large/zone-a/on-demand true
	// m5.large/zone-a/spot false
	// m5.large/zone-a/on-demand true
	// m5.large/zone-a/spot true
}

func ExampleAvailability_Admit() {
	now, advance := instant()
	availability, _ := cloudprovider.NewAvailability(now, &cloudprovider.AvailabilityOptions{
		TTL: 3 * time.Minute, MaxTTL: 30 * time.Minute, ProbeBudget: 1,
	})
	spot := cloudprovider.OfferingKey{InstanceType: "m5.large", Zone: "zone-a", CapacityType: "spot"}
	availability.MarkUnavailable(spot.Scope(), "NoStock")
	advance(3 * time.Minute)
	// A hundred machines wait; one finds out whether the stock is back.
	admitted := 0
	for range 100 {
		admitted += len(availability.Admit(optionsFor(spot)))
	}
	fmt.Println("tried:", admitted)
	fmt.Println(availability.MarkUnavailable(spot.Scope(), "NoStock"))
	advance(6 * time.Minute)
	fmt.Println("tried:", len(availability.Admit(optionsFor(spot))))
	availability.Launched(spot)
	fmt.Println("tried:", len(availability.Admit(optionsFor(spot))))
	// Output:
	// tried: 1
	// m5.large/zone-a/spot unavailable until 2026-01-02T15:09:00Z: NoStock
	// tried: 1
	// tried: 1
}

func ExampleAvailability_Launched() {
	now, advance := instant()
	availability, _ := cloudprovider.NewAvailability(now, &cloudprovider.AvailabilityOptions{MaxTTL: time.Hour})
	zone := cloudprovider.Scope{Zone: "zone-a"}
	for range 5 {
		mark := availability.MarkUnavailable(zone, "NoAddresses")
		advance(mark.Until.Sub(now()))
	}
	fmt.Println("refusals:", availability.Refusals(zone))
	availability.Launched(cloudprovider.OfferingKey{InstanceType: "m5.large", Zone: "zone-a", CapacityType: "spot"})
	fmt.Println("refusals:", availability.Refusals(zone))
	// Output:
	// refusals: 5
	// refusals: 2
}

func ExampleAvailability_MarkFromInterruption() {
	now, _ := instant()
	availability, _ := cloudprovider.NewAvailability(now, nil)
	instance := &cloudprovider.Instance{ID: "i-1", Type: "m5.large", Zone: "zone-a", CapacityType: "spot"}
	mark, _ := availability.MarkFromInterruption(instance, cloudprovider.Interruption{
		InstanceID: "i-1", Kind: cloudprovider.InterruptionSpot,
	})
	fmt.Println(mark)
	// Output:
	// m5.large/zone-a/spot unavailable until 2026-01-02T15:03:00Z: SpotInterrupted
}

func ExampleAvailability_Snapshot() {
	now, advance := instant()
	opts := &cloudprovider.AvailabilityOptions{MaxTTL: time.Hour}
	availability, _ := cloudprovider.NewAvailability(now, opts)
	availability.MarkUnavailable(cloudprovider.Scope{Zone: "zone-a"}, "NoAddresses")
	snapshot := availability.Snapshot()

	// After a restart.
	advance(time.Minute)
	availability, _ = cloudprovider.NewAvailability(now, opts)
	if err := availability.Restore(snapshot); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(availability.Marks()[0])
	fmt.Println(availability.Snapshot().Refusals[0])
	// Output:
	// zone=zone-a unavailable until 2026-01-02T15:03:00Z: NoAddresses
	// zone=zone-a refused 1 time, remembered until 2026-01-02T16:03:00Z
}
