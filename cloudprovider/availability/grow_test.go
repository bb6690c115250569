package availability_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/cloudprovider/availability"
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
	a := newCache(t, c, &availability.Options{TTL: time.Minute, MaxTTL: 5 * time.Minute})
	refuse := func() time.Duration {
		m := a.MarkUnavailable(spotA.Scope(), "NoStock")
		return m.Until.Sub(c.Now())
	}
	for i, want := range []time.Duration{1, 2, 4, 5, 5} {
		require.Equal(t, want*time.Minute, refuse(), "refusal %d", i)
		c.Step(10 * time.Second)
		until := refuse()
		require.Equal(t, want*time.Minute, until, "a refusal under the mark counts as the same one")
		c.Step(until)
		_, marked := a.Unavailable(spotA)
		require.False(t, marked)
	}
	a.Launched(spotA)
	require.Equal(t, 4*time.Minute, refuse(), "three in a row after the success halved five")
	c.Step(14 * time.Minute)
	require.Equal(t, time.Minute, refuse(), "ten times TTL after the mark ended it is forgotten")
}

func TestMarksForReasonsThatPassSoonDoNotGrow(t *testing.T) {
	c := newClock()
	a := newCache(t, c, &availability.Options{MaxTTL: time.Hour, TTLByReason: map[string]time.Duration{"Soon": time.Minute}})
	for range 5 {
		require.Equal(t, time.Minute, a.MarkUnavailable(spotA.Scope(), "Soon").Until.Sub(c.Now()))
		c.Step(time.Minute)
	}
}

func TestReasonsGrowFromTheirOwnTTL(t *testing.T) {
	c := newClock()
	a := newCache(t, c, &availability.Options{TTL: time.Minute, MaxTTL: time.Hour,
		TTLByReason: map[string]time.Duration{"Quota": 40 * time.Minute, "Forever": 2 * time.Hour}})
	for _, want := range []time.Duration{40 * time.Minute, time.Hour, time.Hour} {
		m := a.MarkUnavailable(scope{Zone: "zone-a"}, "Quota")
		require.Equal(t, want, m.Until.Sub(c.Now()))
		c.Step(want)
	}
	m := a.MarkUnavailable(scope{Zone: "zone-a"}, "Forever")
	require.Equal(t, 2*time.Hour, m.Until.Sub(c.Now()), "a TTL above the bound is kept")
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
			a := newCache(t, newClock(), nil)
			m, marked := a.MarkFromInterruption(test.instance, cloudprovider.Interruption{InstanceID: test.id, Kind: test.kind})
			require.Equal(t, test.want, marked)
			if test.want {
				require.Equal(t, []availability.Mark{m}, a.Marks())
				require.Equal(t, string(test.kind), m.Reason)
				require.Equal(t, test.instance.OfferingKey().Scope(), m.Scope)
			} else {
				require.Empty(t, a.Marks())
			}
		})
	}
}

func TestOptionFaults(t *testing.T) {
	_, err := availability.New(newClock().Now, &availability.Options{MaxTTL: time.Minute, ForgetAfter: -1})
	require.EqualError(t, err, `availability: maxTTL: 1m0s; use a time of at least ttl, 3m0s, or zero for marks that do not grow
availability: forgetAfter: -1ns; use a time above zero, or zero for the default`)
}

func TestLaunchedForgetsRefusals(t *testing.T) {
	c := newClock()
	a := newCache(t, c, &availability.Options{TTL: time.Minute, MaxTTL: time.Hour})
	a.MarkUnavailable(spotA.Scope(), "NoStock")
	a.Launched(spotA)
	_, marked := a.Unavailable(spotA)
	require.True(t, marked, "it may have been launched before the refusal")
	c.Step(time.Minute)
	a.Launched(spotA)
	m := a.MarkUnavailable(spotA.Scope(), "NoStock")
	require.Equal(t, time.Minute, m.Until.Sub(c.Now()), "one refusal, halved, is none")
}

func TestAdmit(t *testing.T) {
	c := newClock()
	a := newCache(t, c, nil)
	other := key{InstanceType: "c5.large", Zone: "zone-b", CapacityType: v1.CapacityTypeSpot}
	onDemand := key{InstanceType: "c5.large", Zone: "zone-b", CapacityType: v1.CapacityTypeOnDemand}
	options := append(optionsFor(spotA, other, onDemand), cloudprovider.LaunchOption{})
	require.Equal(t, options[:3], a.Admit(options), "a broken option is left out")
	a.MarkUnavailable(scope{CapacityType: v1.CapacityTypeSpot}, "Quota")
	require.Equal(t, options[2:3], a.Admit(options))
	c.Step(3 * time.Minute)
	require.Equal(t, options[:3], a.Admit(options))
}

func TestRememberedScopesAreBounded(t *testing.T) {
	c := newClock()
	a := newCache(t, c, &availability.Options{TTL: time.Minute, MaxTTL: time.Hour, MaxMarks: 3})
	mark := func(name string) time.Duration {
		return a.MarkUnavailable(scope{InstanceType: name}, "").Until.Sub(c.Now())
	}
	for i := range 10 {
		require.Equal(t, time.Minute, mark(fmt.Sprint("t", i)))
		c.Step(time.Second)
	}
	require.Equal(t, []string{"instance-type=t7", "instance-type=t8", "instance-type=t9"}, scopes(a), "the last ones are kept")
	c.Step(time.Minute)
	require.Equal(t, 2*time.Minute, mark("t9"))
	require.Equal(t, time.Minute, mark("t0"), "it was forgotten")
}
