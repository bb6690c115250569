package awstest

import (
	_ "embed"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"github.com/dovetail-sdk/dovetail/cloudprovider"
)

// The capacity types, as scopes name them.
const (
	onDemand = "on-demand"
	spot     = "spot"
	reserved = "reserved"
)

// zonesOf returns the zones that have an instance type.
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

// SetPrice sets what an instance type costs from now on, in USD per hour. The scope names the type,
// and further:
//
//   - the capacity type spot and a zone, for the spot price of that zone;
//   - the capacity type spot, for the spot price of all zones without one of their own;
//   - on-demand or no capacity type, for the price on demand, which is the same in all zones.
//
// Zero takes the type off the list.
func (c *Cloud) SetPrice(scope cloudprovider.Scope, price float64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.prices[scope] = price
}

// onDemandPrice returns the price of the price list, or zero if it has none.
func (c *Cloud) onDemandPrice(name string) float64 {
	for _, s := range []cloudprovider.Scope{{InstanceType: name, CapacityType: onDemand}, {InstanceType: name}} {
		if p, ok := c.prices[s]; ok {
			return p
		}
	}
	return c.opts.Prices[name]
}

// spotPrice returns the price that was set, or a made-up one between a quarter and two thirds of
// the on-demand price.
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
	itself := func(name string) string { return name }
	list, err := selected(q, c.typeNames, func(name string) attributes { return table(typeAttributes(c.types[name]), nil) },
		selector[string]{"InstanceType", itself, "InvalidInstanceType", "The following supplied instance types do not exist: [%s]"})
	if err != nil {
		return nil, err
	}
	page, next, err := pageOf(c, q, list, itself, 5, 100, 100)
	out := &ec2.DescribeInstanceTypesOutput{NextToken: next}
	for _, name := range page {
		out.InstanceTypes = append(out.InstanceTypes, *c.types[name])
	}
	return out, err
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

// texts converts a list of named strings to plain strings.
func texts[T ~string](list []T) (out []string) {
	for _, v := range list {
		out = append(out, string(v))
	}
	return out
}

// known returns a fault if an ID is unknown. The format has one %s.
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

func (c *Cloud) describeInstanceTypeOfferings(q *request) (any, *fault) {
	where := q.form.str("LocationType")
	setDefault(&where, "region")
	var list []ec2types.InstanceTypeOffering
	for _, name := range c.typeNames {
		for _, location := range c.locations(where, name) {
			ok, err := matches(q.form.list("Filter"), table(map[string][]string{"instance-type": {name}, "location": {location}}, nil))
			if err != nil {
				return nil, err
			}
			if ok {
				list = append(list, ec2types.InstanceTypeOffering{
					InstanceType: ec2types.InstanceType(name), LocationType: ec2types.LocationType(where), Location: &location,
				})
			}
		}
	}
	page, next, err := pageOf(c, q, list, func(o ec2types.InstanceTypeOffering) string { return string(o.InstanceType) + " " + *o.Location }, 5, 1000, 1000)
	return &ec2.DescribeInstanceTypeOfferingsOutput{InstanceTypeOfferings: page, NextToken: next}, err
}

// locations returns where a type is offered. The location type where selects the form: names of
// zones, IDs of zones or the region.
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

func (c *Cloud) describeAvailabilityZones(*request) (any, *fault) {
	var list []ec2types.AvailabilityZone
	for _, z := range c.opts.Zones {
		list = append(list, ec2types.AvailabilityZone{
			ZoneName: &z.Name, ZoneId: &z.ID, RegionName: &c.opts.Region, State: ec2types.AvailabilityZoneStateAvailable,
			ZoneType: new("availability-zone"), OptInStatus: ec2types.AvailabilityZoneOptInStatusOptInNotRequired,
		})
	}
	return &ec2.DescribeAvailabilityZonesOutput{AvailabilityZones: list}, nil
}

// describeSpotPriceHistory returns one price for each offering, in force since an hour ago.
func (c *Cloud) describeSpotPriceHistory(q *request) (any, *fault) {
	types, products := q.form.strs("InstanceType"), q.form.strs("ProductDescription")
	if len(products) > 0 && !slices.Contains(products, "Linux/UNIX") {
		types = []string{""} // other systems have no prices here
	}
	var list []ec2types.SpotPrice
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
				list = append(list, ec2types.SpotPrice{
					InstanceType: ec2types.InstanceType(name), ProductDescription: ec2types.RIProductDescriptionLinuxUnix,
					SpotPrice: new(fmt.Sprintf("%.6f", c.spotPrice(name, zone))), Timestamp: new(c.now.Add(-time.Hour)), AvailabilityZone: &zone,
				})
			}
		}
	}
	page, next, err := pageOf(c, q, list, func(s ec2types.SpotPrice) string { return string(s.InstanceType) + " " + *s.AvailabilityZone }, 1, 10000, 1000)
	return &ec2.DescribeSpotPriceHistoryOutput{SpotPriceHistory: page, NextToken: next}, err
}

func dryRun() *fault {
	return failure("DryRunOperation", "Request would have succeeded, but DryRun flag is set.")
}

// typeTable is the default catalog, a line a type. Facts are those of us-east-1.
//
//	maker   of the processor; aws is Graviton
//	GHz     sustained clock speed
//	MiB     memory
//	ENIs    network interfaces, x IPv4 addresses on each, @ Gbps to count on; after
//	        a second @ the number of network cards that share the interfaces
//	EBS     Mbps to volumes
//	USD     an hour on demand
//	more    metal; xen; block = capacity blocks too;
//	        nitro = enclaves; crypt = encrypted in transit; efa=n; ssd=n GB;
//	        gpu=maker:name:count:MiB; neuron=name:count:cores
//
//go:embed tables/types.txt
var typeTable string

// InstanceTypes returns a small catalog of real instance types, as EC2 describes them: forty of
// many kinds. The caller owns the list.
func InstanceTypes() []ec2types.InstanceTypeInfo {
	var types []ec2types.InstanceTypeInfo
	for _, cells := range typeRows() {
		types = append(types, typeInfo(cells))
	}
	return types
}

func defaultPrices() map[string]float64 {
	prices := map[string]float64{}
	for _, cells := range typeRows() {
		prices[cells[0]] = decimal(cells[7])
	}
	return prices
}

// typeRows returns the nine cells of each line. The last cell may contain a blank, in the name of a
// GPU.
func typeRows() (rows [][]string) {
	for i, line := range strings.Split(strings.TrimSpace(typeTable), "\n") {
		cells := strings.Fields(line)
		if i == 0 || len(cells) == 0 {
			continue
		}
		rows = append(rows, append(cells[:8:8], strings.Join(cells[8:], " ")))
	}
	return rows
}

// decimal and integer read numbers of the table. A test checks that all are valid.
func decimal(s string) float64 {
	v, _ := strconv.ParseFloat(s, 64)
	return v
}

func integer(s string) int32 {
	v, _ := strconv.ParseInt(s, 10, 32)
	return int32(v)
}

func typeInfo(cells []string) ec2types.InstanceTypeInfo {
	arch := ec2types.ArchitectureTypeX8664
	if cells[1] == "AWS" {
		arch = ec2types.ArchitectureTypeArm64
	}
	t := ec2types.InstanceTypeInfo{
		InstanceType: ec2types.InstanceType(cells[0]), CurrentGeneration: new(true), BareMetal: new(false),
		Hypervisor: ec2types.InstanceTypeHypervisorNitro, NitroEnclavesSupport: ec2types.NitroEnclavesSupportUnsupported,
		SupportedUsageClasses:        []ec2types.UsageClassType{ec2types.UsageClassTypeOnDemand, ec2types.UsageClassTypeSpot},
		SupportedVirtualizationTypes: []ec2types.VirtualizationType{ec2types.VirtualizationTypeHvm},
		ProcessorInfo: &ec2types.ProcessorInfo{
			SupportedArchitectures: []ec2types.ArchitectureType{arch}, Manufacturer: &cells[1], SustainedClockSpeedInGhz: new(decimal(cells[2])),
		},
		VCpuInfo:    &ec2types.VCpuInfo{DefaultVCpus: new(integer(cells[3]))},
		MemoryInfo:  &ec2types.MemoryInfo{SizeInMiB: new(int64(integer(cells[4])))},
		NetworkInfo: networkInfo(cells[5]),
		EbsInfo: &ec2types.EbsInfo{
			EbsOptimizedSupport: ec2types.EbsOptimizedSupportDefault, MaximumEbsAttachments: new(int32(28)),
			AttachmentLimitType: ec2types.AttachmentLimitTypeShared,
			EbsOptimizedInfo:    &ec2types.EbsOptimizedInfo{MaximumBandwidthInMbps: new(integer(cells[6]))},
		},
		PlacementGroupInfo: &ec2types.PlacementGroupInfo{SupportedStrategies: []ec2types.PlacementGroupStrategy{
			ec2types.PlacementGroupStrategyCluster, ec2types.PlacementGroupStrategyPartition, ec2types.PlacementGroupStrategySpread}},
	}
	for _, more := range strings.Split(cells[8], ",") {
		key, values, _ := strings.Cut(more, "=")
		applyTrait(&t, key, values)
	}
	return t
}

func networkInfo(cell string) *ec2types.NetworkInfo {
	parts := strings.Split(cell, "@")
	interfaces, addresses, _ := strings.Cut(parts[0], "x")
	cards := int32(1)
	if len(parts) > 2 {
		cards = integer(parts[2])
	}
	n := &ec2types.NetworkInfo{
		MaximumNetworkInterfaces: new(integer(interfaces)), Ipv4AddressesPerInterface: new(integer(addresses)),
		MaximumNetworkCards: &cards, DefaultNetworkCardIndex: new(int32(0)), Ipv6Supported: new(true),
		EnaSupport: ec2types.EnaSupportRequired, EfaSupported: new(false), EncryptionInTransitSupported: new(false),
	}
	for i := range cards {
		n.NetworkCards = append(n.NetworkCards, ec2types.NetworkCardInfo{
			NetworkCardIndex: new(i), MaximumNetworkInterfaces: new(integer(interfaces) / cards), BaselineBandwidthInGbps: new(decimal(parts[1])),
		})
	}
	return n
}

// applyTrait sets the fields for one word of the last column.
func applyTrait(t *ec2types.InstanceTypeInfo, key, values string) {
	v := append(strings.Split(values, ":"), "", "", "")
	switch key {
	case "metal":
		t.BareMetal, t.Hypervisor = new(true), ""
	case "xen":
		t.Hypervisor = ec2types.InstanceTypeHypervisorXen
		t.NetworkInfo.EnaSupport = ec2types.EnaSupportUnsupported
	case "block":
		t.SupportedUsageClasses = append(t.SupportedUsageClasses, ec2types.UsageClassTypeCapacityBlock)
	case "nitro":
		t.NitroEnclavesSupport = ec2types.NitroEnclavesSupportSupported
	case "crypt":
		t.NetworkInfo.EncryptionInTransitSupported = new(true)
	case "efa":
		t.NetworkInfo.EfaSupported = new(true)
		t.NetworkInfo.EfaInfo = &ec2types.EfaInfo{MaximumEfaInterfaces: new(integer(v[0]))}
	case "ssd":
		size := int64(integer(v[0]))
		t.InstanceStorageSupported = new(true)
		t.InstanceStorageInfo = &ec2types.InstanceStorageInfo{
			TotalSizeInGB: &size, NvmeSupport: ec2types.EphemeralNvmeSupportRequired,
			Disks: []ec2types.DiskInfo{{SizeInGB: &size, Count: new(int32(1)), Type: ec2types.DiskTypeSsd}},
		}
	case "gpu":
		t.GpuInfo = &ec2types.GpuInfo{Gpus: []ec2types.GpuDeviceInfo{{
			Manufacturer: &v[0], Name: &v[1], Count: new(integer(v[2])), MemoryInfo: &ec2types.GpuDeviceMemoryInfo{SizeInMiB: new(integer(v[3]))},
		}}}
	case "neuron":
		t.NeuronInfo = &ec2types.NeuronInfo{NeuronDevices: []ec2types.NeuronDeviceInfo{{
			Name: &v[0], Count: new(integer(v[1])), CoreInfo: &ec2types.NeuronDeviceCoreInfo{Count: new(integer(v[2]))},
		}}}
	}
}
