package pricing_test

import (
	"encoding/json"
	"os"
	"testing"
	"time"

	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/stretchr/testify/require"

	"github.com/dovetail-sdk/dovetail/aws/internal/pricing"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
	kit "github.com/dovetail-sdk/dovetail/cloudprovider/pricing"
)

var noon = time.Date(2026, 8, 1, 12, 0, 0, 0, time.UTC)

// product returns a product of the price list as the API gives it, with changes.
func product(t testing.TB, edit func(p *listed)) string {
	t.Helper()
	data, err := os.ReadFile("testdata/m5.large.json")
	require.NoError(t, err)
	if edit == nil {
		return string(data)
	}
	var whole listed
	require.NoError(t, json.Unmarshal(data, &whole))
	edit(&whole)
	data, err = json.Marshal(whole)
	require.NoError(t, err)
	return string(data)
}

type listed struct {
	Product struct {
		ProductFamily string            `json:"productFamily"`
		Attributes    map[string]string `json:"attributes"`
	} `json:"product"`
	Terms struct {
		OnDemand map[string]term `json:"OnDemand"`
	} `json:"terms"`
}

type term struct {
	EffectiveDate   string          `json:"effectiveDate"`
	PriceDimensions map[string]rate `json:"priceDimensions"`
}

type rate struct {
	Unit         string            `json:"unit"`
	PricePerUnit map[string]string `json:"pricePerUnit"`
}

func usd(price string) term {
	return term{"2026-01-01T00:00:00Z", map[string]rate{"a": {"Hrs", map[string]string{"USD": price}}}}
}

// of returns a product of an instance type at a price.
func of(t testing.TB, name, price string) string {
	return product(t, func(p *listed) {
		p.Product.Attributes["instanceType"] = name
		p.Terms.OnDemand = map[string]term{"x": usd(price)}
	})
}

func spot(name, zone, price string, at time.Time) ec2types.SpotPrice {
	return ec2types.SpotPrice{InstanceType: ec2types.InstanceType(name), AvailabilityZone: &zone, SpotPrice: &price, Timestamp: &at,
		ProductDescription: "Linux/UNIX (Amazon VPC)"}
}

func key(name, zone, capacityType string) cloudprovider.OfferingKey {
	return cloudprovider.OfferingKey{InstanceType: name, Zone: zone, CapacityType: capacityType}
}

// quote returns the price, the state and the source.
func quote(t testing.TB, p *pricing.Prices, now time.Time, k cloudprovider.OfferingKey) (float64, kit.State, string) {
	t.Helper()
	q := p.Book().Quote(now, k)
	if q.State == kit.Unknown {
		return 0, q.State, ""
	}
	return q.Price, q.State, q.Origins[0].Source
}
