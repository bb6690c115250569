package pricing_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/stretchr/testify/require"

	"github.com/dovetail-sdk/dovetail/aws/internal/pricing"
)

func TestProductQueries(t *testing.T) {
	for region, endpoint := range map[string]string{
		"us-east-1": "us-east-1", "sa-east-1": "us-east-1", "ca-central-1": "us-east-1", "il-central-1": "us-east-1",
		"ap-southeast-2": "ap-south-1", "eu-west-1": "eu-central-1", "cn-north-1": "cn-northwest-1",
	} {
		queries := pricing.ProductQueries(region)
		require.Len(t, queries, 2, region)
		for _, q := range queries {
			require.Equal(t, endpoint, q.Endpoint)
			require.Equal(t, pricing.Filter{Field: "regionCode", Value: region}, q.Filters[0])
		}
		require.Equal(t, []pricing.Filter{{Field: "tenancy", Value: "Shared"}, {Field: "productFamily", Value: "Compute Instance"}}, queries[0].Filters[6:])
		require.Equal(t, []pricing.Filter{{Field: "tenancy", Value: "Dedicated"}, {Field: "productFamily", Value: "Compute Instance (bare metal)"}}, queries[1].Filters[6:])
	}
	for _, region := range []string{"", "us-gov-west-1", "us-iso-east-1", "us-isob-east-1", "eu-isoe-west-1", "eusc-de-east-1"} {
		require.Nil(t, pricing.ProductQueries(region), region)
	}
	require.Equal(t, "CNY", pricing.Currency("cn-north-1"))
	require.Equal(t, "USD", pricing.Currency("us-gov-west-1"))
}

func TestParseProducts(t *testing.T) {
	attribute := func(name, value string) func(*listed) {
		return func(p *listed) { p.Product.Attributes[name] = value }
	}
	offers := func(offers map[string]term) func(*listed) {
		return func(p *listed) { p.Terms.OnDemand = offers }
	}
	for _, c := range []struct {
		name string
		edit func(*listed)
		want float64 // 0 if it is skipped
		why  string
	}{
		{"as it comes", nil, 0.096, ""},
		{"another region", attribute("regionCode", "us-east-2"), 0, `regionCode is "us-east-2", want "us-east-1"`},
		{"Windows", attribute("operatingSystem", "Windows"), 0, `operatingSystem is "Windows"`},
		{"SQL", attribute("preInstalledSw", "SQL Web"), 0, `preInstalledSw is "SQL Web"`},
		{"a reservation that is not used", attribute("capacitystatus", "UnusedCapacityReservation"), 0, "capacitystatus"},
		{"a block", attribute("marketoption", "CapacityBlock"), 0, "marketoption"},
		{"dedicated", attribute("tenancy", "Dedicated"), 0, `productFamily is "Compute Instance" with tenancy "Dedicated"`},
		{"bare metal that is shared", func(p *listed) { p.Product.ProductFamily = "Compute Instance (bare metal)" }, 0, "with tenancy"},
		{"no type", attribute("instanceType", ""), 0, `instanceType: ""; use the name`},
		{"half a type", attribute("instanceType", "m5."), 0, "use the name"},
		{"free", offers(map[string]term{"a": usd("0.0000000000")}), 0, "m5.large has no price per hour above zero in USD"},
		{"no number", offers(map[string]term{"a": usd("free")}), 0, "no price"},
		{"not finite", offers(map[string]term{"a": usd("Inf"), "b": usd("NaN"), "c": usd("1e300")}), 0, "no price"},
		{"negative", offers(map[string]term{"a": usd("-1")}), 0, "no price"},
		{"no offer", offers(nil), 0, "no price"},
		{"by month", offers(map[string]term{"a": {"", map[string]rate{"a": {"Month", map[string]string{"USD": "1"}}}}}), 0, "no price"},
		{"another currency", offers(map[string]term{"a": {"", map[string]rate{"a": {"Hrs", map[string]string{"CNY": "1"}}}}}), 0, "no price"},
		{"without a date", offers(map[string]term{"a": {"", map[string]rate{"a": {"hrs", map[string]string{"USD": " 1.5 "}}}}}), 1.5, ""},
		{"the latest offer", offers(map[string]term{
			"a": {"2025-01-01T00:00:00Z", usd("0.1").PriceDimensions}, "b": {"2026-02-01T00:00:00Z", usd("0.3").PriceDimensions}, "c": usd("0.2"),
		}), 0.3, ""},
		{"two of one date", offers(map[string]term{"a": usd("0.4"), "b": usd("0.2"), "c": usd("0.3")}), 0.2, ""},
	} {
		got, skipped := pricing.ParseProducts("us-east-1", []string{product(t, c.edit)})
		if c.want == 0 {
			require.Empty(t, got, c.name)
			require.Len(t, skipped, 1, c.name)
			require.Contains(t, skipped[0].String(), "[0]: ", c.name)
			require.Contains(t, skipped[0].Detail, c.why, c.name)
			continue
		}
		require.Empty(t, skipped, c.name)
		require.Equal(t, []pricing.Product{{InstanceType: "m5.large", Price: c.want}}, got, c.name)
	}
	for _, broken := range []string{"", "[]", "{", `{"product":7}`, `"x"`} {
		got, skipped := pricing.ParseProducts("us-east-1", []string{broken, product(t, nil)})
		require.Len(t, got, 1, broken)
		require.Len(t, skipped, 1, broken)
		require.Contains(t, skipped[0].Detail, "not a product of the price list", broken)
	}
	_, skipped := pricing.ParseProducts("us-east-1", []string{"{}"})
	require.Contains(t, skipped[0].Detail, `regionCode is ""`)
}

func TestParseProductsOfOneType(t *testing.T) {
	metal := func(price, from string) string {
		return product(t, func(p *listed) {
			p.Product.ProductFamily, p.Product.Attributes["tenancy"] = "Compute Instance (bare metal)", "Dedicated"
			p.Product.Attributes["instanceType"] = "m5.metal"
			p.Terms.OnDemand = map[string]term{"x": {from, usd(price).PriceDimensions}}
		})
	}
	shared := func(price string) string { return of(t, "m5.metal", price) }
	const old, later = "2025-01-01T00:00:00Z", "2026-01-01T00:00:00Z"
	for _, c := range []struct {
		name string
		list []string
		want pricing.Product
	}{
		{"bare metal", []string{metal("4.6", old)}, pricing.Product{InstanceType: "m5.metal", Price: 4.6, BareMetal: true}},
		{"shared first", []string{metal("4.6", later), shared("5")}, pricing.Product{InstanceType: "m5.metal", Price: 5}},
		{"the later offer", []string{metal("4.6", old), metal("4.8", later)}, pricing.Product{InstanceType: "m5.metal", Price: 4.8, BareMetal: true}},
		{"the cheaper one", []string{metal("4.6", old), metal("4.5", old)}, pricing.Product{InstanceType: "m5.metal", Price: 4.5, BareMetal: true}},
	} {
		for range 2 {
			got, skipped := pricing.ParseProducts("us-east-1", c.list)
			require.Empty(t, skipped)
			require.Equal(t, []pricing.Product{c.want}, got, c.name)
			slices.Reverse(c.list)
		}
	}
	got, _ := pricing.ParseProducts("us-east-1", []string{of(t, "z1.large", "1"), of(t, "a1.large", "2")})
	require.Equal(t, []pricing.Product{{InstanceType: "a1.large", Price: 2}, {InstanceType: "z1.large", Price: 1}}, got)
}

func TestParseSpot(t *testing.T) {
	nameless := spot("m5.large", "", "1", noon)
	windows := spot("m5.large", "a", "1", noon)
	windows.ProductDescription = "Windows"
	undated := spot("c5.large", "a", "0.02", noon)
	undated.Timestamp = nil
	history := []ec2types.SpotPrice{
		spot("m5.large", "us-east-1b", "0.04", noon),
		spot("m5.large", "us-east-1a", "0.03", noon.Add(-time.Hour)),
		spot("m5.large", "us-east-1a", "0.05", noon),
		spot("m5.large", "us-east-1a", "0.045", noon),
		undated, nameless, windows,
		spot("m5", "a", "1", noon), spot("m5.large", "a", "0", noon), spot("m5.large", "a", "many", noon), {},
	}
	got, skipped := pricing.ParseSpot(history)
	require.Equal(t, []pricing.SpotPrice{
		{InstanceType: "c5.large", Zone: "a", Price: 0.02},
		{InstanceType: "m5.large", Zone: "us-east-1a", Price: 0.045},
		{InstanceType: "m5.large", Zone: "us-east-1b", Price: 0.04},
	}, got)
	require.Equal(t, []string{
		"[5]: m5.large without the name of a zone",
		`[6]: m5.large in a is for "Windows", want one of ["Linux/UNIX" "Linux/UNIX (Amazon VPC)"]`,
		`[7]: instance type: "m5"; use the name of an instance type, such as m5.large`,
		`[8]: m5.large in a: price "0" is no number above zero`,
		`[9]: m5.large in a: price "many" is no number above zero`,
		`[10]: instance type: ""; use the name of an instance type, such as m5.large`,
	}, strings.Split(join(skipped), "\n"))
	slices.Reverse(history)
	again, _ := pricing.ParseSpot(history)
	require.Equal(t, got, again)
}

func join(list []pricing.Skipped) string {
	var out []string
	for _, s := range list {
		out = append(out, s.String())
	}
	return strings.Join(out, "\n")
}

const file = `version: 1
region: "us-east-1"
currency: USD
at: "2026-08-01T12:00:00Z"
onDemand:
  "c5.large": 0.085
  "m5.large": 0.096
spot:
  "m5.large":
    "us-east-1a": 0.0352
    "us-east-1b": 0.036
`

func TestFile(t *testing.T) {
	f, err := pricing.ParseFile([]byte(file))
	require.NoError(t, err)
	require.Equal(t, &pricing.File{
		Region: "us-east-1", At: noon, OnDemand: map[string]float64{"c5.large": 0.085, "m5.large": 0.096},
		Spot: map[string]map[string]float64{"m5.large": {"us-east-1a": 0.0352, "us-east-1b": 0.036}},
	}, f)
	text, err := f.YAML()
	require.NoError(t, err)
	require.Equal(t, file, string(text))

	for _, text := range []string{
		`{"version": 1, "region": "cn-north-1", "at": "2026-08-01T20:00:00+08:00", "onDemand": {"m5.large": 1}}`,
		"version: 1\nregion: cn-north-1\ncurrency: CNY\nat: 2026-08-01T12:00:00Z\nonDemand: {m5.large: 1}\nspot: {m5.xlarge: {}}",
	} {
		f, err := pricing.ParseFile([]byte(text))
		require.NoError(t, err, text)
		require.Equal(t, noon, f.At, text)
		require.Equal(t, map[string]float64{"m5.large": 1}, f.OnDemand)
		_, err = f.YAML()
		require.NoError(t, err)
	}
}

func TestFileFaults(t *testing.T) {
	const head = "version: 1\nregion: us-east-1\nat: 2026-08-01T12:00:00Z\n"
	for text, want := range map[string][]string{
		"":                                   {"version: 0; use 1", `region: ""`, `at: ""; say when`, "no price; list at least one"},
		"version: 2\n":                       {"version: 2; use 1"},
		"- a":                                {"price file"},
		head + "---\n" + head:                {"price file: line 4: a second document begins; keep everything in one"},
		"\t":                                 {"price file"},
		head + "onDemand: [1]":               {"price file"},
		head + "onDemand: {m5.large: cheap}": {"price file"},
		head + "onDemand: {m5.large: 1}\nregion: us-east-1\n": {`already`},
		head + "onDemand: {m5.large: 1, m5.large: 2}":         {`already`},
		head + "ondemand: {m5.large: 1}":                      {`unknown field "ondemand"`, "no price"},
		head + "onDemand: {m5.large: 0, m5.xlarge: -1, m5: 1, m6.large: 1e10}": {
			"onDemand: m5.large: 0; use a price per hour", "onDemand: m5.xlarge: -1", `onDemand: "m5"; use the name`, "m6.large: 1e+10",
		},
		head + "spot: {m5: {a: 1}, m5.large: {'': 1, b c: 1, d: 0}}": {
			`spot: "m5"`, `spot: m5.large: ""; use the name of a zone`, `"b c"`, "spot: m5.large: d: 0",
		},
		head + "currency: EUR\nonDemand: {m5.large: 1}":              {`currency: "EUR"; the prices of us-east-1 are in USD`},
		"version: 1\nregion: a b\nat: noon\nonDemand: {m5.large: 1}": {`region: "a b"; use the name of the region`, `at: "noon"`},
	} {
		f, err := pricing.ParseFile([]byte(text))
		require.Nil(t, f, text)
		require.Error(t, err, text)
		for _, part := range want {
			require.ErrorContains(t, err, part, text)
		}
		require.True(t, strings.HasPrefix(err.Error(), "price file: "), err)
	}
	_, err := pricing.ParseFile(make([]byte, 8<<20+1))
	require.EqualError(t, err, fmt.Sprintf("price file: %d bytes; use at most %d", 8<<20+1, 8<<20))

	var none *pricing.File
	require.ErrorContains(t, none.Validate(), "nil")
	_, err = none.YAML()
	require.Error(t, err)
	require.ErrorContains(t, (&pricing.File{Region: "a", OnDemand: map[string]float64{"a.b": math.NaN()}}).Validate(), "a.b: NaN")
}

func FuzzParseFile(f *testing.F) {
	f.Add([]byte(file))
	f.Add([]byte(`{"version":1,"region":"a","at":"0001-01-01T00:00:00+14:00","onDemand":{"a.b":1e-300}}`))
	f.Add([]byte("version: 1\nregion: &r us-east-1\nat: 2026-08-01T12:00:00Z\nspot: {m5.large: {*r : 1}}"))
	f.Fuzz(func(t *testing.T, data []byte) {
		file, err := pricing.ParseFile(data)
		if err != nil {
			require.Nil(t, file)
			return
		}
		require.NoError(t, file.Validate())
		text, err := file.YAML()
		require.NoError(t, err)
		again, err := pricing.ParseFile(text)
		require.NoError(t, err, string(text))
		require.Equal(t, len(file.OnDemand), len(again.OnDemand))
		for name, price := range file.OnDemand {
			require.Equal(t, price, again.OnDemand[name])
		}
		more, err := again.YAML()
		require.NoError(t, err)
		require.Equal(t, string(text), string(more))
	})
}

func FuzzParseProducts(f *testing.F) {
	f.Add("us-east-1", product(f, nil))
	f.Add("cn-north-1", `{"product":{"attributes":{"regionCode":"cn-north-1"}}}`)
	f.Add("", `{"terms":{"OnDemand":{"a":{"priceDimensions":{"b":null}}}}}`)
	f.Fuzz(func(t *testing.T, region, text string) {
		got, skipped := pricing.ParseProducts(region, []string{text})
		require.Equal(t, 1, len(got)+len(skipped))
		for _, p := range got {
			require.Positive(t, p.Price)
			require.NotEmpty(t, p.InstanceType)
		}
	})
}

func FuzzParseSpot(f *testing.F) {
	f.Add("m5.large", "us-east-1a", "0.04", "Linux/UNIX")
	f.Add("m5.large", "", "0x1p-2", "Linux/UNIX")
	f.Fuzz(func(t *testing.T, name, zone, price, product string) {
		history := []ec2types.SpotPrice{{InstanceType: ec2types.InstanceType(name), AvailabilityZone: &zone, SpotPrice: &price,
			ProductDescription: ec2types.RIProductDescription(product)}}
		got, skipped := pricing.ParseSpot(history)
		require.Equal(t, 1, len(got)+len(skipped))
		for _, p := range got {
			require.Positive(t, p.Price)
		}
	})
}
