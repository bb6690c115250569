package instancetype_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"github.com/dovetail-sdk/dovetail/amiselect"
	karpv1 "github.com/dovetail-sdk/dovetail/api/v1"
	awsv1 "github.com/dovetail-sdk/dovetail/aws/api/v1"
	"github.com/dovetail-sdk/dovetail/aws/internal/instancetype"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/cloudprovider/pricing"
)

func TestOfferings(t *testing.T) {
	in := input(t, class(amiselect.FamilyAL2023))
	in.Zones = []instancetype.Zone{{Name: "us-east-1c", ID: "use1-az3"}}
	it := find(t, build(t, in, nil), "m5.large")
	require.Len(t, it.Offerings, 6, "three zones, two ways to buy")
	for _, c := range []struct {
		zone, capacityType, id string
		available              bool
		price                  float64
	}{
		{"us-east-1a", "on-demand", "use1-az1", true, 0.1},
		{"us-east-1a", "spot", "use1-az1", true, 0.04},
		{"us-east-1b", "on-demand", "use1-az2", true, 0.1},
		{"us-east-1c", "on-demand", "use1-az3", false, 0.1}, // no subnet
		{"us-east-1c", "spot", "use1-az3", false, 0.04},
	} {
		o := offering(t, it, c.zone, c.capacityType)
		require.Equal(t, c.available, o.Available, o.Key(it.Name))
		require.Equal(t, c.price, o.Price, o.Key(it.Name))
		id, _ := o.Requirements.Get(awsv1.LabelTopologyZoneID)
		require.Equal(t, awsv1.LabelTopologyZoneID+" = "+c.id, id.String())
	}
	require.Len(t, find(t, build(t, in, nil), "trn2.48xlarge").Offerings, 1, "one zone, and not on spot")
	require.Empty(t, find(t, build(t, in, nil), "p6e-gb200.36xlarge").Offerings, "sold in blocks alone")
}

func TestZoneWithoutID(t *testing.T) {
	c := class(amiselect.FamilyAL2023)
	c.Status.Subnets[0].ZoneID = ""
	c.Status.Subnets = append(c.Status.Subnets, awsv1.Subnet{ID: "subnet-?"})
	it := find(t, build(t, input(t, c), nil), "m5.large")
	_, named := it.Requirements.Get(awsv1.LabelTopologyZoneID)
	require.False(t, named, "said by each offering")
	id, _ := offering(t, it, "us-east-1b", "spot").Requirements.Get(awsv1.LabelTopologyZoneID)
	require.Equal(t, "!"+awsv1.LabelTopologyZoneID, id.String())
	require.True(t, offering(t, it, "us-east-1b", "spot").Available)
	id, _ = offering(t, it, "us-east-1a", "spot").Requirements.Get(awsv1.LabelTopologyZoneID)
	require.Equal(t, awsv1.LabelTopologyZoneID+" = use1-az1", id.String())
}

func TestZonalShift(t *testing.T) {
	for _, away := range []string{"use1-az1", "us-east-1a"} {
		in := input(t, class(amiselect.FamilyAL2023, reservations...))
		in.ShiftedZones, in.Stock = []string{away, ""}, stock(map[string]int32{"cr-1": 3})
		it := find(t, build(t, in, nil), "m5.large")
		require.False(t, offering(t, it, "us-east-1a", "spot").Available, away)
		require.False(t, offering(t, it, "us-east-1a", "reserved").Available, away)
		require.True(t, offering(t, it, "us-east-1b", "spot").Available, away)
	}
}

func TestPrices(t *testing.T) {
	book, err := pricing.New(&pricing.Options{Layers: []pricing.Layer{{Name: "list", MaxAge: time.Hour, Entries: []pricing.Entry{
		{Scope: cloudprovider.Scope{InstanceType: "m5.large", CapacityType: "on-demand"}, Price: 0.096, At: noon},
		{Scope: cloudprovider.Scope{InstanceType: "m5.large", CapacityType: "spot"}, Price: 0.04, At: noon.Add(-2 * time.Hour)},
	}}}})
	require.NoError(t, err)
	in := input(t, class(amiselect.FamilyAL2023))
	in.Prices = book
	c := build(t, in, nil)
	it := find(t, c, "m5.large")
	require.True(t, offering(t, it, "us-east-1a", "on-demand").Available)
	require.True(t, offering(t, it, "us-east-1a", "spot").Available, "an old price is better than none")
	require.False(t, offering(t, find(t, c, "c5.xlarge"), "us-east-1a", "on-demand").Available)
	require.Equal(t, []string{"m5.large/us-east-1a/spot", "m5.large/us-east-1b/spot", "m5.large/us-east-1c/spot"}, keys(c.Stale))
	require.Contains(t, keys(c.Unpriced), "c5.xlarge/us-east-1a/on-demand")
	require.NotContains(t, keys(c.Unpriced), "m5.large/us-east-1a/on-demand")

	in.Prices = nil
	c = build(t, in, nil)
	for _, it := range c.Types {
		for _, o := range it.Offerings {
			require.False(t, o.Available)
		}
	}
}

func keys(list []cloudprovider.OfferingKey) []string {
	var out []string
	for _, k := range list {
		out = append(out, k.String())
	}
	return out
}

// reservations are of every kind.
var reservations = []edit{func(c *awsv1.EC2NodeClass) {
	c.Status.CapacityReservations = []awsv1.CapacityReservation{
		{ID: "cr-4", InstanceType: "m5.large", AvailabilityZone: "us-east-1b", ReservationType: awsv1.CapacityReservationTypeDefault,
			EndTime: &metav1.Time{Time: noon}, State: awsv1.CapacityReservationStateActive},
		{ID: "cr-1", InstanceType: "m5.large", AvailabilityZone: "us-east-1a", ReservationType: awsv1.CapacityReservationTypeDefault,
			State: awsv1.CapacityReservationStateActive},
		{ID: "cr-2", InstanceType: "m5.large", AvailabilityZone: "us-east-1b", ReservationType: "", Interruptible: true,
			EndTime: &metav1.Time{Time: noon.Add(1)}, State: awsv1.CapacityReservationStateActive},
		{ID: "cr-3", InstanceType: "p6e-gb200.36xlarge", AvailabilityZone: "us-east-1b",
			ReservationType: awsv1.CapacityReservationTypeCapacityBlock, State: awsv1.CapacityReservationStateActive},
		{ID: "cr-5", InstanceType: "p5.48xlarge", AvailabilityZone: "us-east-1a",
			ReservationType: awsv1.CapacityReservationTypeCapacityBlock, State: awsv1.CapacityReservationStateExpiring},
		{ID: "cr-6", InstanceType: "m5.large", AvailabilityZone: "us-east-1c", State: awsv1.CapacityReservationStateActive},
		{ID: "cr-7", InstanceType: "no.such", AvailabilityZone: "us-east-1a"},
		{ID: "", InstanceType: "m5.large", AvailabilityZone: "us-east-1a"},
		{ID: "cr-1", InstanceType: "m5.large", AvailabilityZone: "us-east-1a", ReservationType: awsv1.CapacityReservationTypeDefault,
			State: awsv1.CapacityReservationStateActive},
	}
}}

func TestReservations(t *testing.T) {
	in := input(t, class(amiselect.FamilyAL2023, reservations...))
	in.Stock = stock(map[string]int32{"cr-1": 2, "cr-3": 4, "cr-5": 1, "cr-6": -1})
	c := build(t, in, nil)
	requireSound(t, c.Types)
	for _, k := range []struct {
		it, id, zone          string
		kind, interruptible   string
		available, launchable bool
		stock                 int
		price                 float64
	}{
		{"m5.large", "cr-1", "us-east-1a", "default", "false", true, true, 2, 0.1e-7},
		{"m5.large", "cr-2", "us-east-1b", "default", "true", true, false, 0, 0.1e-7}, // full
		{"m5.large", "cr-4", "us-east-1b", "default", "false", false, false, 0, 0.1e-7},
		{"m5.large", "cr-6", "us-east-1c", "default", "false", false, false, 0, 0.1e-7}, // no subnet
		{"p6e-gb200.36xlarge", "cr-3", "us-east-1b", "capacity-block", "false", true, true, 4, 0.1e-7},
		{"p5.48xlarge", "cr-5", "us-east-1a", "capacity-block", "false", false, false, 1, 0.1e-7},
	} {
		it := find(t, c, k.it)
		o, found := it.Offering(cloudprovider.OfferingKey{InstanceType: k.it, Zone: k.zone, CapacityType: "reserved", ReservationID: k.id})
		require.True(t, found, k.id)
		require.Equal(t, k.available, o.Available, k.id)
		require.Equal(t, k.launchable, o.Launchable(), k.id)
		require.Equal(t, k.stock, o.ReservationCapacity, k.id)
		require.InDelta(t, k.price, o.Price, 1e-15, k.id)
		for key, value := range map[string]string{
			awsv1.LabelCapacityReservationID: k.id, awsv1.LabelCapacityReservationType: k.kind,
			awsv1.LabelCapacityReservationInterruptible: k.interruptible,
		} {
			r, _ := o.Requirements.Get(key)
			require.Equal(t, key+" = "+value, r.String(), k.id)
		}
	}
	// What is bought without a reservation says so.
	r, _ := offering(t, find(t, c, "m5.large"), "us-east-1a", "spot").Requirements.Get(awsv1.LabelCapacityReservationID)
	require.Equal(t, "!"+awsv1.LabelCapacityReservationID, r.String())
	types, _ := find(t, c, "m5.large").Requirements.Get(karpv1.CapacityTypeLabelKey)
	require.Equal(t, "karpenter.sh/capacity-type in (on-demand, reserved, spot)", types.String())
	_, found := find(t, c, "m5.large").Offering(cloudprovider.OfferingKey{InstanceType: "m5.large", Zone: "us-east-1a", CapacityType: "reserved"})
	require.False(t, found, "without an id")
	require.Len(t, find(t, c, "m5.large").Offerings, 10)
}

// A reservation is there whether or not anybody knows what the type costs.
func TestReservationsWithoutPrice(t *testing.T) {
	in := input(t, class(amiselect.FamilyAL2023, reservations...))
	in.Stock = stock(map[string]int32{"cr-1": 2, "cr-3": 4})
	in.Prices = nil
	c := build(t, in, nil)
	small := offering(t, find(t, c, "m5.large"), "us-east-1a", "reserved")
	large := offering(t, find(t, c, "p6e-gb200.36xlarge"), "us-east-1b", "reserved")
	require.True(t, small.Launchable())
	require.True(t, large.Launchable())
	require.InDelta(t, 2*5e-9, small.Price, 1e-15)
	require.InDelta(t, 144*5e-9, large.Price, 1e-15)
	for _, k := range c.Unpriced {
		require.NotEqual(t, "reserved", k.CapacityType)
	}
}

func TestPlacementGroup(t *testing.T) {
	selects := func(c *awsv1.EC2NodeClass) { c.Spec.PlacementGroupSelector = &awsv1.PlacementGroupSelector{} }
	group := func(strategy ec2types.PlacementStrategy, state ec2types.PlacementGroupState, partitions int32) *ec2types.PlacementGroup {
		return &ec2types.PlacementGroup{GroupId: new("pg-1"), Strategy: strategy, State: state, PartitionCount: &partitions}
	}
	const available = ec2types.PlacementGroupStateAvailable
	for _, c := range []struct {
		name          string
		group         *ec2types.PlacementGroup
		id, partition string
		m5, t3/* no cluster */ bool
	}{
		{"cluster", group(ec2types.PlacementStrategyCluster, available, 0), "= pg-1", "", true, false},
		{"spread", group(ec2types.PlacementStrategySpread, available, 7), "= pg-1", "", true, true},
		{"partition", group(ec2types.PlacementStrategyPartition, available, 3), "= pg-1", "in (1, 2, 3)", true, true},
		{"no partitions", group(ec2types.PlacementStrategyPartition, available, 0), "= pg-1", "", true, true},
		{"a strategy of later days", group("orbital", available, 0), "= pg-1", "", false, false},
		{"no state", group(ec2types.PlacementStrategySpread, "", 0), "= pg-1", "", true, true},
		{"not found", nil, "", "", false, false},
		{"going down", group(ec2types.PlacementStrategySpread, ec2types.PlacementGroupStateDeleting, 0), "", "", false, false},
		{"no id", &ec2types.PlacementGroup{}, "", "", false, false},
	} {
		in := input(t, class(amiselect.FamilyAL2023, selects))
		in.PlacementGroup = c.group
		got := build(t, in, nil)
		m5, t3 := find(t, got, "m5.large"), find(t, got, "t3.micro")
		require.Equal(t, c.m5, offering(t, m5, "us-east-1a", "spot").Available, c.name)
		require.Equal(t, c.t3, offering(t, t3, "us-east-1a", "spot").Available, c.name)
		for key, want := range map[string]string{awsv1.LabelPlacementGroupID: c.id, awsv1.LabelPlacementGroupPartition: c.partition} {
			r, _ := m5.Requirements.Get(key)
			if want == "" {
				require.Equal(t, "!"+key, r.String(), c.name)
			} else {
				require.Equal(t, key+" "+want, r.String(), c.name)
			}
		}
	}
	in := input(t, class(amiselect.FamilyAL2023))
	in.PlacementGroup = group(ec2types.PlacementStrategyCluster, available, 0)
	got := build(t, in, nil)
	require.True(t, offering(t, find(t, got, "t3.micro"), "us-east-1a", "spot").Available, "the class names no group")
}

func TestExclusions(t *testing.T) {
	interfaces := func(list ...awsv1.NetworkInterface) edit {
		return func(c *awsv1.EC2NodeClass) { c.Spec.NetworkInterfaces = list }
	}
	const ip, efa = awsv1.InterfaceTypeInterface, awsv1.InterfaceTypeEFAOnly
	primary := awsv1.NetworkInterface{InterfaceType: ip}
	nested := func(value string) edit {
		return func(c *awsv1.EC2NodeClass) { c.Spec.CPUOptions = &awsv1.CPUOptions{NestedVirtualization: &value} }
	}
	tracking := func(c *awsv1.EC2NodeClass) { c.Spec.ConnectionTracking = &awsv1.ConnectionTracking{} }
	enclaves := func(enabled *bool) edit {
		return func(c *awsv1.EC2NodeClass) { c.Spec.EnclaveOptions = &awsv1.EnclaveOptions{Enabled: enabled} }
	}
	for _, c := range []struct {
		name  string
		class *awsv1.EC2NodeClass
		it    string
		want  []string
	}{
		{"nothing asked", class(amiselect.FamilyAL2023), "t2.micro", nil},
		{"AL2023 and a1", class(amiselect.FamilyAL2023), "a1.medium", []string{
			"a1.medium: spec.amiFamily: AL2023 does not run on the first generation of Graviton; use another family of images or newer instance types"}},
		{"Bottlerocket and a1", class(amiselect.FamilyBottlerocket), "a1.medium", nil},
		{"nested", class(amiselect.FamilyAL2023, nested("enabled")), "m5.large", []string{
			"m5.large: spec.cpuOptions.nestedVirtualization: the type does not support nested virtualization; leave the field out or use types that do, such as c8i"}},
		{"nested, can", class(amiselect.FamilyAL2023, nested("enabled")), "c8i.large", nil},
		{"nested, off", class(amiselect.FamilyAL2023, nested("disabled")), "m5.large", nil},
		{"enclaves", class(amiselect.FamilyAL2023, enclaves(new(true))), "m5.large", []string{
			"m5.large: spec.enclaveOptions.enabled: the type does not support Nitro Enclaves; use false or types that do, such as m5.xlarge"}},
		{"enclaves, can", class(amiselect.FamilyAL2023, enclaves(new(true))), "c5.xlarge", nil},
		{"enclaves, off", class(amiselect.FamilyAL2023, enclaves(new(false))), "m5.large", nil},
		{"enclaves, unsaid", class(amiselect.FamilyAL2023, enclaves(nil)), "m5.large", nil},
		{"tracking", class(amiselect.FamilyAL2023, tracking), "m5.large", nil},
		{"tracking on Xen", class(amiselect.FamilyAL2023, tracking), "t2.micro", []string{
			"t2.micro: spec.connectionTracking: the type does not run on the Nitro hypervisor; leave the field out or use types that do"}},
		{"tracking on bare metal", class(amiselect.FamilyAL2023, tracking), "m5.metal", []string{
			"m5.metal: spec.connectionTracking: the type does not run on the Nitro hypervisor; leave the field out or use types that do"}},
		{"one interface", class(amiselect.FamilyAL2023, interfaces(primary)), "m5.large", nil},
		{"no adapter", class(amiselect.FamilyAL2023, interfaces(primary)), "t2.micro", []string{
			"t2.micro: spec.networkInterfaces: the type has no elastic network adapter"}},
		{"no such card, no EFA", class(amiselect.FamilyAL2023, interfaces(primary, awsv1.NetworkInterface{NetworkCardIndex: 1, InterfaceType: efa})), "m5.large", []string{
			"m5.large: spec.networkInterfaces: [1]: the type has no network card 1; it has 1",
			"m5.large: spec.networkInterfaces: 1 interfaces of type efa-only, and the type supports 0"}},
		{"no such device", class(amiselect.FamilyAL2023, interfaces(primary, awsv1.NetworkInterface{DeviceIndex: 3, InterfaceType: ip})), "m5.large", []string{
			"m5.large: spec.networkInterfaces: [1]: network card 0 of the type has no device 3; it supports 3 interfaces"}},
		{"below zero", class(amiselect.FamilyAL2023, interfaces(primary, awsv1.NetworkInterface{NetworkCardIndex: -1, InterfaceType: ip}, awsv1.NetworkInterface{DeviceIndex: -1, InterfaceType: ip})), "m5.large", []string{
			"m5.large: spec.networkInterfaces: [1]: the type has no network card -1; it has 1",
			"m5.large: spec.networkInterfaces: [2]: network card 0 of the type has no device -1; it supports 3 interfaces"}},
		{"cards and EFA", class(amiselect.FamilyAL2023, interfaces(primary, awsv1.NetworkInterface{NetworkCardIndex: 3, DeviceIndex: 1, InterfaceType: efa})), "p4d.24xlarge", nil},
	} {
		got := build(t, input(t, c.class), nil)
		require.Equal(t, c.want, exclusions(got, c.it), c.name)
		it := find(t, got, c.it)
		require.Equal(t, c.want == nil, offering(t, it, "us-east-1a", "spot").Available, c.name)
		require.Positive(t, offering(t, it, "us-east-1a", "spot").Price, "nodes of it may run")
	}
}

func TestRegionLabel(t *testing.T) {
	r, _ := find(t, build(t, input(t, class(amiselect.FamilyAL2)), nil), "m5.large").Requirements.Get(corev1.LabelTopologyRegion)
	require.Equal(t, "topology.kubernetes.io/region = us-east-1", r.String())
}
