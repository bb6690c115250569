package awstest

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
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

// clusterARN returns the ARN of the cluster.
func (c *Cloud) clusterARN() string {
	return fmt.Sprintf("arn:aws:eks:%s:%s:cluster/%s", c.opts.Region, c.opts.Account, c.opts.Cluster.Name)
}

// ClusterARN returns the ARN of the cluster, which identifies it in zonal shifts.
func (c *Cloud) ClusterARN() string { return c.clusterARN() }

// SetVersion changes the version of Kubernetes that the cluster has.
func (c *Cloud) SetVersion(version string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.opts.Cluster.Version = version
}

func (c *Cloud) describeCluster(q *request) (any, *fault) {
	k := c.opts.Cluster
	if q.path != k.Name {
		return nil, failure("ResourceNotFoundException", "No cluster found for name: %s.", q.path)
	}
	network := map[string]any{"serviceIpv4Cidr": k.ServiceCIDR, "ipFamily": "ipv4"}
	if k.ServiceIPv6CIDR != "" {
		network = map[string]any{"serviceIpv6Cidr": k.ServiceIPv6CIDR, "ipFamily": "ipv6"}
	}
	return map[string]any{"cluster": map[string]any{
		"name": k.Name, "arn": c.clusterARN(), "version": k.Version, "endpoint": k.Endpoint, "status": "ACTIVE",
		"certificateAuthority":    map[string]any{"data": k.CertificateAuthority},
		"kubernetesNetworkConfig": network, "createdAt": float64(c.opts.Clock.Unix()),
		"zonalShiftConfig":   map[string]any{"enabled": true},
		"resourcesVpcConfig": map[string]any{"vpcId": VPC},
	}}, nil
}

// Shift begins a zonal shift of the cluster away from a zone, by its ID, until an instant. A zero
// instant ends the shift.
func (c *Cloud) Shift(zoneID string, until time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if until.IsZero() {
		delete(c.shifts, zoneID)
		return
	}
	c.shifts[zoneID] = until
}

func (c *Cloud) getManagedResource(q *request) (any, *fault) {
	if q.path != c.clusterARN() {
		return nil, failure("ResourceNotFoundException", "The resource %s was not found", q.path)
	}
	zones := map[string]float64{}
	for _, z := range c.opts.Zones {
		zones[z.ID] = 1
	}
	shifts := []map[string]any{}
	for _, id := range slices.Sorted(maps.Keys(c.shifts)) {
		if !c.now.Before(c.shifts[id]) {
			continue
		}
		zones[id] = 0
		shifts = append(shifts, map[string]any{
			"appliedStatus": "APPLIED", "awayFrom": id, "comment": "shifted", "expiryTime": float64(c.shifts[id].Unix()),
			"resourceIdentifier": q.path, "startTime": float64(c.opts.Clock.Unix()), "zonalShiftId": fmt.Sprintf("%016x", hash(id)),
		})
	}
	return map[string]any{
		"arn": q.path, "name": c.opts.Cluster.Name, "appliedWeights": zones, "autoshifts": []any{}, "zonalShifts": shifts,
		"zonalAutoshiftStatus": "DISABLED",
	}, nil
}
