package pricing

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/dovetail-sdk/dovetail/cloudprovider"
)

// Product is the price of an instance type on demand.
type Product struct {
	InstanceType string
	// Price is per hour, in the Currency of the region.
	Price float64
	// BareMetal says that the product is bare metal.
	BareMetal bool
}

// Skipped is a part of an answer that gave no price.
type Skipped struct {
	// Index is its index in the list, from zero.
	Index int
	// Detail says why.
	Detail string
}

// String returns one line.
func (s Skipped) String() string { return fmt.Sprintf("[%d]: %s", s.Index, s.Detail) }

// document is the part of a product of the price list that is read. Offers and dimensions are kept
// as raw JSON, so that a malformed one does not affect the others.
type document struct {
	Product struct {
		Family     string            `json:"productFamily"`
		Attributes map[string]string `json:"attributes"`
	} `json:"product"`
	Terms struct {
		OnDemand map[string]offer `json:"OnDemand"`
	} `json:"terms"`
}

type offer struct {
	EffectiveDate   string               `json:"effectiveDate"`
	PriceDimensions map[string]dimension `json:"priceDimensions"`
}

type dimension struct {
	Unit         string            `json:"unit"`
	PricePerUnit map[string]string `json:"pricePerUnit"`
}

// ParseProducts reads the PriceList of all pages of GetProducts: a list of JSON texts, one for each
// product. It returns each product that
//
//   - is a machine of the region with Linux, without pre-installed software, and sold on demand, so
//     that answers to broader questions may be passed too;
//   - shares its hardware, or is bare metal, which AWS sells as dedicated;
//   - has a price per hour above zero in the Currency of the region. Of several offers the latest
//     effective one counts.
//
// Of two products of one type the one that is not bare metal counts, then the one whose offer is
// later, then the cheaper one. Products are sorted by type. The second result lists the other
// parts, in the order of the input.
func ParseProducts(region string, list []string) ([]Product, []Skipped) {
	best := map[string]dated{}
	var skipped []Skipped
	for i, text := range list {
		p, err := parseProduct(region, text)
		if err != nil {
			skipped = append(skipped, Skipped{i, err.Error()})
			continue
		}
		if old, found := best[p.InstanceType]; !found || p.compare(old) < 0 {
			best[p.InstanceType] = p
		}
	}
	products := make([]Product, 0, len(best))
	for _, name := range slices.Sorted(maps.Keys(best)) {
		products = append(products, best[name].Product)
	}
	return products, skipped
}

// dated is a product and when its offer became effective.
type dated struct {
	Product
	from time.Time
}

// compare orders products of one type, the one that counts first.
func (p dated) compare(o dated) int {
	metal := func(d dated) int {
		if d.BareMetal {
			return 1
		}
		return 0
	}
	return cmp.Or(cmp.Compare(metal(p), metal(o)), o.from.Compare(p.from), cmp.Compare(p.Price, o.Price))
}

func parseProduct(region, text string) (dated, error) {
	var doc document
	if err := json.Unmarshal([]byte(text), &doc); err != nil {
		return dated{}, fmt.Errorf("not a product of the price list: %w", err)
	}
	a := doc.Product.Attributes
	for _, want := range []struct{ name, value string }{
		{"regionCode", region}, {"operatingSystem", "Linux"}, {"preInstalledSw", "NA"},
		{"capacitystatus", "Used"}, {"marketoption", "OnDemand"},
	} {
		if a[want.name] != want.value {
			return dated{}, fmt.Errorf("%s is %q, want %q", want.name, a[want.name], want.value)
		}
	}
	metal := doc.Product.Family == familyMetal && a["tenancy"] == "Dedicated"
	if !metal && !(doc.Product.Family == familyCompute && a["tenancy"] == "Shared") {
		return dated{}, fmt.Errorf("productFamily is %q with tenancy %q, want %q with Shared or %q with Dedicated",
			doc.Product.Family, a["tenancy"], familyCompute, familyMetal)
	}
	name := a["instanceType"]
	if fault := typeFault(name); fault != "" {
		return dated{}, fmt.Errorf("instanceType: %s", fault)
	}
	price, from, ok := latestOffer(doc.Terms.OnDemand, Currency(region))
	if !ok {
		return dated{}, fmt.Errorf("%s has no price per hour above zero in %s", name, Currency(region))
	}
	return dated{Product{name, price, metal}, from}, nil
}

// latestOffer returns the price of the offer that became effective last; of several such offers the
// least price.
func latestOffer(offers map[string]offer, currency string) (price float64, from time.Time, found bool) {
	for _, o := range offers {
		at, err := time.Parse(time.RFC3339, o.EffectiveDate)
		if err != nil {
			at = time.Time{}
		}
		for _, d := range o.PriceDimensions {
			p, ok := parsePrice(d.PricePerUnit[currency])
			if !ok || !strings.EqualFold(d.Unit, "Hrs") {
				continue
			}
			if !found || at.After(from) || at.Equal(from) && p < price {
				price, from, found = p, at, true
			}
		}
	}
	return price, from, found
}

// parsePrice reads a price and reports whether it is valid.
func parsePrice(text string) (float64, bool) {
	p, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
	return p, err == nil && priceFault(p) == ""
}

// priceFault says what is wrong with a price in any currency, or "".
func priceFault(p float64) string {
	if !(p > 0 && p <= cloudprovider.MaxPrice) {
		return fmt.Sprintf("%v; use a price per hour, above zero and at most %v", p, float64(cloudprovider.MaxPrice))
	}
	return ""
}

// typeFault says what is wrong with the name of an instance type, or "".
func typeFault(name string) string {
	family, size, dot := strings.Cut(name, ".")
	if !dot || !plain(family) || !plain(size) {
		return fmt.Sprintf("%q; use the name of an instance type, such as m5.large", name)
	}
	return ""
}

// plain reports whether a name consists of letters, digits and hyphens.
func plain(name string) bool {
	return name != "" && strings.Trim(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-") == ""
}

// ServiceCode is the code of EC2 in the price list.
const ServiceCode = "AmazonEC2"

// Query is a question to GetProducts of the price list API, for the service ServiceCode. Read all
// pages of the answer.
type Query struct {
	// Endpoint is the region of the API to ask: the API exists in a few regions only.
	Endpoint string
	// Filters are of type TERM_MATCH. A product must match all of them.
	Filters []Filter
}

// Filter is a filter of a Query.
type Filter struct {
	// Field is the attribute of a product, and Value what it must be.
	Field, Value string
}

// The families of products that are instances.
const (
	familyCompute = "Compute Instance"
	familyMetal   = "Compute Instance (bare metal)"
)

// ProductQueries returns the questions for the on-demand prices of a region: one for virtual
// machines, one for bare metal. It is nil for regions without the API: the government regions
// us-gov-*, us-iso* and eu-isoe-*, and eusc-*.
func ProductQueries(region string) []Query {
	endpoint := "us-east-1"
	switch {
	case region == "":
		return nil
	case hasPrefix(region, "us-gov-", "us-iso", "eu-iso", "eusc-"):
		return nil
	case hasPrefix(region, "ap-"):
		endpoint = "ap-south-1"
	case hasPrefix(region, "cn-"):
		endpoint = "cn-northwest-1"
	case hasPrefix(region, "eu-"):
		endpoint = "eu-central-1"
	}
	query := func(tenancy, family string) Query {
		return Query{Endpoint: endpoint, Filters: []Filter{
			{"regionCode", region},
			{"serviceCode", ServiceCode},
			{"preInstalledSw", "NA"},
			{"operatingSystem", "Linux"},
			{"capacitystatus", "Used"},
			{"marketoption", "OnDemand"},
			{"tenancy", tenancy},
			{"productFamily", family},
		}}
	}
	return []Query{query("Shared", familyCompute), query("Dedicated", familyMetal)}
}

// SpotProducts returns the product descriptions to ask DescribeSpotPriceHistory
// for, with the present as the start. The slice is the caller's.
func SpotProducts() []string { return []string{"Linux/UNIX", "Linux/UNIX (Amazon VPC)"} }

// Currency returns the currency of the prices of a region: CNY in China, else USD.
func Currency(region string) string {
	if strings.HasPrefix(region, "cn-") {
		return "CNY"
	}
	return "USD"
}

func hasPrefix(text string, prefixes ...string) bool {
	for _, p := range prefixes {
		if strings.HasPrefix(text, p) {
			return true
		}
	}
	return false
}
