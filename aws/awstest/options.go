package awstest

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
)

// Options say what there is in a Cloud. The zero value, and nil, mean the
// defaults. Values are copied, but for what pointers in them point at, which must
// not be changed any more.
type Options struct {
	// Region is the name of the region. Default us-east-1.
	Region string
	// Account is the account, twelve digits. Default 123456789012.
	Account string
	// Clock is what the clock shows at first. Default 2026-01-02 15:04:05 UTC.
	Clock time.Time
	// Seed changes what is made up: IDs and spot prices.
	Seed uint64

	// Zones are the zones. Default: three, named after the region with the
	// letters a to c.
	Zones []Zone
	// Types are the instance types. Default InstanceTypes().
	Types []ec2types.InstanceTypeInfo
	// TypeZones says in which zones there is an instance type. One that is
	// missing is in all. Default: what is true of InstanceTypes, the same.
	TypeZones map[string][]string
	// Prices are those on demand, in USD per hour, by instance type. Default:
	// those of the types of InstanceTypes. A type without one is missing from the
	// price list and has no spot price.
	Prices map[string]float64

	// Subnets are the subnets. Default: one a zone, of 250 addresses, tagged
	// karpenter.sh/discovery with the name of the cluster. What is missing of a
	// subnet but its ID and zone is filled in.
	Subnets []ec2types.Subnet
	// SecurityGroups are the groups. Default: two, one of which is tagged like the
	// subnets.
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

	// Boot is how long a machine is pending, Shutdown how long it goes down.
	// Default and zero: no time at all.
	Boot, Shutdown time.Duration
	// Forget is how long a machine is still described once it has terminated.
	// Default and zero: one hour.
	Forget time.Duration
	// Lag is how long after they were made instances and launch templates are
	// missing from descriptions that do not name them. Default and zero: not at
	// all.
	Lag time.Duration

	// PageSize is the most that one page has, where the caller allows more.
	// Default and zero: no such bound.
	PageSize int
	// PageSizes is PageSize for single actions, by their names. Above zero.
	PageSizes map[string]int
	// RateLimits bound how often an action may be called, by its name. Those
	// beyond are throttled. Default: no bounds.
	RateLimits map[string]RateLimit
	// OnDemandVCPUs and SpotVCPUs are quotas on the vCPUs of all machines of a
	// kind. Default and zero: no such quota.
	OnDemandVCPUs, SpotVCPUs int
	// NoSpotRole says that the role that EC2 needs for spot instances is missing
	// and may not be made.
	NoSpotRole bool
	// Skew is how far the clock of AWS is ahead of the caller's. Calls signed more
	// than five minutes away from it are refused, as AWS does it. The SDK finds out
	// from the answer and signs anew.
	Skew time.Duration
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
	// Endpoint is the address of the API server. Default: one that is made up.
	Endpoint string
	// CertificateAuthority is its CA bundle in base64. Default: of some text.
	CertificateAuthority string
	// ServiceCIDR are the addresses of services. Default 10.100.0.0/16.
	ServiceCIDR string
	// ServiceIPv6CIDR are those of a cluster with IPv6. Default none.
	ServiceIPv6CIDR string
}

// RateLimit is a bucket of tokens, one for each call.
type RateLimit struct {
	// PerSecond is how many come back each second, by the clock of the Cloud.
	PerSecond float64
	// Burst is how many there can be, and are at first.
	Burst int
}

// VPC is the network that subnets and groups without one are in.
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
	setDefault(&out.Forget, time.Hour)
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
	for i, d := range []time.Duration{o.Boot, o.Shutdown, o.Forget, o.Lag} {
		if d < 0 {
			fault("awstest: Options.%s: %v; use zero or more", [...]string{"Boot", "Shutdown", "Forget", "Lag"}[i], d)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(o.RateLimits)) {
		if l := o.RateLimits[name]; !isAction(name) || l.PerSecond < 0 || l.Burst < 0 {
			fault("awstest: Options.RateLimits[%q]: %+v; use the name of an action of the package comment, and zero or more", name, l)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(o.PageSizes)) {
		if n := o.PageSizes[name]; !isAction(name) || n < 1 {
			fault("awstest: Options.PageSizes[%q]: %d; use the name of an action of the package comment, and one or more", name, n)
		}
	}
	return errors.Join(errs...)
}

// value is what a pointer points at, or the zero value.
func value[T any](p *T) T {
	if p == nil {
		var zero T
		return zero
	}
	return *p
}

func pointer[T any](v T) *T { return &v }
