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
	b, err := pricing.New(opts)
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
		{"fees add up", func(o *pricing.Options) {
			o.Fees = []pricing.Fee{{Name: "agent", Price: 0.02}, {Name: "tax", Price: 0.01, Scope: scope{Zone: "zone-a"}},
				{Name: "other", Price: 9, Scope: scope{Zone: "zone-c"}}}
		}, od("m5.large"), "m5.large/zone-a/on-demand: 0.13 USD/h (list 0.1, agent 0.12, tax 0.13)"},
		{"fees on reserved capacity", func(o *pricing.Options) { o.Fees = []pricing.Fee{{Name: "agent", Price: 0.02}} },
			reserved("m5.large"), "m5.large/zone-a/reserved/cr-1: 0.02 USD/h (list 0.1, paid 1e-08, agent 0.02)"},
		{"the narrowest adjustment counts alone", func(o *pricing.Options) {
			o.Adjustments = []pricing.Adjustment{{Name: "all", Change: "-50%"},
				{Name: "enterprise", Scope: scope{InstanceType: "m5.large"}, Change: "-10%"},
				{Name: "zone", Scope: scope{Zone: "zone-a"}, Change: "-90%"}}
		}, od("m5.large"), "m5.large/zone-a/on-demand: 0.09 USD/h (list 0.1, enterprise 0.09)"},
		{"an adjustment counts before a reservation", func(o *pricing.Options) {
			o.PaidShare = 0.5
			o.Adjustments = []pricing.Adjustment{{Name: "all", Change: "+0.1"}}
		}, reserved("m5.large"), "m5.large/zone-a/reserved/cr-1: 0.1 USD/h (list 0.1, all 0.2, paid 0.1)"},
		{"an adjustment never makes it free", func(o *pricing.Options) {
			o.Adjustments = []pricing.Adjustment{{Name: "all", Change: "-100%"}}
		}, od("m5.large"), "m5.large/zone-a/on-demand: 1e-08 USD/h (list 0.1, all 1e-08)"},
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

func TestUpdate(t *testing.T) {
	a, b := spot("m5.large", "zone-a").Scope(), spot("m5.large", "zone-b").Scope()
	at := func(minutes int) time.Time { return now.Add(time.Duration(minutes) * time.Minute) }
	book := newBook(t, pricing.Options{Layers: []pricing.Layer{{Name: "spot", MaxAge: time.Hour, Entries: []pricing.Entry{
		{Scope: a, Price: 2, At: at(-10)}, {Scope: a, Price: 1, At: at(-20)}, {Scope: b, Price: 3, At: at(-10)}}}}})
	price := func(b *pricing.Book, s scope) float64 { return b.Quote(now, key(s)).Price }
	require.Equal(t, 2.0, price(book, a), "the later one counts")
	updated, err := book.Update("spot", []pricing.Entry{{Scope: a, Price: 4, At: at(-5)}, {Scope: b, Price: 5, At: at(-15)}})
	require.NoError(t, err)
	require.Equal(t, 4.0, price(updated, a))
	require.Equal(t, 3.0, price(updated, b), "an older price does not come back")
	require.Equal(t, 2.0, price(book, a), "the book stays as it was")
	replaced, err := book.Replace("spot", []pricing.Entry{{Scope: a, Price: 1, At: at(-15)}})
	require.NoError(t, err)
	require.Equal(t, 1.0, price(replaced, a))
	require.Equal(t, pricing.Unknown, replaced.Quote(now, key(b)).State)
	require.Equal(t, pricing.Stale, book.Quote(now.Add(2*time.Hour), key(b)).State, "what is not repeated ages")
	_, err = book.Update("list", nil)
	require.EqualError(t, err, `price book: no layer "list"; name one that New was given`)
	_, err = (*pricing.Book)(nil).Update("list", nil)
	require.Error(t, err)
	_, err = book.Update("spot", []pricing.Entry{{Scope: a, Price: -1}})
	require.EqualError(t, err, `price book: layer spot: entries[0] (m5.large/zone-a/spot): price: -1; use USD per hour, above zero and at most 1e+09
price book: layer spot: entries[0] (m5.large/zone-a/spot): at: zero, in a layer with a maxAge; say when the price was read`)
}

func TestNewFaults(t *testing.T) {
	_, err := pricing.New(pricing.Options{
		PaidShare: 2,
		Layers: []pricing.Layer{{Name: "a", MaxAge: -1}, {Name: "a", Entries: []pricing.Entry{
			{Price: math.NaN()}, {Scope: scope{Zone: "z"}, Price: 1}, {Scope: scope{Zone: "z"}, Price: 2}}}, {}},
		Adjustments: []pricing.Adjustment{{Name: "x", Change: "cheap"}, {Name: "y", Change: "-1%"}},
		Fees:        []pricing.Fee{{Name: "f"}},
		Commitments: []pricing.Commitment{{Name: "c"}, {Name: "d", Hourly: math.Inf(1), Instances: -1, Discount: 1, Rates: map[string]float64{"b": 0, "a": -1},
			Covers: requirements.MustParse("a in ()"), From: now, Until: now}},
	})
	require.EqualError(t, err, `price book: paidShare: 2; use a share above 0, at most 1, or zero for the default
price book: layers[0] (a): maxAge: -1ns; use a time above zero, or zero for ever
price book: layers[1] (a): name: there twice; give each its own
price book: layers[1] (a): entries[0] (every offering): price: NaN; use USD per hour, above zero and at most 1e+09
price book: layers[1] (a): entries[2] (zone=z): price: 2, and 1 in an earlier entry of the same instant; keep one
price book: layers[2] (): name: empty; say where it comes from
`+adjustmentFault(t)+`
price book: adjustments[1] (y): scope: every offering is that of x as well; they do not add up, so make one of them
price book: fees[0] (f): price: 0; use USD per hour, above zero and at most 1e+09
price book: commitments[0] (c): hourly: 0, instances: 0; set exactly one of them
price book: commitments[1] (d): hourly: price: +Inf; use USD per hour, above zero and at most 1e+09
price book: commitments[1] (d): instances: -1; use a number above zero
price book: commitments[1] (d): hourly: +Inf, instances: -1; set exactly one of them
price book: commitments[1] (d): discount: 1; use a part from 0 up to 1, such as 0.28
price book: commitments[1] (d): rates: a: price: -1; use USD per hour, above zero and at most 1e+09
price book: commitments[1] (d): rates: b: price: 0; use USD per hour, above zero and at most 1e+09
price book: commitments[1] (d): covers: a in () contradicts itself; nothing is covered
price book: commitments[1] (d): until: not after from; swap them`)
}

func adjustmentFault(t *testing.T) string {
	_, err := cloudprovider.AdjustPrice(1, "cheap")
	require.Error(t, err)
	return "price book: adjustments[0] (x): change: " + err.Error()
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
	opts.WithholdStale = true
	applied, _ = newBook(t, opts).Apply(now, types)
	require.False(t, applied[1].Offerings[2].Available)
	applied, report = (*pricing.Book)(nil).Apply(now, catalog())
	require.Len(t, report.Unknown, 12)
	require.False(t, applied[0].Offerings[0].Available)
}

func TestAccount(t *testing.T) {
	family := requirements.MustParse("family = m5")
	plan := pricing.Commitment{Name: "plan", Covers: family, Hourly: 0.21, Discount: 0.3}
	for _, test := range []struct {
		name        string
		commitments []pricing.Commitment
		usage       []pricing.Usage
		lines       []string
		uses        []string
		cost        float64
		next        float64 // of m5.large on demand, at the rate
		marginal    float64
		room        int
	}{
		{"none", nil, []pricing.Usage{{Key: od("m5.large"), Count: 2}},
			[]string{"2 m5.large/zone-a/on-demand 0.2"}, nil, 0.2, 0.1, 0.1, 0},
		{"used in part", []pricing.Commitment{plan}, []pricing.Usage{{Key: od("m5.large"), Count: 1}},
			[]string{"1 m5.large/zone-a/on-demand 0.07 [plan 1 at 0.07]"}, []string{"plan 0.07 of 0.21"}, 0.21, 0.07, 0.07e-7, 2},
		{"an instance covered in part", []pricing.Commitment{plan}, []pricing.Usage{{Key: od("m5.xlarge"), Count: 2}},
			[]string{"2 m5.xlarge/zone-a/on-demand 0.31 [plan 1.5 at 0.14]"}, []string{"plan 0.21 of 0.21"}, 0.31, 0.1, 0.1, 0},
		{"room for half an instance", []pricing.Commitment{{Name: "plan", Covers: family, Hourly: 0.035, Discount: 0.3}}, nil,
			nil, []string{"plan 0 of 0.035"}, 0.035, 0.5*0.07 + 0.5*0.1, 0.5*0.07e-7 + 0.5*0.1, 0},
		{"other families are not covered", []pricing.Commitment{plan}, []pricing.Usage{{Key: od("c5.large"), Count: 1}},
			[]string{"1 c5.large/zone-a/on-demand 0.08"}, []string{"plan 0 of 0.21"}, 0.29, 0.07, 0.07e-7, 3},
		{"spot is not covered unless named", []pricing.Commitment{plan}, []pricing.Usage{{Key: spot("m5.large", "zone-a"), Count: 1}},
			[]string{"1 m5.large/zone-a/spot 0.05"}, []string{"plan 0 of 0.21"}, 0.26, 0.07, 0.07e-7, 3},
		{"spot is covered if named",
			[]pricing.Commitment{{Name: "plan", Covers: requirements.MustParse("karpenter.sh/capacity-type = spot"), Hourly: 0.1, Discount: 0.5}},
			[]pricing.Usage{{Key: spot("m5.large", "zone-a"), Count: 1}},
			[]string{"1 m5.large/zone-a/spot 0.025 [plan 1 at 0.025]"}, []string{"plan 0.025 of 0.1"}, 0.1, 0.1, 0.1, 0},
		{"the largest saving first",
			[]pricing.Commitment{{Name: "plan", Hourly: 0.12, Discount: 0.1, Rates: map[string]float64{"m5.xlarge": 0.12}}},
			[]pricing.Usage{{Key: od("m5.large"), Count: 1}, {Key: od("m5.xlarge"), Count: 1}},
			[]string{"1 m5.large/zone-a/on-demand 0.1", "1 m5.xlarge/zone-a/on-demand 0.12 [plan 1 at 0.12]"},
			[]string{"plan 0.12 of 0.12"}, 0.22, 0.1, 0.1, 0},
		{"instances, then the plan", []pricing.Commitment{
			{Name: "ri", Covers: requirements.MustParse("node.kubernetes.io/instance-type = m5.large"), Instances: 2, Discount: 0.5}, plan},
			[]pricing.Usage{{Key: od("m5.large"), Count: 1}, {Key: od("m5.large"), Count: 2}},
			[]string{"3 m5.large/zone-a/on-demand 0.17 [ri 2 at 0.05] [plan 1 at 0.07]"},
			[]string{"ri 2 of 2", "plan 0.07 of 0.21"}, 0.31, 0.07, 0.07e-7, 2},
		{"not yet, and no more", []pricing.Commitment{
			{Name: "old", Instances: 5, Until: now}, {Name: "new", Hourly: 5, From: now.Add(1)}, {Name: "held", Instances: 1, From: now, Until: now.Add(1), Discount: 0.5}},
			[]pricing.Usage{{Key: od("m5.large"), Count: 1}},
			[]string{"1 m5.large/zone-a/on-demand 0.05 [held 1 at 0.05]"},
			[]string{"old 0 of 5", "new 0 of 5", "held 1 of 1"}, 0.05, 0.1, 0.1, 0},
		{"what is not in the catalog is not covered", []pricing.Commitment{{Name: "ri", Instances: 1, Rates: map[string]float64{"m9.large": 0.3}}},
			[]pricing.Usage{{Key: od("m9.large"), Count: 2}},
			[]string{"2 m9.large/zone-a/on-demand 0 unknown"}, []string{"ri 0 of 1"}, 0, 0.1, 0.1e-7, 1},
		{"nothing runs", []pricing.Commitment{plan}, []pricing.Usage{{Key: od("m5.large"), Count: 0}, {Key: od("m5.large"), Count: -3}},
			nil, []string{"plan 0 of 0.21"}, 0.21, 0.07, 0.07e-7, 3},
	} {
		t.Run(test.name, func(t *testing.T) {
			b := newBook(t, pricing.Options{Commitments: test.commitments, Layers: []pricing.Layer{listLayer(),
				{Name: "spot", Entries: []pricing.Entry{{Scope: scope{CapacityType: v1.CapacityTypeSpot}, Price: 0.05}}}}})
			s := b.Account(now, catalog(), test.usage)
			var lines []string
			for _, l := range s.Lines {
				text := fmt.Sprintf("%d %s %.4g", l.Count, l.Key, l.Cost)
				for _, c := range l.Covered {
					text += fmt.Sprintf(" [%s %.4g at %.4g]", c.Commitment, c.Instances, c.Rate)
				}
				if l.Quote.State == pricing.Unknown {
					text += " unknown"
					require.Contains(t, s.Unknown, l.Key)
				}
				lines = append(lines, text)
			}
			require.Equal(t, test.lines, lines)
			var uses []string
			for _, u := range s.Uses {
				uses = append(uses, fmt.Sprintf("%s %.4g of %.4g", u.Commitment, u.Used, u.Amount))
				require.InDelta(t, u.Amount, u.Used+u.Left, 1e-12)
			}
			require.Equal(t, test.uses, uses)
			require.InDelta(t, test.cost, s.Cost, 1e-12)
			next := s.Next(od("m5.large"), pricing.BasisRate)
			require.InDelta(t, test.next, next.Price, 1e-12, next.String())
			require.InDelta(t, test.marginal, s.Next(od("m5.large"), pricing.BasisMarginal).Price, 1e-12)
			require.Equal(t, test.room, s.Room(od("m5.large")))
		})
	}
}

func TestCommitmentPricesTheUnknown(t *testing.T) {
	b := newBook(t, pricing.Options{
		Fees:        []pricing.Fee{{Name: "agent", Price: 0.01}},
		Commitments: []pricing.Commitment{{Name: "ri", Instances: 1, Rates: map[string]float64{"m5.large": 0.3}}},
	})
	s := b.Account(now, catalog(), nil)
	require.Equal(t, "m5.large/zone-a/on-demand: 0.31 USD/h (ri 0.3, agent 0.31)", s.Next(od("m5.large"), "").String())
	require.Equal(t, pricing.Unknown, s.Next(od("m5.xlarge"), "").State)
	s = b.Account(now, catalog(), []pricing.Usage{{Key: od("m5.large"), Count: 2}})
	require.Equal(t, pricing.Unknown, s.Next(od("m5.large"), "").State, "it is used up")
	require.Equal(t, []key{od("m5.large")}, s.Unknown)
	require.InDelta(t, 0.3+2*0.01, s.Cost, 1e-12, "the covered one, and the fees of both")
}

func TestStatementApply(t *testing.T) {
	b := newBook(t, pricing.Options{Layers: []pricing.Layer{listLayer()},
		Commitments: []pricing.Commitment{{Name: "plan", Hourly: 1, Covers: requirements.MustParse("family = m5"), Discount: 0.5}}})
	applied, report := b.Account(now, catalog(), nil).Apply(pricing.BasisRate)
	require.Equal(t, 0.05, applied[1].Offerings[0].Price)
	require.Equal(t, 0.08, applied[0].Offerings[0].Price)
	require.Len(t, report.Unknown, 6, "spot")
	applied, _ = (*pricing.Book)(nil).Account(now, catalog(), []pricing.Usage{{Key: od("m5.large"), Count: 1}}).Apply("")
	require.False(t, applied[0].Offerings[0].Available)
	require.Zero(t, (*pricing.Book)(nil).Account(now, nil, nil).Room(od("m5.large")))
}

func TestUsageOf(t *testing.T) {
	i := func(name string, deleting bool) *cloudprovider.Instance {
		return &cloudprovider.Instance{Type: name, Zone: "zone-a", CapacityType: v1.CapacityTypeOnDemand, Deleting: deleting}
	}
	require.Equal(t, []pricing.Usage{{Key: od("c5.large"), Count: 1}, {Key: od("m5.large"), Count: 2}},
		pricing.UsageOf([]*cloudprovider.Instance{i("m5.large", false), nil, i("c5.large", false), i("m5.large", true), i("m5.large", false)}))
}

// Over random books and usage: the order of input does not count, commitments
// are never overdrawn, each instance is covered once, a marginal price is what
// the cost grows by, and prices are positive.
func TestLawsOfAccount(t *testing.T) {
	for seed := range int64(300) {
		random := rand.New(rand.NewSource(seed))
		opts := pricing.Options{Layers: []pricing.Layer{listLayer()}}
		for i := range random.Intn(4) {
			c := pricing.Commitment{Name: fmt.Sprint("c", i), Discount: float64(random.Intn(9)) / 10}
			if random.Intn(2) == 0 {
				c.Instances = 1 + random.Intn(4)
			} else {
				c.Hourly = float64(1+random.Intn(50)) / 100
			}
			if random.Intn(2) == 0 {
				c.Covers = requirements.MustParse("family = m5")
			}
			opts.Commitments = append(opts.Commitments, c)
		}
		b := newBook(t, opts)
		var usage []pricing.Usage
		for range random.Intn(6) {
			usage = append(usage, pricing.Usage{Key: od([]string{"m5.large", "m5.xlarge", "c5.large"}[random.Intn(3)]), Count: 1 + random.Intn(4)})
		}
		s := b.Account(now, catalog(), usage)
		shuffled := append([]pricing.Usage(nil), usage...)
		random.Shuffle(len(shuffled), func(i, j int) { shuffled[i], shuffled[j] = shuffled[j], shuffled[i] })
		again := b.Account(now, catalog(), shuffled)
		require.Equal(t, s.Lines, again.Lines)
		require.Equal(t, s.Uses, again.Uses)
		for _, u := range s.Uses {
			require.GreaterOrEqual(t, u.Left, 0.0)
			require.LessOrEqual(t, u.Used, u.Amount)
		}
		for _, l := range s.Lines {
			var covered float64
			for _, c := range l.Covered {
				covered += c.Instances
			}
			require.LessOrEqual(t, covered, float64(l.Count)+1e-9)
		}
		for _, k := range []key{od("m5.large"), od("m5.xlarge"), od("c5.large")} {
			rate, marginal := s.Next(k, pricing.BasisRate), s.Next(k, pricing.BasisMarginal)
			require.Positive(t, marginal.Price)
			require.LessOrEqual(t, marginal.Price, rate.Price*(1+1e-9))
			require.LessOrEqual(t, rate.Price, b.Quote(now, k).Price*(1+1e-9))
		}
	}
}

func BenchmarkApply(b *testing.B) {
	for _, n := range []int{100, 1000} {
		b.Run(fmt.Sprintf("types=%d", n), func(b *testing.B) {
			var types []*cloudprovider.InstanceType
			l := pricing.Layer{Name: "list"}
			for i := range n {
				name := fmt.Sprint("t", i)
				t := &cloudprovider.InstanceType{Name: name}
				for z := range 3 {
					t.Offerings = append(t.Offerings, cloudprovider.Offering{Zone: fmt.Sprint("z", z), CapacityType: "spot", Available: true})
					l.Entries = append(l.Entries, pricing.Entry{Scope: scope{InstanceType: name, Zone: fmt.Sprint("z", z)}, Price: 1})
				}
				types = append(types, t)
			}
			book := newBook(b, pricing.Options{Layers: []pricing.Layer{l}})
			b.ReportAllocs()
			for b.Loop() {
				book.Apply(now, types)
			}
		})
	}
}
