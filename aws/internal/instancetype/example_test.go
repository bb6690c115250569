package instancetype_test

import (
	"fmt"
	"time"

	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"github.com/dovetail-sdk/dovetail/amiselect"
	karpv1 "github.com/dovetail-sdk/dovetail/api/v1"
	awsv1 "github.com/dovetail-sdk/dovetail/aws/api/v1"
	"github.com/dovetail-sdk/dovetail/aws/internal/instancetype"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/cloudprovider/pricing"
)

// m5large is what DescribeInstanceTypes says of m5.large, as far as it matters.
func m5large() ec2types.InstanceTypeInfo {
	return ec2types.InstanceTypeInfo{
		InstanceType:          "m5.large",
		Hypervisor:            ec2types.InstanceTypeHypervisorNitro,
		SupportedUsageClasses: []ec2types.UsageClassType{ec2types.UsageClassTypeOnDemand, ec2types.UsageClassTypeSpot},
		ProcessorInfo:         &ec2types.ProcessorInfo{SupportedArchitectures: []ec2types.ArchitectureType{"x86_64"}},
		VCpuInfo:              &ec2types.VCpuInfo{DefaultVCpus: new(int32(2))},
		MemoryInfo:            &ec2types.MemoryInfo{SizeInMiB: new(int64(8192))},
		NetworkInfo:           &ec2types.NetworkInfo{MaximumNetworkInterfaces: new(int32(3)), Ipv4AddressesPerInterface: new(int32(10))},
	}
}

// One instance type, from the answers of EC2 to what a scheduler plans with.
func ExampleInventory_Build() {
	inventory, problems := instancetype.NewInventory(
		[]ec2types.InstanceTypeInfo{m5large()},
		[]ec2types.InstanceTypeOffering{
			{InstanceType: "m5.large", Location: new("us-east-1a"), LocationType: ec2types.LocationTypeAvailabilityZone},
			{InstanceType: "m5.large", Location: new("us-east-1b"), LocationType: ec2types.LocationTypeAvailabilityZone},
		})
	if len(problems) > 0 {
		fmt.Println(problems)
		return
	}
	class := &awsv1.EC2NodeClass{}
	class.Spec.AMIFamily = new(amiselect.FamilyAL2023)
	class.Status.Subnets = []awsv1.Subnet{{ID: "subnet-1", Zone: "us-east-1a", ZoneID: "use1-az6"}}
	book, err := pricing.New(&pricing.Options{Layers: []pricing.Layer{{Name: "list", Entries: []pricing.Entry{
		{Scope: cloudprovider.Scope{InstanceType: "m5.large", CapacityType: karpv1.CapacityTypeOnDemand}, Price: 0.096},
	}}}})
	if err != nil {
		fmt.Println(err)
		return
	}

	made, err := inventory.Build(instancetype.Input{
		Now: time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC), Region: "us-east-1", Class: class, Prices: book,
	}, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, t := range made.Types {
		allocatable, err := t.Allocatable()
		fmt.Println(t.Name, allocatable, err)
		for _, o := range t.Offerings {
			fmt.Println(o.Key(t.Name), o.Price, o.Available)
		}
	}
	fmt.Println("no price:", made.Unpriced)
	// Output:
	// m5.large cpu=1930m, ephemeral-storage=17Gi, memory=6903Mi, pods=29, vpc.amazonaws.com/pod-eni=9 <nil>
	// m5.large/us-east-1a/on-demand 0.096 true
	// m5.large/us-east-1a/spot 0 false
	// m5.large/us-east-1b/on-demand 0.096 false
	// m5.large/us-east-1b/spot 0 false
	// no price: [m5.large/us-east-1a/spot m5.large/us-east-1b/spot]
}

// What cannot be a node is left out, and said.
func ExampleNewInventory() {
	mac := m5large()
	mac.InstanceType = "mac2.metal"
	mac.ProcessorInfo = &ec2types.ProcessorInfo{SupportedArchitectures: []ec2types.ArchitectureType{"arm64_mac"}}
	inventory, problems := instancetype.NewInventory([]ec2types.InstanceTypeInfo{mac, m5large()}, nil)
	fmt.Println(inventory.Len(), problems)
	// Output: 1 [mac2.metal: none of its architectures is x86_64 or arm64; left out]
}

// A block of which little time is left is not launched into any more.
func ExampleReadReservations() {
	now := time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)
	status, problems := instancetype.ReadReservations(now, amiselect.FamilyAL2023, []ec2types.CapacityReservation{{
		CapacityReservationId: new("cr-1"), InstanceType: new("p5.48xlarge"), AvailabilityZone: new("us-east-1a"),
		ReservationType: ec2types.CapacityReservationTypeCapacityBlock, InstanceMatchCriteria: ec2types.InstanceMatchCriteriaTargeted,
		State: ec2types.CapacityReservationStateActive, EndDate: new(now.Add(time.Hour)),
	}})
	fmt.Println(status[0].ID, status[0].State, problems)
	next, _ := instancetype.NextReservationChange(now, status)
	fmt.Println(next.Sub(now))
	// Output:
	// cr-1 active []
	// 20m0s
}

// EC2 says three, one is launched, and the next answer has it counted.
func ExampleStock() {
	now := time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)
	said := func(left int32) []ec2types.CapacityReservation {
		return []ec2types.CapacityReservation{{CapacityReservationId: new("cr-1"), AvailableInstanceCount: &left}}
	}
	var stock instancetype.Stock
	stock = stock.Observe(now, said(3))
	stock = stock.Launched(now.Add(10*time.Second), "cr-1")
	fmt.Println(stock.Left("cr-1"))
	stock = stock.Observe(now.Add(time.Minute), said(2))
	fmt.Println(stock.Left("cr-1"))
	// Output:
	// 2
	// 2
}
