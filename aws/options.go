package aws

import (
	"context"
	"errors"
	"fmt"
	"time"

	karpv1 "github.com/dovetail-sdk/dovetail/api/v1"
	awsv1 "github.com/dovetail-sdk/dovetail/aws/api/v1"
	"github.com/dovetail-sdk/dovetail/aws/internal/instancetype"
	"github.com/dovetail-sdk/dovetail/aws/nodecost"
	"github.com/dovetail-sdk/dovetail/cloudprovider/availability"
	"github.com/dovetail-sdk/dovetail/cloudprovider/batcher"
)

// Options configure a Provider. Region, Cluster.Name and NodeClasses are required; zero for
// anything else means its default.
type Options struct {
	// Region is the region of the cluster, such as eu-central-1.
	Region string

	// Cluster describes the cluster to nodes and look-ups.
	Cluster Cluster

	// NodeClasses returns the EC2NodeClass of a name, as the API server has it. It
	// is called often, so it answers from memory. If there is none, it returns nil
	// or an error that wraps cloudprovider.ErrNotFound. The class is read-only for
	// both sides. It must be safe for concurrent use.
	NodeClasses func(ctx context.Context, name string) (*awsv1.EC2NodeClass, error)

	// NodePools returns the NodePools of the cluster. Dry runs for a class try instance types that
	// its NodePools ask for. It is called as often as NodeClasses, and must be safe for concurrent
	// use. Nil means the NodePools that InstanceTypes was called with.
	NodePools func(ctx context.Context) ([]*karpv1.NodePool, error)

	// Now gives the time. It must be safe for concurrent use. Nil is time.Now.
	Now func() time.Time

	// AfterFunc calls a function later, for the batching of calls. Nil is
	// time.AfterFunc.
	AfterFunc func(d time.Duration, f func()) batcher.Timer

	// Warn is called with each Warning. It must not block, and be safe for concurrent use. Nil
	// drops it.
	Warn func(Warning)

	// InterruptionQueue is the name of the SQS queue that EventBridge sends notices to. Empty means
	// no queue.
	InterruptionQueue string

	// PriceFile returns the text of a file of prices, for networks from which the price list of AWS
	// cannot be reached. It is read every ten minutes, in a goroutine of the Provider; it must
	// return soon after its ctx is done. Nil means no file.
	PriceFile func(ctx context.Context) ([]byte, error)

	// KubeletExpressions evaluates the expressions that spec.kubelet of a class may have for
	// maxPods and reserved resources. Nil switches them off: a class that has an expression is not
	// ready. Package aws/kubeletcel has an evaluator.
	KubeletExpressions awsv1.ExpressionEvaluator

	// NodeRates are the prices of what a node has in addition to its instance: the volumes of its
	// class, a public address, and what is paid for each node. Prices of offerings include them, so
	// that plans minimise the bill, and Offering.NodeCost is that part of the price. Nil means
	// nodecost.BuiltIn, list prices of us-east-1. Rates without a price, new(nodecost.Rates), leave
	// the price of the instance alone, as in Karpenter. The Rates are read-only for both sides.
	NodeRates *nodecost.Rates

	// NVIDIADevices and EFADevices list, for dynamic resource allocation, the devices that nodes
	// will have: GPUs, as the driver gpu.nvidia.com publishes them, and elastic fabric adapters, as
	// dra.net does. Set them if the drivers run in the cluster. Attributes that a driver finds out
	// at run time, such as its version, are not known for new nodes, and a GPU is not shared
	// between claims.
	NVIDIADevices, EFADevices bool

	// NoReservedCapacity makes the Provider ignore capacity reservations: classes select none, and
	// instances use open reservations as EC2 decides.
	NoReservedCapacity bool

	// NoDryRun lets classes be ready without asking EC2 whether a launch would be allowed.
	NoDryRun bool

	// MemoryOverhead is the assumed share of a machine's memory that its node does not report, from
	// 0 up to but not including 1, as a decimal number. Empty is "0.075". It is not used for types
	// whose memory nodes have reported.
	MemoryOverhead string

	// Learned is the memory that nodes have reported: Status.Learned of an earlier process. Nil
	// is nothing.
	Learned []byte

	// ReservedENIs is the number of network interfaces of each node whose addresses are not for
	// pods. Not negative.
	ReservedENIs int64

	// PrefixDelegation says that the network plugin gives interfaces prefixes in
	// place of single addresses.
	PrefixDelegation bool

	// ImageRefresh, SubnetRefresh and SecurityGroupRefresh are how long looked-up images, subnets
	// and security groups are used before they are looked up again. Default and least: one minute.
	ImageRefresh, SubnetRefresh, SecurityGroupRefresh time.Duration

	// MinImageAge is the least age of an image that a term selects, unless the term is a pin.
	// Default: no limit.
	MinImageAge time.Duration

	// DenyImages are ids of images, and patterns of names, that no term selects.
	DenyImages []string

	// Availability sets how long offerings that EC2 refused are not tried. Nil means three minutes,
	// doubled each time they are refused again, up to half an hour; one minute for a full
	// reservation, two for a capacity type for which EC2 keeps failing with an internal error, and
	// ten for quotas.
	Availability *availability.Options

	// Batch says how calls are combined.
	Batch Batch

	// CompressUserData packs user data that would be too large with gzip.
	CompressUserData bool

	// RelaxMinValues launches even if one call cannot offer as many different values as minValues
	// of the request asks for. Without it such a launch fails with KindInsufficientCapacity.
	RelaxMinValues bool

	// DeleteInShiftedZones also terminates instances in zones that traffic has been shifted away
	// from. Without it Delete returns KindNotReady there, because EC2's answers about such a zone
	// may be wrong.
	DeleteInShiftedZones bool

	// TemplateRetention is how long a launch template is kept after its last use,
	// by CollectLaunchTemplates. Default ten minutes.
	TemplateRetention time.Duration
}

// Cluster describes an EKS cluster. If Clients has EKS, empty fields that are needed come from
// DescribeCluster.
type Cluster struct {
	// Name is the name of the EKS cluster. Required. It is a tag of everything.
	Name string
	// Endpoint is the URL of the API server, and CABundle the certificate authority to trust it by,
	// PEM in base64. The hash of a class covers CABundle. Give the same text as Karpenter had:
	// otherwise the nodes that it launched count as drifted.
	Endpoint, CABundle string
	// ServiceCIDR is the range of addresses of services, such as 10.100.0.0/16.
	ServiceCIDR string
	// DNSIP is the address of the Service kube-system/kube-dns. Empty means the tenth address of
	// ServiceCIDR, which EKS assigns to it.
	DNSIP string
	// Version is the Kubernetes version of the control plane, such as 1.34.
	Version string
	// ARN is the ARN of the cluster, and Account the account of images with the
	// owner self. Empty takes the account of ARN.
	ARN, Account string
}

// Batch says how calls that arrive together are combined into one. Up to ten launches that arrive
// together still have a call each.
type Batch struct {
	// Idle is how long a batch waits for one more call. Default 35 milliseconds. Negative: none,
	// calls are not batched.
	Idle time.Duration
	// Max is how long a batch waits altogether. Default one second.
	Max time.Duration
	// MaxItems is how many launches go into one call of CreateFleet. Default 1000; the tags that
	// assign instances to NodeClaims hold only some seventy, so larger batches take several calls.
	MaxItems int
}

// Warning reports something that needs attention although no operation failed.
type Warning struct {
	// Reason is WarnInflexible or another of the constants.
	Reason string
	// Object names the NodeClaim, EC2NodeClass, instance or queue.
	Object string
	// Detail is one line.
	Detail string
}

// The reasons of a Warning.
const (
	// WarnInflexible: a launch that allows spot uses on-demand capacity, because it has so few
	// instance types that spot capacity is hard to find.
	WarnInflexible = "InflexibleLaunch"
	// WarnUserData: user data is close to EC2's size limit, or has settings without effect.
	WarnUserData = "UserData"
	// WarnSurplus: EC2 launched more instances than were asked for; the surplus is terminated.
	WarnSurplus = "SurplusInstance"
	// WarnRefused: EC2 refused some options of a launch and launched another one.
	WarnRefused = "OptionsRefused"
	// WarnInterruptions: a message of the queue was not an event, asking for notices failed, or
	// deleting messages failed.
	WarnInterruptions = "Interruptions"
)

// complete returns a copy of the options with the defaults. Nil counts as empty. The error lists
// every fault.
func (o *Options) complete() (*Options, error) {
	var c Options
	if o != nil {
		c = *o
	}
	o = &c
	var faults []error
	fault := func(format string, args ...any) {
		faults = append(faults, fmt.Errorf("aws: options: "+format, args...))
	}
	if o.Region == "" {
		fault("region: empty; name the region of the cluster, such as eu-central-1")
	}
	o.Cluster.check(fault)
	if o.NodeClasses == nil {
		fault("nodeClasses: nil; pass the function that returns an EC2NodeClass by name")
	}
	if err := o.NodeRates.Validate(); err != nil {
		fault("nodeRates: %w", err)
	}
	if _, err := instancetype.ParseShare(o.memoryOverhead()); err != nil {
		fault("memoryOverhead: %q: %w", o.MemoryOverhead, err)
	}
	if o.ReservedENIs < 0 {
		fault("reservedENIs: %d; use zero or more", o.ReservedENIs)
	}
	for _, d := range []struct {
		name  string
		value time.Duration
	}{{"imageRefresh", o.ImageRefresh}, {"subnetRefresh", o.SubnetRefresh}, {"securityGroupRefresh", o.SecurityGroupRefresh}} {
		if d.value != 0 && d.value < time.Minute {
			fault("%s: %v; use a minute or more, or zero for the default", d.name, d.value)
		}
	}
	if o.MinImageAge < 0 {
		fault("minImageAge: %v; use zero or more", o.MinImageAge)
	}
	if o.TemplateRetention < 0 {
		fault("templateRetention: %v; use a time above zero, or zero for the default", o.TemplateRetention)
	}
	if o.Batch.Max < 0 || o.Batch.MaxItems < 0 {
		fault("batch: max %v, maxItems %d; use values above zero, or zero for the defaults", o.Batch.Max, o.Batch.MaxItems)
	}
	if err := errors.Join(faults...); err != nil {
		return o, err
	}
	o.setDefaults()
	return o, nil
}

// setDefaults gives nil and zero fields their defaults.
func (o *Options) setDefaults() {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.AfterFunc == nil {
		o.AfterFunc = func(d time.Duration, f func()) batcher.Timer { return time.AfterFunc(d, f) }
	}
	if o.Warn == nil {
		o.Warn = func(Warning) {}
	}
	if o.TemplateRetention == 0 {
		o.TemplateRetention = 10 * time.Minute
	}
	if o.NodeRates == nil {
		o.NodeRates = nodecost.BuiltIn()
	}
	if o.Availability == nil {
		o.Availability = defaultAvailability()
	}
}

func (o *Options) memoryOverhead() string {
	if o.MemoryOverhead == "" {
		return instancetype.DefaultMemoryShare.String()
	}
	return o.MemoryOverhead
}

func defaultAvailability() *availability.Options {
	const quota = 10 * time.Minute
	return &availability.Options{
		MaxTTL: 30 * time.Minute,
		TTLByReason: map[string]time.Duration{
			// The free count of a reservation is read again each minute.
			"ReservationCapacityExceeded": time.Minute,
			// On-demand capacity, the substitute for spot, is dearer.
			internalErrorReason:                                 2 * time.Minute,
			"VcpuLimitExceeded":                                 quota,
			"MaxSpotInstanceCountExceeded":                      quota,
			"AuthFailure.ServiceLinkedRoleCreationNotPermitted": quota,
		},
	}
}

// batching returns the options of a group of calls.
func (o *Options) batching() *batcher.Options {
	c := &batcher.Options{AfterFunc: o.AfterFunc, Idle: o.Batch.Idle, Max: o.Batch.Max, MaxItems: o.Batch.MaxItems}
	if c.MaxItems == 0 {
		c.MaxItems = 1000
	}
	if c.Idle < 0 {
		c.Idle, c.Max, c.MaxItems = 0, 0, 1
	}
	if c.Max != 0 && c.Max < c.Idle {
		c.Max = c.Idle
	}
	return c
}
