package nodeclass_test

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/stretchr/testify/require"
	clock "k8s.io/utils/clock/testing"

	karpv1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/aws/internal/api"
	"github.com/dovetail-sdk/dovetail/aws/internal/cache"
	"github.com/dovetail-sdk/dovetail/aws/internal/nodeclass"
	"github.com/dovetail-sdk/dovetail/aws/internal/pricing"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
	kit "github.com/dovetail-sdk/dovetail/cloudprovider/pricing"
)

func onDemand(name string) cloudprovider.OfferingKey {
	return cloudprovider.OfferingKey{InstanceType: name, Zone: "us-east-1a", CapacityType: karpv1.CapacityTypeOnDemand}
}

func spot(name string) cloudprovider.OfferingKey {
	return cloudprovider.OfferingKey{InstanceType: name, Zone: "us-east-1a", CapacityType: karpv1.CapacityTypeSpot}
}

func priced(t testing.TB) *Cloud {
	t.Helper()
	c := region(t)
	data, err := os.ReadFile("../pricing/testdata/m5.large.json")
	require.NoError(t, err)
	c.Products = []string{string(data)}
	c.Spot = []ec2types.SpotPrice{
		{InstanceType: "m5.large", AvailabilityZone: new("us-east-1a"), SpotPrice: new("0.0351"), Timestamp: &Noon, ProductDescription: "Linux/UNIX"},
		{InstanceType: "m5.large", AvailabilityZone: new("us-east-1b"), SpotPrice: new("0.0402"), Timestamp: &Noon, ProductDescription: "Linux/UNIX"},
		{InstanceType: "c5.xlarge", AvailabilityZone: new("us-east-1a"), SpotPrice: new("0.0703"), Timestamp: &Noon, ProductDescription: "Linux/UNIX (Amazon VPC)"},
	}
	return c
}

// known returns the prices once everything that is due has been read.
func known(t testing.TB, s *nodeclass.Sources) *pricing.Prices {
	t.Helper()
	_, err := s.Prices(bg)
	require.NoError(t, err)
	_ = s.Refresh(bg)
	p, err := s.Prices(bg)
	require.NoError(t, err)
	return p
}

func quote(t testing.TB, s *nodeclass.Sources, k *clock.FakeClock, key cloudprovider.OfferingKey) kit.Quote {
	t.Helper()
	p := known(t, s)
	return p.Book().Quote(k.Now(), key)
}

func TestPricesRefresh(t *testing.T) {
	c, k := priced(t), newClock()
	c.PageSize = 1
	s := sources(t, c, k)
	require.Equal(t, 0.0351, quote(t, s, k, spot("m5.large")).Price)
	require.Equal(t, 0.096, quote(t, s, k, onDemand("m5.large")).Price)
	require.Contains(t, c.Asked(), "GetProducts at us-east-1")
	calls := c.Calls()
	require.Equal(t, map[string]int{"DescribeSpotPriceHistory": 3, "GetProducts": 2}, calls, "one for each page, and two questions")

	c.Change(func(c *Cloud) { c.Spot[0].SpotPrice = new("0.05") })
	k.Step(time.Hour - 1)
	require.Equal(t, 0.0351, quote(t, s, k, spot("m5.large")).Price)
	require.Empty(t, c.Calls())
	k.Step(1)
	require.Equal(t, 0.05, quote(t, s, k, spot("m5.large")).Price)
	require.Equal(t, map[string]int{"DescribeSpotPriceHistory": 3}, c.Calls())
	k.Step(11 * time.Hour)
	quote(t, s, k, spot("m5.large"))
	require.Equal(t, 2, c.Calls()["GetProducts"], "after twelve hours")
}

// When nothing can be reached prices stay, and are marked once they are too old.
func TestPricesWhenEverythingFails(t *testing.T) {
	c, k := priced(t), newClock()
	s := sources(t, c, k)
	quote(t, s, k, spot("m5.large"))
	fail(c, "GetProducts", errors.New("no route to host"))
	fail(c, "DescribeSpotPriceHistory", throttled("DescribeSpotPriceHistory"))
	c.Calls()
	for range 48 * 12 { // two days
		k.Step(5 * time.Minute)
		_ = s.Refresh(bg)
		_, err := s.Prices(bg)
		require.NoError(t, err)
	}
	require.Less(t, c.Calls()["DescribeSpotPriceHistory"], 60, "about once an hour")
	q := quote(t, s, k, spot("m5.large"))
	require.Equal(t, 0.0351, q.Price)
	require.Equal(t, kit.Stale, q.State)
	require.NotEqual(t, kit.Stale, quote(t, s, k, onDemand("m5.large")).State, "good for a week")
	p, err := s.Prices(bg)
	require.NoError(t, err)
	for _, status := range p.Status(k.Now()) {
		if status.Source == pricing.SourceSpot {
			require.Equal(t, 3, status.Stale)
			require.ErrorIs(t, status.Err, cloudprovider.ErrThrottled)
		}
	}
	k.Step(7 * 24 * time.Hour)
	_ = s.Refresh(bg)
	require.Equal(t, kit.Stale, quote(t, s, k, onDemand("m5.large")).State)
	var failing []string
	for _, h := range s.Health() {
		if h.Failures > 0 {
			failing = append(failing, h.Name)
		}
	}
	require.Equal(t, []string{"price list", "spot price history"}, failing)
}

// From the start without any source: what is compiled in, marked stale.
func TestPricesBuiltIn(t *testing.T) {
	c, k := priced(t), newClock()
	fail(c, "GetProducts", errors.New("no route to host"))
	fail(c, "DescribeSpotPriceHistory", errors.New("no route to host"))
	s := sources(t, c, k)
	q := quote(t, s, k, onDemand("m5.large"))
	require.Positive(t, q.Price)
	require.Equal(t, kit.Stale, q.State)
	require.Positive(t, quote(t, s, k, spot("m5.large")).Price)
}

const priceFile = `
version: 1
region: us-east-1
at: "2026-11-01T00:00:00Z"
onDemand: {m5.large: 0.2, c5.xlarge: 0.3}
spot: {m5.large: {us-east-1a: 0.11}}
`

// A VPC without a way out: no price list, no spot history, and a file.
func TestPriceFileInIsolatedVPC(t *testing.T) {
	c, k := priced(t), newClock()
	fail(c, "DescribeSpotPriceHistory", errors.New("i/o timeout"))
	text, broken := priceFile, error(nil)
	reads := 0
	s := sources(t, c, k, func(clients *api.Clients, o *nodeclass.Options) {
		clients.Pricing = nil
		o.PriceFile = func(context.Context) ([]byte, error) { reads++; return []byte(text), broken }
	})
	require.Equal(t, 0.2, quote(t, s, k, onDemand("m5.large")).Price)
	require.Equal(t, 0.11, quote(t, s, k, spot("m5.large")).Price)
	require.NotEqual(t, kit.Stale, quote(t, s, k, spot("m5.large")).State)
	require.Zero(t, c.Calls()["GetProducts"])
	require.Equal(t, 1, reads)

	p, _ := s.Prices(bg)
	k.Step(10 * time.Minute)
	_ = s.Refresh(bg)
	same, _ := s.Prices(bg)
	require.Equal(t, 2, reads)
	require.Same(t, p.Book(), same.Book(), "nothing has changed")

	text = "version: 1\nregion: eu-central-1\nat: \"2026-11-01T00:00:00Z\"\nonDemand: {m5.large: 1}\n"
	k.Step(10 * time.Minute)
	_ = s.Refresh(bg)
	require.Equal(t, 0.2, quote(t, s, k, onDemand("m5.large")).Price, "the file of another region is refused")
	require.ErrorContains(t, health(t, s, "price file").Err, "eu-central-1")

	text = "version: [1]\nonDemand: {m5.large: -1}\nat: x\n"
	k.Step(time.Hour)
	_ = s.Refresh(bg)
	require.Equal(t, 0.2, quote(t, s, k, onDemand("m5.large")).Price)
	require.ErrorContains(t, health(t, s, "price file").Err, "version")

	text, broken = priceFile, errors.New("permission denied")
	k.Step(time.Hour)
	_ = s.Refresh(bg)
	require.Equal(t, 0.2, quote(t, s, k, onDemand("m5.large")).Price)
	require.ErrorContains(t, health(t, s, "price file").Err, "permission denied")

	text, broken = strings.ReplaceAll(priceFile, "0.2", "0.25"), nil
	k.Step(time.Hour)
	_ = s.Refresh(bg)
	require.Equal(t, 0.25, quote(t, s, k, onDemand("m5.large")).Price)
	require.Zero(t, health(t, s, "price file").Failures)

	text = ""
	k.Step(time.Hour)
	_ = s.Refresh(bg)
	require.NotEqual(t, 0.25, quote(t, s, k, onDemand("m5.large")).Price, "no file any more")
	k.Step(120 * 24 * time.Hour)
	_ = s.Refresh(bg)
	text = priceFile
	require.Equal(t, kit.Stale, quote(t, s, k, onDemand("m5.large")).State, "a file ages from the instant that it says")
}

// In regions without a price list it is not asked.
func TestPricesWithoutPriceList(t *testing.T) {
	c, k := priced(t), newClock()
	s := sources(t, c, k, func(_ *api.Clients, o *nodeclass.Options) { o.Region = "us-gov-west-1" })
	known(t, s)
	require.Equal(t, map[string]int{"DescribeSpotPriceHistory": 1}, c.Calls())
}

func TestPricesContext(t *testing.T) {
	c, k := priced(t), newClock()
	s := sources(t, c, k)
	ctx, cancel := context.WithCancel(bg)
	_, err := s.Prices(ctx)
	require.NoError(t, err)
	cancel()
	require.NoError(t, s.Refresh(bg), "who gives up is no failure to wait after")
	_, err = s.Prices(ctx)
	require.ErrorIs(t, err, context.Canceled)
	p, err := s.Prices(bg)
	require.NoError(t, err)
	require.Equal(t, 0.0351, p.Book().Quote(k.Now(), spot("m5.large")).Price)
	for _, h := range s.Health() {
		require.Zero(t, h.Failures, h.Name)
	}
}

func health(t testing.TB, s *nodeclass.Sources, name string) cache.Health {
	t.Helper()
	for _, h := range s.Health() {
		if h.Name == name {
			return h
		}
	}
	require.Failf(t, "no such question", name)
	return cache.Health{}
}

func FuzzPriceFile(f *testing.F) {
	f.Add([]byte(priceFile))
	f.Add([]byte("version: 1\nregion: us-east-1\nat: 2026-01-01T00:00:00Z\nspot: {m5.large: {a: 1e300}}"))
	f.Add([]byte("{"))
	f.Add([]byte(""))
	k := newClock()
	f.Fuzz(func(t *testing.T, data []byte) {
		s, err := nodeclass.NewSources((&Cloud{}).Clients(), nodeclass.Options{Region: "us-east-1", Now: k.Now,
			PriceFile: func(context.Context) ([]byte, error) { return data, nil }})
		require.NoError(t, err)
		p := known(t, s)
		for _, key := range []cloudprovider.OfferingKey{onDemand("m5.large"), spot("m5.large")} {
			if q := p.Book().Quote(Noon, key); q.State != kit.Unknown {
				require.Positive(t, q.Price)
				require.LessOrEqual(t, q.Price, 1e9)
			}
		}
	})
}
