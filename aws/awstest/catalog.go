package awstest

import (
	"fmt"
	"slices"
	"strings"
	"time"

	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"github.com/dovetail-sdk/dovetail/cloudprovider"
)

// The capacity types, as scopes name them.
const (
	onDemand = "on-demand"
	spot     = "spot"
	reserved = "reserved"
)

// zonesOf are the zones that have an instance type.
func (c *Cloud) zonesOf(name string) (zones []string) {
	if listed, ok := c.opts.TypeZones[name]; ok {
		zones = slices.Clone(listed)
		slices.Sort(zones)
		return zones
	}
	for _, z := range c.opts.Zones {
		zones = append(zones, z.Name)
	}
	return zones
}

// SetPrice sets what an instance type costs from now on, in USD per hour. With the
// capacity type spot it is the spot price, of one zone or, without one, of all zones
// that have none of their own. Otherwise it is the price on demand, which is the same
// in all zones: the scope names the type, and on-demand or nothing. Zero takes the type
// off the list.
func (c *Cloud) SetPrice(scope cloudprovider.Scope, price float64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.prices[scope] = price
}

// onDemandPrice is that of the price list, zero if it has none.
func (c *Cloud) onDemandPrice(name string) float64 {
	for _, s := range []cloudprovider.Scope{{InstanceType: name, CapacityType: onDemand}, {InstanceType: name}} {
		if p, ok := c.prices[s]; ok {
			return p
		}
	}
	return c.opts.Prices[name]
}

// spotPrice is set, or made up: between a quarter and two thirds of that on demand.
func (c *Cloud) spotPrice(name, zone string) float64 {
	for _, s := range []cloudprovider.Scope{
		{InstanceType: name, Zone: zone, CapacityType: spot}, {InstanceType: name, CapacityType: spot},
	} {
		if p, ok := c.prices[s]; ok {
			return p
		}
	}
	share := 0.25 + float64(hash("spot", fmt.Sprint(c.opts.Seed), name, zone)%4000)/10000
	return float64(int(c.onDemandPrice(name)*share*1e6)) / 1e6
}

func (c *Cloud) price(k cloudprovider.OfferingKey) float64 {
	switch k.CapacityType {
	case spot:
		return c.spotPrice(k.InstanceType, k.Zone)
	case reserved:
		return 0
	}
	return c.onDemandPrice(k.InstanceType)
}

func (c *Cloud) describeInstanceTypes(q *request) (any, *fault) {
	if q.form.yes("DryRun") {
		return nil, dryRun()
	}
	if err := known(q.form.strs("InstanceType"), func(n string) bool { return c.types[n] != nil }, "InvalidInstanceType",
		"The following supplied instance types do not exist: [%s]"); err != nil {
		return nil, err
	}
	var list []xmlType
	for _, name := range c.typeNames {
		t := c.types[name]
		if wanted := q.form.strs("InstanceType"); len(wanted) > 0 && !slices.Contains(wanted, name) {
			continue
		}
		ok, err := matches(q.form.list("Filter"), table(typeAttributes(t), nil))
		if err != nil {
			return nil, err
		}
		if ok {
			list = append(list, describeType(t))
		}
	}
	page, next, err := pageOf(c, q, list, func(x xmlType) string { return x.Name }, 5, 100, 100)
	return struct {
		Types []xmlType `xml:"instanceTypeSet>item"`
		Next  *string   `xml:"nextToken"`
	}{page, next}, err
}

func typeAttributes(t *ec2types.InstanceTypeInfo) map[string][]string {
	a := map[string][]string{
		"instance-type": {string(t.InstanceType)}, "bare-metal": {fmt.Sprint(value(t.BareMetal))},
		"current-generation": {fmt.Sprint(value(t.CurrentGeneration))}, "hypervisor": one(string(t.Hypervisor)),
		"supported-virtualization-type": texts(t.SupportedVirtualizationTypes), "supported-usage-class": texts(t.SupportedUsageClasses),
		"processor-info.supported-architecture": nil,
	}
	if t.ProcessorInfo != nil {
		a["processor-info.supported-architecture"] = texts(t.ProcessorInfo.SupportedArchitectures)
	}
	return a
}

// known is a fault if any of the IDs is not known. The format has one %s.
func known(ids []string, is func(string) bool, code, format string) *fault {
	var strange []string
	for _, id := range ids {
		if !is(id) {
			strange = append(strange, id)
		}
	}
	if len(strange) == 0 {
		return nil
	}
	return failure(code, format, strings.Join(strange, ", "))
}

type xmlTypeOffering struct {
	Type         string `xml:"instanceType"`
	LocationType string `xml:"locationType"`
	Location     string `xml:"location"`
}

func (c *Cloud) describeInstanceTypeOfferings(q *request) (any, *fault) {
	where := q.form.str("LocationType")
	setDefault(&where, "region")
	var list []xmlTypeOffering
	for _, name := range c.typeNames {
		for _, location := range c.locations(where, name) {
			o := xmlTypeOffering{name, where, location}
			ok, err := matches(q.form.list("Filter"), table(map[string][]string{"instance-type": {name}, "location": {location}}, nil))
			if err != nil {
				return nil, err
			}
			if ok {
				list = append(list, o)
			}
		}
	}
	page, next, err := pageOf(c, q, list, func(o xmlTypeOffering) string { return o.Type + " " + o.Location }, 5, 1000, 1000)
	return struct {
		Offerings []xmlTypeOffering `xml:"instanceTypeOfferingSet>item"`
		Next      *string           `xml:"nextToken"`
	}{page, next}, err
}

// locations are where there is a type, by zone, ID of a zone or region.
func (c *Cloud) locations(where, name string) (locations []string) {
	for _, z := range c.zonesOf(name) {
		switch where {
		case "availability-zone":
			locations = append(locations, z)
		case "availability-zone-id":
			locations = append(locations, c.zoneID(z))
		case "region":
			return []string{c.opts.Region}
		}
	}
	return locations
}

type xmlZone struct {
	Name   string `xml:"zoneName"`
	ID     string `xml:"zoneId"`
	Region string `xml:"regionName"`
	State  string `xml:"zoneState"`
	Type   string `xml:"zoneType"`
	OptIn  string `xml:"optInStatus"`
}

func (c *Cloud) describeAvailabilityZones(*request) (any, *fault) {
	var list []xmlZone
	for _, z := range c.opts.Zones {
		list = append(list, xmlZone{z.Name, z.ID, c.opts.Region, "available", "availability-zone", "opt-in-not-required"})
	}
	return struct {
		Zones []xmlZone `xml:"availabilityZoneInfo>item"`
	}{list}, nil
}

type xmlSpotPrice struct {
	Type    string `xml:"instanceType"`
	Product string `xml:"productDescription"`
	Price   string `xml:"spotPrice"`
	At      string `xml:"timestamp"`
	Zone    string `xml:"availabilityZone"`
}

// describeSpotPriceHistory has one price of each offering, which was in force an
// hour ago already.
func (c *Cloud) describeSpotPriceHistory(q *request) (any, *fault) {
	types, products := q.form.strs("InstanceType"), q.form.strs("ProductDescription")
	if len(products) > 0 && !slices.Contains(products, "Linux/UNIX") {
		types = []string{""} // other systems have no prices here
	}
	var list []xmlSpotPrice
	for _, name := range c.typeNames {
		if len(types) > 0 && !slices.Contains(types, name) || !slices.Contains(c.types[name].SupportedUsageClasses, ec2types.UsageClassTypeSpot) {
			continue
		}
		for _, zone := range c.zonesOf(name) {
			if wanted := q.form.str("AvailabilityZone"); wanted != "" && wanted != zone || c.spotPrice(name, zone) <= 0 {
				continue
			}
			ok, err := matches(q.form.list("Filter"), table(map[string][]string{
				"instance-type": {name}, "availability-zone": {zone}, "product-description": {"Linux/UNIX"}}, nil))
			if err != nil {
				return nil, err
			}
			if ok {
				list = append(list, xmlSpotPrice{name, "Linux/UNIX", fmt.Sprintf("%.6f", c.spotPrice(name, zone)),
					c.now.Add(-time.Hour).Format(timeFormat), zone})
			}
		}
	}
	page, next, err := pageOf(c, q, list, func(s xmlSpotPrice) string { return s.Type + " " + s.Zone }, 1, 10000, 1000)
	return struct {
		Prices []xmlSpotPrice `xml:"spotPriceHistorySet>item"`
		Next   *string        `xml:"nextToken"`
	}{page, next}, err
}

func dryRun() *fault {
	return failure("DryRunOperation", "Request would have succeeded, but DryRun flag is set.")
}
