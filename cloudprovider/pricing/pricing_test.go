package pricing_test

import (
	"fmt"
	"math"
	"math/rand"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/cloudprovider/pricing"
	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
	"github.com/dovetail-sdk/dovetail/provisioning/resources"
)

var now = time.Date(2026, 1, 2, 15, 0, 0, 0, time.UTC)

type (
	scope = cloudprovider.Scope
	key   = cloudprovider.OfferingKey
)

func od(name string) key {
	return key{InstanceType: name, Zone: "zone-a", CapacityType: v1.CapacityTypeOnDemand}
}

func spot(name, zone string) key {
	return key{InstanceType: name, Zone: zone, CapacityType: v1.CapacityTypeSpot}
}

func reserved(name string) key {
	return key{InstanceType: name, Zone: "zone-a", CapacityType: v1.CapacityTypeReserved, ReservationID: "cr-1"}
}

// catalog returns types m5.large, m5.xlarge and c5.large with every offering.
func catalog() []*cloudprovider.InstanceType {
	var types []*cloudprovider.InstanceType
	for _, name := range []string{"c5.large", "m5.large", "m5.xlarge"} {
		t := &cloudprovider.InstanceType{
			Name: name,
			Requirements: requirements.MustParse(fmt.Sprintf(
				"family = %s, node.kubernetes.io/instance-type = %s, topology.kubernetes.io/zone in (zone-a, zone-b)", name[:2], name)),
			Capacity: resources.MustParse("cpu=2, memory=8Gi, pods=29"),
		}
		for _, k := range []key{od(name), reserved(name), spot(name, "zone-a"), spot(name, "zone-b")} {
			t.Offerings = append(t.Offerings, cloudprovider.Offering{Zone: k.Zone, CapacityType: k.CapacityType,
				ReservationID: k.ReservationID, ReservationCapacity: 5, Available: true, Price: 77})
		}
		types = append(types, t)
	}
	return types
}

func listLayer() pricing.Layer {
	return pricing.Layer{Name: "list", Entries: []pricing.Entry{
		{Scope: scope{InstanceType: "m5.large", CapacityType: v1.CapacityTypeOnDemand}, Price: 0.1},
		{Scope: scope{InstanceType: "m5.xlarge", CapacityType: v1.CapacityTypeOnDemand}, Price: 0.2},
		{Scope: scope{InstanceType: "c5.large", CapacityType: v1.CapacityTypeOnDemand}, Price: 0.08},
	}}
}

func newBook(t testing.TB, opts pricing.Options) *pricing.Book {
	t.Helper()
	b, err := pricing.New(&opts)
	require.NoError(t, err)
	return b
}

func TestQuote(t *testing.T) {
	spotLayer := pricing.Layer{Name: "spot", MaxAge: time.Hour, Entries: []pricing.Entry{
		{Scope: spot("m5.large", "zone-a").Scope(), Price: 0.03, At: now.Add(-30 * time.Minute)},
		{Scope: spot("m5.large", "zone-b").Scope(), Price: 0.04, At: now.Add(-2 * time.Hour)},
		{Scope: spot("m5.xlarge", "zone-a").Scope(), Price: 0.05, At: now.Add(-2 * time.Hour)},
		{Scope: scope{InstanceType: "m5.xlarge", CapacityType: v1.CapacityTypeSpot}, Price: 0.06, At: now.Add(-time.Hour)},
	}}
	estimate := pricing.Layer{Name: "estimate", Entries: []pricing.Entry{
		{Scope: scope{InstanceType: "m5.large", Zone: "zone-b"}, Price: 0.045, At: now.Add(-24 * time.Hour)},
	}}
	opts := pricing.Options{Layers: []pricing.Layer{spotLayer, listLayer()}}
	for _, test := range []struct {
		name   string
		change func(*pricing.Options)
		key    key
		want   string
	}{
		{"a price list has one price for all zones", nil, od("m5.large"),
			"m5.large/zone-a/on-demand: 0.1 USD/h (list 0.1)"},
		{"in date", nil, spot("m5.large", "zone-a"),
			"m5.large/zone-a/spot: 0.03 USD/h (spot 0.03 of 2026-01-02T14:30:00Z)"},
		{"out of date", nil, spot("m5.large", "zone-b"),
			"m5.large/zone-b/spot: 0.04 USD/h (spot 0.04 of 2026-01-02T13:00:00Z), stale"},
		{"a wider scope in date comes before a narrow one that is not", nil, spot("m5.xlarge", "zone-a"),
			"m5.xlarge/zone-a/spot: 0.06 USD/h (spot 0.06 of 2026-01-02T14:00:00Z)"},
		{"unknown", nil, spot("c5.large", "zone-a"), "c5.large/zone-a/spot: unknown price"},
		{"a later layer in date comes before an earlier one that is not",
			func(o *pricing.Options) { o.Layers = append(o.Layers, estimate) }, spot("m5.large", "zone-b"),
			"m5.large/zone-b/spot: 0.045 USD/h (estimate 0.045 of 2026-01-01T15:00:00Z)"},
		{"the order of layers counts",
			func(o *pricing.Options) { o.Layers = []pricing.Layer{estimate, spotLayer} }, spot("m5.large", "zone-b"),
			"m5.large/zone-b/spot: 0.045 USD/h (estimate 0.045 of 2026-01-01T15:00:00Z)"},
		{"reserved is paid for", nil, reserved("m5.large"),
			"m5.large/zone-a/reserved/cr-1: 1e-08 USD/h (list 0.1, paid 1e-08)"},
		{"reserved of an unknown price is not free", nil, reserved("m6.large"),
			"m6.large/zone-a/reserved/cr-1: unknown price"},
	} {
		t.Run(test.name, func(t *testing.T) {
			o := opts
			if test.change != nil {
				test.change(&o)
			}
			require.Equal(t, test.want, newBook(t, o).Quote(now, test.key).String())
		})
	}
}

func TestScopeWidth(t *testing.T) {
	k := key{InstanceType: "t", Zone: "z", CapacityType: "c", ReservationID: "r"}
	var narrow []scope
	for _, fields := range []string{ // narrowest first
		"tzcr", "tzc", "tzr", "tcr", "zcr", "tz", "tc", "tr", "zc", "zr", "cr", "t", "z", "c", "r", "",
	} {
		part := func(name string) string {
			if strings.Contains(fields, name) {
				return name
			}
			return ""
		}
		narrow = append(narrow, scope{InstanceType: part("t"), Zone: part("z"), CapacityType: part("c"), ReservationID: part("r")})
	}
	for i := range narrow {
		var entries []pricing.Entry
		for j, s := range narrow[i:] {
			entries = append(entries, pricing.Entry{Scope: s, Price: float64(i + j + 1)})
		}
		rand.New(rand.NewSource(1)).Shuffle(len(entries), func(a, b int) { entries[a], entries[b] = entries[b], entries[a] })
		b := newBook(t, pricing.Options{Layers: []pricing.Layer{{Name: "l", Entries: entries}}})
		require.Equal(t, float64(i+1), b.Quote(now, k).Price, "%v", narrow[i])
	}
	b := newBook(t, pricing.Options{Layers: []pricing.Layer{{Name: "l", Entries: []pricing.Entry{{Scope: scope{InstanceType: "t"}, Price: 1}}}}})
	require.Equal(t, pricing.Known, b.Quote(now, key{InstanceType: "t"}).State)
	require.Equal(t, pricing.Unknown, b.Quote(now, key{}).State)
	require.Equal(t, pricing.Unknown, (*pricing.Book)(nil).Quote(now, k).State)
}

func TestNewFaults(t *testing.T) {
	_, err := pricing.New(&pricing.Options{
		Layers: []pricing.Layer{{Name: "a", MaxAge: -1}, {Name: "a", Entries: []pricing.Entry{
			{Price: math.NaN()}, {Scope: scope{Zone: "z"}, Price: 1}, {Scope: scope{Zone: "z"}, Price: 2}}}, {}},
	})
	require.EqualError(t, err, `price book: layers[0] (a): maxAge: -1ns; use a time above zero, or zero for no limit
price book: layers[1] (a): name: used twice; give each layer its own
price book: layers[1] (a): entries[0] (every offering): price: NaN; use USD per hour, above zero and at most 1e+09
price book: layers[1] (a): entries[2] (zone=z): price: 2, and 1 in an earlier entry of the same instant; keep one
price book: layers[2] (): name: empty; name the source of the prices`)
}

func TestApply(t *testing.T) {
	opts := pricing.Options{Layers: []pricing.Layer{listLayer(), {Name: "spot", MaxAge: time.Hour, Entries: []pricing.Entry{
		{Scope: scope{InstanceType: "m5.large", CapacityType: v1.CapacityTypeSpot}, Price: 0.03, At: now.Add(-2 * time.Hour)}}}}}
	types := append(catalog(), nil)
	types[0].Offerings[0].PriceOverlay = "old"
	want := catalog()
	applied, report := newBook(t, opts).Apply(now, types)
	require.Nil(t, applied[3])
	require.Equal(t, want[1], types[1], "the input is as it was")
	require.Equal(t, []key{spot("c5.large", "zone-a"), spot("c5.large", "zone-b"), spot("m5.xlarge", "zone-a"), spot("m5.xlarge", "zone-b")}, report.Unknown)
	require.Equal(t, []key{spot("m5.large", "zone-a"), spot("m5.large", "zone-b")}, report.Stale)
	for _, t1 := range applied[:3] {
		require.NoError(t, t1.Validate(), "unknown is not offered, everything offered has a price")
		for _, o := range t1.Offerings {
			require.NotEqual(t, 77.0, o.Price)
			require.Empty(t, o.PriceOverlay)
		}
	}
	require.True(t, applied[1].Offerings[2].Available, "stale is offered")
	again, _ := newBook(t, opts).Apply(now, applied)
	for i := range again {
		require.Same(t, applied[i], again[i], "what does not change is shared")
	}
	applied, report = (*pricing.Book)(nil).Apply(now, catalog())
	require.Len(t, report.Unknown, 12)
	require.False(t, applied[0].Offerings[0].Available)
}

// TestNewSaysNothingOfWhatIsRight: where an entry stands is written down for a fault only.
func TestNewSaysNothingOfWhatIsRight(t *testing.T) {
	l := pricing.Layer{Name: "list"}
	for i := range 1000 {
		l.Entries = append(l.Entries, pricing.Entry{Scope: scope{InstanceType: fmt.Sprint("t", i)}, Price: 1})
	}
	require.Less(t, testing.AllocsPerRun(3, func() { _, _ = pricing.New(&pricing.Options{Layers: []pricing.Layer{l}}) }), 500.0)
}

func TestEntries(t *testing.T) {
	a, b := spot("m5.large", "zone-a").Scope(), spot("m5.large", "zone-b").Scope()
	at := func(minutes int) time.Time { return now.Add(time.Duration(minutes) * time.Minute) }
	book := newBook(t, pricing.Options{Layers: []pricing.Layer{{Name: "spot", MaxAge: time.Hour, Entries: []pricing.Entry{
		{Scope: a, Price: 2, At: at(-10)}, {Scope: a, Price: 1, At: at(-20)}, {Scope: b, Price: 3, At: at(-10)}}}}})
	require.Equal(t, 2.0, book.Quote(now, key(a)).Price, "the later one counts")
	require.Equal(t, pricing.Stale, book.Quote(now.Add(2*time.Hour), key(b)).State, "what is not repeated ages")
	_, err := pricing.New(&pricing.Options{Layers: []pricing.Layer{{Name: "spot", MaxAge: time.Hour, Entries: []pricing.Entry{{Scope: a, Price: -1}}}}})
	require.EqualError(t, err, `price book: layers[0] (spot): entries[0] (m5.large/zone-a/spot): price: -1; use USD per hour, above zero and at most 1e+09
price book: layers[0] (spot): entries[0] (m5.large/zone-a/spot): at: zero, in a layer with a maxAge; say when the price was read`)
}

func TestAddNodeCost(t *testing.T) {
	types := []*cloudprovider.InstanceType{
		{Name: "a", Offerings: []cloudprovider.Offering{{Price: 1}, {Price: 0}, {Price: 1.5, NodeCost: 0.5}}},
		nil,
		{Name: "free", Offerings: []cloudprovider.Offering{{Price: 1}}},
	}
	before := types[0].Clone()
	cost := func(of *cloudprovider.InstanceType) float64 {
		return map[string]float64{"a": 0.25, "free": math.NaN()}[of.Name]
	}
	got := pricing.AddNodeCost(types, cost)
	require.Equal(t, []cloudprovider.Offering{{Price: 1.25, NodeCost: 0.25}, {Price: 0}, {Price: 1.25, NodeCost: 0.25}}, got[0].Offerings)
	require.Nil(t, got[1])
	require.Same(t, types[2], got[2], "what costs nothing more is shared")
	require.Equal(t, before, types[0], "the input is not modified")
	require.Equal(t, got, pricing.AddNodeCost(got, cost), "it is not added twice")
	for _, bad := range []float64{-1, math.Inf(1)} {
		require.Same(t, types[2], pricing.AddNodeCost(types, func(*cloudprovider.InstanceType) float64 { return bad })[2])
	}
}
