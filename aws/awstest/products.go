package awstest

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"
)

// getProducts answers from the price list: a JSON text for each type that has a price and matches
// the filters.
func (c *Cloud) getProducts(q *request) (any, *fault) {
	if q.str("ServiceCode") != "AmazonEC2" {
		return nil, failure("InvalidParameterException", "Service code %q is not valid here", q.str("ServiceCode"))
	}
	size := q.num("MaxResults", 100)
	if size < 1 || size > 100 {
		return nil, failure("InvalidParameterException", "MaxResults is %d, which must be between 1 and 100", size)
	}
	filters, _ := q.body["Filters"].([]any)
	var names []string
	texts := map[string]string{}
	for _, name := range c.typeNames {
		if c.onDemandPrice(name) <= 0 {
			continue
		}
		family, attributes := c.product(name)
		if productMatches(filters, family, attributes) {
			names = append(names, name)
			texts[name] = c.priceText(name, family, attributes)
		}
	}
	page, next, err := cut(c, q, names, func(n string) string { return n }, size, q.str("NextToken"))
	if err != nil {
		return nil, err
	}
	list := make([]string, 0, len(page))
	for _, name := range page {
		list = append(list, texts[name])
	}
	answer := map[string]any{"FormatVersion": "aws_v1", "PriceList": list}
	if next != nil {
		answer["NextToken"] = *next
	}
	return answer, nil
}

func (c *Cloud) product(name string) (family string, attributes map[string]string) {
	family, tenancy := "Compute Instance", "Shared"
	if value(c.types[name].BareMetal) {
		family, tenancy = "Compute Instance (bare metal)", "Dedicated"
	}
	return family, map[string]string{
		"instanceType": name, "regionCode": c.opts.Region, "operatingSystem": "Linux", "tenancy": tenancy, "preInstalledSw": "NA",
		"capacitystatus": "Used", "marketoption": "OnDemand", "servicecode": "AmazonEC2",
	}
}

func productMatches(filters []any, family string, attributes map[string]string) bool {
	for _, f := range filters {
		filter, _ := f.(map[string]any)
		field, _ := filter["Field"].(string)
		want, _ := filter["Value"].(string)
		switch strings.ToLower(field) {
		case "productfamily":
			if want != family {
				return false
			}
		case "servicecode":
			if want != "AmazonEC2" {
				return false
			}
		default:
			if attributes[field] != want {
				return false
			}
		}
	}
	return true
}

func (c *Cloud) priceText(name, family string, attributes map[string]string) string {
	currency := "USD"
	if strings.HasPrefix(c.opts.Region, "cn-") {
		currency = "CNY"
	}
	sku := fmt.Sprintf("SKU%013X", hash(name)>>12)
	data, _ := json.Marshal(map[string]any{ // maps and strings only
		"serviceCode": "AmazonEC2", "product": map[string]any{"productFamily": family, "attributes": attributes, "sku": sku},
		"terms": map[string]any{"OnDemand": map[string]any{sku + ".JRTCKXETXF": map[string]any{
			"sku": sku, "offerTermCode": "JRTCKXETXF", "effectiveDate": c.opts.Clock.AddDate(0, 0, -1).Format(time.RFC3339),
			"priceDimensions": map[string]any{sku + ".JRTCKXETXF.6YS6EN2CT7": map[string]any{
				"unit": "Hrs", "beginRange": "0", "endRange": "Inf", "rateCode": sku + ".JRTCKXETXF.6YS6EN2CT7",
				"pricePerUnit": map[string]string{currency: fmt.Sprintf("%.10f", c.onDemandPrice(name))},
			}},
		}}},
	})
	return string(data)
}
