package classtypes

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"

	awsv1 "github.com/dovetail-sdk/dovetail/aws/api/v1"
	"github.com/dovetail-sdk/dovetail/aws/internal/instancetype"
	"github.com/dovetail-sdk/dovetail/aws/nodecost"
	"github.com/dovetail-sdk/dovetail/cloudprovider/pricing"
)

// Zone is an availability zone.
type Zone struct {
	// Name is its name in the account, such as us-east-1a. Required.
	Name string
	// ID is the id that is the same in all accounts, such as use1-az1. If it is empty, nodes have
	// no zone-id label.
	ID string
}

// Input is the input of a catalog in addition to the facts. It is read-only. Region and Class are
// required; the zero value of everything else means its default.
type Input struct {
	// Region is the name of the region.
	Region string
	// Class is the class of the nodes. Of its spec are used kubelet, blockDeviceMappings,
	// instanceStorePolicy, the family of images, networkInterfaces, cpuOptions, enclaveOptions,
	// connectionTracking and placementGroupSelector; of its status subnets, amis and
	// capacityReservations. It is not validated: see EC2NodeClass.Validate. A class without subnets
	// can launch nowhere, and a class without amis is assumed to have an image for every type.
	Class *awsv1.EC2NodeClass
	// Zones give the ids of zones that the subnets of the class do not give.
	Zones []Zone
	// ShiftedZones are the zones, by id or name, that traffic is shifted away from. No instance is
	// launched in these zones.
	ShiftedZones []string
	// Left is the number of free instances of each capacity reservation, by its id, as in
	// aws.NodeClass.Left. A reservation that is missing is full.
	Left map[string]int
	// PlacementGroup is the group that the placementGroupSelector of the class names.
	// If it names one and this is nil, nothing can be launched.
	PlacementGroup *ec2types.PlacementGroup
	// Prices is the price book for all offerings. If it is nil no offering has a price, and only
	// reservations can be launched into.
	Prices *pricing.Book

	// KubeletExpressions evaluates the expressions of spec.kubelet. Nil is none: a class
	// that has one is an error. Package aws/kubeletcel has an evaluator.
	KubeletExpressions awsv1.ExpressionEvaluator
	// NVIDIADevices and EFADevices list the devices that nodes will have, as the field of
	// that name of aws.Options says.
	NVIDIADevices, EFADevices bool
	// MemoryOverhead is the assumed share of a machine's memory that its node does not report, from
	// 0 up to but not including 1, as a decimal number. Empty is "0.075".
	MemoryOverhead string
	// NodeRates are the prices of what a node of the class has in addition to its instance,
	// as the field of that name of aws.Options says. Nil means nodecost.BuiltIn, and
	// new(nodecost.Rates) leaves the price of the instance alone.
	NodeRates *nodecost.Rates
	// Learned is the memory sizes that nodes have reported, from aws.Status.Learned. Nil means
	// none.
	Learned []byte
	// ReservedENIs is the number of network interfaces of each node whose addresses are not for
	// pods. Not negative.
	ReservedENIs int64
	// PrefixDelegation says that the network plugin gives interfaces prefixes in place of
	// single addresses.
	PrefixDelegation bool
}

// parse returns the input as the provider's own code takes it. The error lists what
// cannot be read.
func (in *Input) parse(now time.Time) (instancetype.Input, *instancetype.Options, error) {
	out := instancetype.Input{
		Now: now, Region: in.Region, Class: in.Class, ShiftedZones: in.ShiftedZones,
		PlacementGroup: in.PlacementGroup, Prices: in.Prices,
	}
	for _, z := range in.Zones {
		out.Zones = append(out.Zones, instancetype.Zone(z))
	}
	var held []ec2types.CapacityReservation
	for _, id := range slices.Sorted(maps.Keys(in.Left)) {
		held = append(held, ec2types.CapacityReservation{CapacityReservationId: &id, AvailableInstanceCount: new(int32(min(max(in.Left[id], 0), 1<<30)))})
	}
	out.Stock = out.Stock.Observe(now, held)
	cluster := instancetype.DefaultCluster()
	cluster.ReservedInterfaces, cluster.PrefixDelegation = in.ReservedENIs, in.PrefixDelegation
	var faults [2]error
	if in.MemoryOverhead != "" {
		if cluster.MemoryLost, faults[0] = instancetype.ParseShare(in.MemoryOverhead); faults[0] != nil {
			faults[0] = fmt.Errorf("memoryOverhead: %w", faults[0])
		}
	}
	if in.Learned != nil {
		out.Learned, faults[1] = instancetype.ParseLearned(in.Learned)
	}
	return out, &instancetype.Options{
		Cluster: &cluster, Expressions: in.KubeletExpressions, NVIDIADevices: in.NVIDIADevices, EFADevices: in.EFADevices,
		NodeRates: cmp.Or(in.NodeRates, nodecost.BuiltIn()),
	}, errors.Join(faults[:]...)
}
