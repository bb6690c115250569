package pricing

import (
	"strings"
)

// ServiceCode is the service in the price list that instances belong to.
const ServiceCode = "AmazonEC2"

// Query is a question to GetProducts of the price list API, for the service
// ServiceCode. All pages of the answer are wanted.
type Query struct {
	// Endpoint is the region of the API to ask, which has but a few.
	Endpoint string
	// Filters are the filters, all of type TERM_MATCH and to be met together.
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

// ProductQueries returns what to ask for the prices on demand of a region: one
// question for virtual machines, one for bare metal. It is nil where the API does
// not exist: the regions us-gov-*, us-iso* and eu-isoe-* of governments, and eusc-*.
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

// Currency is the currency of the prices of a region: CNY in China, else USD.
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
