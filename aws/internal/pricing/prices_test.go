package pricing_test

import (
	"errors"
	"slices"
	"testing"
	"time"

	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/stretchr/testify/require"

	"github.com/dovetail-sdk/dovetail/aws/internal/pricing"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
	kit "github.com/dovetail-sdk/dovetail/cloudprovider/pricing"
)

func newPrices(t testing.TB, region string) *pricing.Prices {
	t.Helper()
	p, err := pricing.New(region)
	require.NoError(t, err)
	return p
}

func expect(t testing.TB, p *pricing.Prices, now time.Time, k cloudprovider.OfferingKey, price float64, state kit.State, source string) {
	t.Helper()
	gotPrice, gotState, gotSource := quote(t, p, now, k)
	require.InDelta(t, price, gotPrice, 1e-12, k)
	require.Equal(t, state, gotState, k)
	require.Equal(t, source, gotSource, k)
}

func TestBuiltin(t *testing.T) {
	later := noon.AddDate(1, 0, 0) // than all tables
	for _, c := range []struct {
		region, it string
		price      float64
	}{
		{"us-east-1", "m5.large", 0.096},
		{"us-east-1", "m5.metal", 4.608},
		{"us-east-1", "p5.48xlarge", 55.04},
		{"us-east-1", "g7.2xlarge", 2.52},
		{"us-east-1", "g7.48xlarge", 28.51328},
		{"us-gov-west-1", "m5.large", 0.121},
		{"us-gov-west-1", "i8g.large", 0.2068},
		{"us-gov-east-1", "c5.large", 0.102},
		{"eu-west-1", "m5.large", 0.096}, // of another region
	} {
		p := newPrices(t, c.region)
		expect(t, p, later, key(c.it, "a", "on-demand"), c.price, kit.Stale, "built in")
		expect(t, p, later, key(c.it, "a", "spot"), c.price, kit.Stale, "assumed")
	}
	p := newPrices(t, "us-east-1")
	expect(t, p, later, key("no.such", "a", "on-demand"), 0, kit.Unknown, "")
	cny, _, _ := quote(t, newPrices(t, "cn-north-1"), later, key("m5.large", "a", "on-demand"))
	require.Greater(t, cny, 0.3, "in CNY")
}

// Each source beats those after it as long as it is in date, and out of date those
// that are out of date as well.
func TestSources(t *testing.T) {
	onDemand, onSpot := key("m5.large", "us-east-1a", "on-demand"), key("m5.large", "us-east-1a", "spot")
	p := newPrices(t, "us-east-1")
	p, err := p.WithProducts(noon, []string{of(t, "m5.large", "0.2"), of(t, "q9.large", "0.7"), "{"})
	require.NoError(t, err)
	expect(t, p, noon, onDemand, 0.2, kit.Known, "price list")
	expect(t, p, noon, onSpot, 0.2, kit.Stale, "assumed")
	expect(t, p, noon, key("q9.large", "us-east-1a", "spot"), 0.7, kit.Stale, "assumed")
	expect(t, p, noon, key("c5.large", "us-east-1a", "on-demand"), 0.085, kit.Stale, "built in")

	withFile, err := p.WithFile(&pricing.File{Region: "us-east-1", At: noon, OnDemand: map[string]float64{"m5.large": 0.15}})
	require.NoError(t, err)
	expect(t, withFile, noon, onDemand, 0.15, kit.Known, "price file")
	expect(t, withFile, noon, onSpot, 0.15, kit.Stale, "assumed")
	expect(t, withFile, noon.Add(8*24*time.Hour), onDemand, 0.15, kit.Known, "price file")
	expect(t, withFile, noon.Add(91*24*time.Hour), onDemand, 0.15, kit.Stale, "price file")
	without, err := withFile.WithFile(nil)
	require.NoError(t, err)
	expect(t, without, noon, onDemand, 0.2, kit.Known, "price list")

	withFile, err = p.WithFile(&pricing.File{Region: "us-east-1", At: noon, Spot: map[string]map[string]float64{"m5.large": {"us-east-1a": 0.05}}})
	require.NoError(t, err)
	expect(t, withFile, noon, onSpot, 0.05, kit.Known, "price file")
	expect(t, withFile, noon, key("c5.large", "us-east-1a", "spot"), 0, kit.Unknown, "")

	p, err = withFile.WithSpot(noon, []ec2types.SpotPrice{spot("m5.large", "us-east-1a", "0.04", noon.Add(-time.Hour*500))})
	require.NoError(t, err)
	expect(t, p, noon, onSpot, 0.04, kit.Known, "spot price history")
	expect(t, p, noon.Add(24*time.Hour+1), onSpot, 0.05, kit.Known, "price file")
	expect(t, p, noon.Add(91*24*time.Hour), onSpot, 0.04, kit.Stale, "spot price history")
	expect(t, p, noon, key("m5.large", "us-east-1b", "spot"), 0, kit.Unknown, "")
	expect(t, p, noon, key("m5.large", "us-east-1a", "on-demand"), 0.2, kit.Known, "price list")
}

// What a source does not repeat stays, ages, and on spot is forgotten.
func TestMerge(t *testing.T) {
	p := newPrices(t, "us-east-1")
	add := func(at time.Time, zones ...string) {
		var history []ec2types.SpotPrice
		for _, zone := range zones {
			history = append(history, spot("m5.large", zone, "0.04", at))
		}
		next, err := p.WithSpot(at, history)
		require.NoError(t, err)
		p = next
	}
	add(noon, "a", "b")
	later := noon.Add(2 * 24 * time.Hour)
	add(later, "a")
	expect(t, p, later, key("m5.large", "a", "spot"), 0.04, kit.Known, "spot price history")
	expect(t, p, later, key("m5.large", "b", "spot"), 0.04, kit.Stale, "spot price history")
	add(noon.Add(30*24*time.Hour), "a")
	_, state, _ := quote(t, p, later, key("m5.large", "b", "spot"))
	require.NotEqual(t, kit.Unknown, state)
	add(noon.Add(30*24*time.Hour+1), "a")
	_, state, _ = quote(t, p, later, key("m5.large", "b", "spot"))
	require.Equal(t, kit.Unknown, state)

	// An answer that comes late does not replace a newer one.
	next, err := p.WithSpot(noon, []ec2types.SpotPrice{spot("m5.large", "a", "0.9", noon)})
	require.NoError(t, err)
	expect(t, next, noon.Add(30*24*time.Hour), key("m5.large", "a", "spot"), 0.04, kit.Known, "spot price history")

	p, err = p.WithProducts(noon, []string{of(t, "m5.large", "0.2"), of(t, "c5.large", "0.3")})
	require.NoError(t, err)
	p, err = p.WithProducts(noon.Add(300*24*time.Hour), []string{of(t, "m5.large", "0.25")})
	require.NoError(t, err)
	expect(t, p, noon.Add(300*24*time.Hour), key("c5.large", "a", "on-demand"), 0.3, kit.Stale, "price list")
}

// A source that fails takes nothing away.
func TestFailures(t *testing.T) {
	p := newPrices(t, "us-east-1")
	p, err := p.WithProducts(noon, []string{of(t, "m5.large", "0.2")})
	require.NoError(t, err)
	failed, err := p.WithProducts(noon.Add(12*time.Hour), []string{"{}", "["})
	require.ErrorIs(t, err, pricing.ErrNoPrice)
	require.ErrorContains(t, err, `price list: no price in the answer: none of 2 parts is usable; the first [0]: regionCode is ""`)
	expect(t, failed, noon.Add(12*time.Hour), key("m5.large", "a", "on-demand"), 0.2, kit.Known, "price list")
	expect(t, failed, noon.Add(8*24*time.Hour), key("m5.large", "a", "on-demand"), 0.2, kit.Stale, "price list")
	_, err = failed.WithSpot(noon, nil)
	require.EqualError(t, err, "spot price history: no price in the answer: none of 0 parts is usable")

	_, err = p.WithFile(&pricing.File{Region: "us-east-2", At: noon, OnDemand: map[string]float64{"a.b": 1}})
	require.ErrorContains(t, err, `price file: region: "us-east-2"; use one of us-east-1`)
	_, err = p.WithFile(&pricing.File{Region: "us-east-1"})
	require.ErrorContains(t, err, "no price")
}

func TestStatus(t *testing.T) {
	p := newPrices(t, "us-east-1")
	of1 := func(p *pricing.Prices, now time.Time, source pricing.Source) pricing.Status {
		list := p.Status(now)
		i := slices.IndexFunc(list, func(s pricing.Status) bool { return s.Source == source })
		return list[i]
	}
	var order []pricing.Source
	for _, s := range p.Status(noon) {
		order = append(order, s.Source)
	}
	require.Equal(t, []pricing.Source{pricing.SourceSpot, pricing.SourceFile, pricing.SourceOnDemand, pricing.SourceAssumed, pricing.SourceBuiltin}, order)
	builtin := of1(p, noon, pricing.SourceBuiltin)
	require.Greater(t, builtin.Prices, 1300)
	require.Equal(t, builtin.Prices, builtin.Stale)

	p, err := p.WithProducts(noon, []string{of(t, "m5.large", "0.2")})
	require.NoError(t, err)
	s := of1(p, noon, pricing.SourceOnDemand)
	require.Equal(t, pricing.Status{Source: pricing.SourceOnDemand, Prices: 1, Success: noon}, s)

	why := errors.New("timeout")
	for i := range 12 {
		p = p.WithFailure(pricing.SourceOnDemand, why)
		s = of1(p, noon, pricing.SourceOnDemand)
		require.Equal(t, i+1, s.Failures)
	}
	require.ErrorIs(t, s.Err, why)
	s = of1(p, noon.Add(8*24*time.Hour), pricing.SourceOnDemand)
	require.Equal(t, 1, s.Stale)
	p, err = p.WithProducts(noon, []string{of(t, "m5.large", "0.2")})
	require.NoError(t, err)
	require.Zero(t, of1(p, noon, pricing.SourceOnDemand).Failures, "an answer ends it")
	require.Equal(t, pricing.Status{Source: pricing.SourceSpot}, of1(p, noon, pricing.SourceSpot))
}

func TestNew(t *testing.T) {
	_, err := pricing.New("?")
	require.ErrorContains(t, err, `region: "?"`)
}

// Prices are a value: what is made of them leaves them as they are.
func TestPricesDoNotChange(t *testing.T) {
	p := newPrices(t, "us-east-1")
	before := p.Status(noon)
	_, err := p.WithProducts(noon, []string{of(t, "m5.large", "0.2")})
	require.NoError(t, err)
	p.WithFailure(pricing.SourceSpot, errors.New("x"))
	require.Equal(t, before, p.Status(noon))
	expect(t, p, noon, key("m5.large", "a", "on-demand"), 0.096, kit.Stale, "built in")
}
