package awstest

import (
	"errors"
	"fmt"
	"hash/fnv"
	"maps"
	"slices"
	"strings"
	"time"

	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
)

// Options set the content of a Cloud. The zero value, and nil, mean the defaults. Values are
// copied; objects that they point to are shared and must not be changed afterwards.
type Options struct {
	// Region is the name of the region. Default us-east-1.
	Region string
	// Account is the account, twelve digits. Default 123456789012.
	Account string
	// Clock is the initial time of the clock. Default 2026-01-02 15:04:05 UTC.
	Clock time.Time
	// Seed changes generated values: IDs and spot prices.
	Seed uint64

	// Zones are the zones. Default: three, named after the region with the
	// letters a to c.
	Zones []Zone
	// Types are the instance types. Default InstanceTypes().
	Types []ec2types.InstanceTypeInfo
	// TypeZones has the zones of each instance type. A type that is missing is in all zones.
	// Default: every type is in all zones.
	TypeZones map[string][]string
	// Prices are the on-demand prices in USD per hour, by instance type. Default: those of
	// InstanceTypes. A type without a price is missing from the price list and has no spot price.
	Prices map[string]float64

	// Subnets are the subnets. Default: one a zone, of 250 addresses, tagged karpenter.sh/discovery
	// with the name of the cluster. Omitted fields of a subnet other than ID and zone are filled
	// in.
	Subnets []ec2types.Subnet
	// SecurityGroups are the groups. Default: two groups. One of them has the tags of the subnets.
	SecurityGroups []ec2types.SecurityGroup
	// Images are the images. Default: those of Amazon for AL2023 and Bottlerocket,
	// one release of each, for the version of the cluster, with parameters.
	Images []ec2types.Image
	// Parameters are those of the parameter store, by name. Default: those of the
	// default images. With Images, only these.
	Parameters map[string]string
	// Reservations are capacity reservations. Default none.
	Reservations []ec2types.CapacityReservation
	// PlacementGroups are placement groups. Default none.
	PlacementGroups []ec2types.PlacementGroup
	// Roles are the names of the IAM roles. Default KarpenterNodeRole- with the
	// name of the cluster.
	Roles []string
	// Cluster is the EKS cluster.
	Cluster Cluster
	// Queue is the name of the queue. Default: the name of the cluster.
	Queue string

	// Boot is how long a machine is pending, Shutdown how long it goes down. The default is zero.
	Boot, Shutdown time.Duration
	// Lag is how long new instances and launch templates are missing from descriptions, and how long
	// EC2 does not know a new instance profile. The default
	// is zero.
	Lag time.Duration

	// PageSize is the largest page size. A request may ask for smaller pages. Zero means no limit.
	PageSize int
	// PageSizes is PageSize for single actions, by their names. Above zero.
	PageSizes map[string]int
	// OnDemandVCPUs and SpotVCPUs are quotas on the vCPUs of all machines of a
	// kind. Default and zero: no such quota.
	OnDemandVCPUs, SpotVCPUs int
	// NoSpotRole says that the service-linked role for spot instances is missing and that the
	// caller may not create it.
	NoSpotRole bool
}

// Zone is an availability zone.
type Zone struct {
	// Name is the name, such as us-east-1a.
	Name string
	// ID is the same for all accounts, such as use1-az1.
	ID string
}

// Cluster is an EKS cluster.
type Cluster struct {
	// Name is the name. Default demo.
	Name string
	// Version is the version of Kubernetes. Default 1.34.
	Version string
	// Endpoint is the address of the API server. Default: an invented one.
	Endpoint string
	// CertificateAuthority is its CA bundle in base64. Default: of some text.
	CertificateAuthority string
	// ServiceCIDR are the addresses of services. Default 10.100.0.0/16.
	ServiceCIDR string
	// ServiceIPv6CIDR is the range of service addresses of a cluster with IPv6. Default: none.
	ServiceIPv6CIDR string
}

// VPC is the VPC of subnets and groups that name none.
const VPC = "vpc-0123456789abcdef0"

// withDefaults returns the options completed.
func (o *Options) withDefaults() (Options, error) {
	var out Options
	if o != nil {
		out = *o
	}
	setDefault(&out.Region, "us-east-1")
	setDefault(&out.Account, "123456789012")
	setDefault(&out.Clock, time.Date(2026, 1, 2, 15, 4, 5, 0, time.UTC))
	setDefault(&out.Cluster.Name, "demo")
	setDefault(&out.Cluster.Version, "1.34")
	setDefault(&out.Cluster.Endpoint, "https://0123456789ABCDEF.gr7."+out.Region+".eks.amazonaws.com")
	setDefault(&out.Cluster.CertificateAuthority, "Y2VydGlmaWNhdGU=")
	setDefault(&out.Cluster.ServiceCIDR, "10.100.0.0/16")
	setDefault(&out.Queue, out.Cluster.Name)
	if out.Zones == nil {
		out.Zones = defaultZones(out.Region)
	}
	if out.Roles == nil {
		out.Roles = []string{"KarpenterNodeRole-" + out.Cluster.Name}
	}
	if out.Types == nil {
		out.Types = InstanceTypes()
	}
	if out.Prices == nil {
		out.Prices = defaultPrices()
	}
	if out.Subnets == nil {
		out.Subnets = defaultSubnets(out)
	}
	if out.SecurityGroups == nil {
		out.SecurityGroups = defaultGroups(out)
	}
	if out.Images == nil {
		images, parameters := defaultImages(out)
		maps.Copy(parameters, out.Parameters)
		out.Images, out.Parameters = images, parameters
	}
	return out, out.validate()
}

func setDefault[T comparable](field *T, value T) {
	var zero T
	if *field == zero {
		*field = value
	}
}

// validate joins every fault.
func (o Options) validate() error {
	var errs []error
	fault := func(format string, args ...any) { errs = append(errs, fmt.Errorf(format, args...)) }
	if len(o.Account) != 12 || strings.Trim(o.Account, "0123456789") != "" {
		fault("awstest: Options.Account: %q; use twelve digits", o.Account)
	}
	zones := map[string]bool{}
	for i, z := range o.Zones {
		if z.Name == "" || z.ID == "" || zones[z.Name] {
			fault("awstest: Options.Zones[%d]: %+v; a zone needs a name of its own and an ID", i, z)
		}
		zones[z.Name] = true
	}
	known := map[string]bool{}
	for i, t := range o.Types {
		if t.InstanceType == "" || known[string(t.InstanceType)] {
			fault("awstest: Options.Types[%d]: %q; a type needs a name of its own", i, t.InstanceType)
		}
		known[string(t.InstanceType)] = true
	}
	for _, name := range slices.Sorted(maps.Keys(o.TypeZones)) {
		for _, z := range o.TypeZones[name] {
			if !zones[z] {
				fault("awstest: Options.TypeZones[%q]: there is no zone %q; list it in Zones", name, z)
			}
		}
	}
	for i, s := range o.Subnets {
		if value(s.SubnetId) == "" || !zones[value(s.AvailabilityZone)] {
			fault("awstest: Options.Subnets[%d]: ID %q in zone %q; a subnet needs an ID and one of Zones", i, value(s.SubnetId), value(s.AvailabilityZone))
		}
	}
	for i, d := range []time.Duration{o.Boot, o.Shutdown, o.Lag} {
		if d < 0 {
			fault("awstest: Options.%s: %v; use zero or more", [...]string{"Boot", "Shutdown", "Lag"}[i], d)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(o.PageSizes)) {
		if n := o.PageSizes[name]; !isAction(name) || n < 1 {
			fault("awstest: Options.PageSizes[%q]: %d; use the name of an action of the package comment, and one or more", name, n)
		}
	}
	return errors.Join(errs...)
}

// value dereferences a pointer; nil gives the zero value.
func value[T any](p *T) T {
	if p == nil {
		var zero T
		return zero
	}
	return *p
}

func defaultZones(region string) []Zone {
	var zones []Zone
	for i, letter := range []string{"a", "b", "c"} {
		zones = append(zones, Zone{region + letter, fmt.Sprintf("%s-az%d", shortRegion(region), i+1)})
	}
	return zones
}

// shortRegion returns the prefix of the IDs of zones: use1 for us-east-1.
func shortRegion(region string) string {
	parts := strings.Split(region, "-")
	short := parts[0]
	for _, p := range parts[1:] {
		if p != "" {
			short += p[:1]
		}
	}
	return short
}

func discoveryTag(o Options) []ec2types.Tag {
	return []ec2types.Tag{{Key: new("karpenter.sh/discovery"), Value: &o.Cluster.Name}}
}

func defaultSubnets(o Options) []ec2types.Subnet {
	var subnets []ec2types.Subnet
	for i, z := range o.Zones {
		subnets = append(subnets, ec2types.Subnet{
			SubnetId:         new(fmt.Sprintf("subnet-%017x", 0xa0+i)),
			AvailabilityZone: new(z.Name), CidrBlock: new(fmt.Sprintf("10.0.%d.0/24", i)),
			AvailableIpAddressCount: new(int32(250)),
			Tags:                    append(discoveryTag(o), ec2types.Tag{Key: new("Name"), Value: new("private-" + z.Name)}),
		})
	}
	return subnets
}

func defaultGroups(o Options) []ec2types.SecurityGroup {
	return []ec2types.SecurityGroup{
		{GroupId: new("sg-0000000000000000a"), GroupName: new("nodes"), Description: new("nodes of the cluster"), Tags: discoveryTag(o)},
		{GroupId: new("sg-0000000000000000b"), GroupName: new("default"), Description: new("default VPC security group")},
	}
}

// imageSpec is an image of Amazon and the parameters that name it.
type imageSpec struct {
	name, arch, owner, alias string
	paths                    []string
}

// defaultImages returns images and parameters as EKS and Bottlerocket publish them for a version of
// Kubernetes, one release of each.
func defaultImages(o Options) ([]ec2types.Image, map[string]string) {
	const release, bottlerocket = "20251209", "1.50.0"
	k8s := o.Cluster.Version
	var specs []imageSpec
	for _, v := range []struct{ arch, variant string }{
		{"x86_64", "standard"}, {"x86_64", "nvidia"}, {"x86_64", "neuron"}, {"arm64", "standard"}, {"arm64", "nvidia"},
	} {
		name := fmt.Sprintf("amazon-eks-node-al2023-%s-%s-%s-v%s", v.arch, v.variant, k8s, release)
		path := fmt.Sprintf("/aws/service/eks/optimized-ami/%s/amazon-linux-2023/%s/%s/", k8s, v.arch, v.variant)
		specs = append(specs, imageSpec{name, v.arch, "602401143452", "amazon", []string{path + "recommended/image_id", path + name + "/image_id"}})
	}
	for _, nvidia := range []string{"", "-nvidia"} {
		for _, arch := range []string{"x86_64", "arm64"} {
			variant := "aws-k8s-" + k8s + nvidia
			path := fmt.Sprintf("/aws/service/bottlerocket/%s/%s/", variant, arch)
			specs = append(specs, imageSpec{fmt.Sprintf("bottlerocket-%s-%s-v%s-1a2b3c4d", variant, arch, bottlerocket), arch, "092701018921", "amazon",
				[]string{path + "latest/image_id", path + bottlerocket + "/image_id"}})
		}
	}
	var images []ec2types.Image
	parameters := map[string]string{}
	for _, s := range specs {
		id := fmt.Sprintf("ami-%017x", hash(s.name)>>4)
		images = append(images, ec2types.Image{
			ImageId: &id, Name: new(s.name), Architecture: ec2types.ArchitectureValues(s.arch), State: ec2types.ImageStateAvailable,
			OwnerId: new(s.owner), ImageOwnerAlias: new(s.alias), Public: new(true),
			CreationDate:   new(time.Date(2025, 12, 9, 8, 0, 0, 0, time.UTC).Format(timeFormat)),
			RootDeviceName: new("/dev/xvda"), RootDeviceType: ec2types.DeviceTypeEbs,
		})
		for _, p := range s.paths {
			parameters[p] = id
		}
	}
	return images, parameters
}

// hash does not depend on the machine or the process.
func hash(parts ...string) uint64 {
	h := fnv.New64a()
	for _, p := range parts {
		_, _ = h.Write([]byte(p))
		_, _ = h.Write([]byte{0})
	}
	// In FNV the last bytes hardly change the high bits, so they are mixed.
	v := h.Sum64()
	v ^= v >> 33
	v *= 0xff51afd7ed558ccd
	v ^= v >> 33
	return v
}

// completeSubnets fills in omitted fields.
func (c *Cloud) completeSubnets() {
	for _, s := range c.opts.Subnets {
		s.AvailabilityZoneId = new(c.zoneID(value(s.AvailabilityZone)))
		setDefaultPointer(&s.VpcId, VPC)
		setDefaultPointer(&s.CidrBlock, "10.0.0.0/16")
		setDefaultPointer(&s.AvailableIpAddressCount, 250)
		setDefaultPointer(&s.OwnerId, c.opts.Account)
		setDefaultPointer(&s.MapPublicIpOnLaunch, false)
		setDefault(&s.State, ec2types.SubnetStateAvailable)
		c.subnets = append(c.subnets, &subnet{Subnet: s, free: int(*s.AvailableIpAddressCount)})
	}
	slices.SortFunc(c.subnets, func(a, b *subnet) int { return strings.Compare(*a.SubnetId, *b.SubnetId) })
}

func setDefaultPointer[T any](field **T, v T) {
	if *field == nil {
		*field = &v
	}
}

func (c *Cloud) zoneID(zone string) string {
	for _, z := range c.opts.Zones {
		if z.Name == zone {
			return z.ID
		}
	}
	return ""
}
