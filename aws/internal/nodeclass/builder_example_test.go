package nodeclass_test

import (
	"context"
	"fmt"
	"time"

	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"github.com/dovetail-sdk/dovetail/amiselect"
	awsv1 "github.com/dovetail-sdk/dovetail/aws/api/v1"
	"github.com/dovetail-sdk/dovetail/aws/internal/instancetype"
	"github.com/dovetail-sdk/dovetail/aws/internal/nodeclass"
)

// A region with one instance type in two zones, and a class with a subnet in one of
// them.
func ExampleBuilder_Build() {
	type capacity = ec2types.InstanceTypeOffering
	region := &Cloud{
		Types: []ec2types.InstanceTypeInfo{{InstanceType: "m5.large", VCpuInfo: &ec2types.VCpuInfo{DefaultVCpus: new(int32(2))},
			MemoryInfo: &ec2types.MemoryInfo{SizeInMiB: new(int64(8192))}, SupportedUsageClasses: []ec2types.UsageClassType{"on-demand", "spot"},
			ProcessorInfo: &ec2types.ProcessorInfo{SupportedArchitectures: []ec2types.ArchitectureType{"x86_64"}},
			NetworkInfo: &ec2types.NetworkInfo{Ipv4AddressesPerInterface: new(int32(10)),
				NetworkCards: []ec2types.NetworkCardInfo{{MaximumNetworkInterfaces: new(int32(3))}}}}},
		Offerings: []capacity{{InstanceType: "m5.large", Location: new("us-east-1a"), LocationType: "availability-zone"},
			{InstanceType: "m5.large", Location: new("us-east-1b"), LocationType: "availability-zone"}},
		Spot: []ec2types.SpotPrice{{InstanceType: "m5.large", AvailabilityZone: new("us-east-1a"), SpotPrice: new("0.035"),
			Timestamp: &Noon, ProductDescription: "Linux/UNIX"}},
	}
	now := func() time.Time { return Noon }
	src, err := nodeclass.NewSources(region.Clients(), nodeclass.Options{Region: "us-east-1", Now: now})
	if err != nil {
		fmt.Println(err)
		return
	}
	builder := instancetype.NewBuilder(src, instancetype.BuilderOptions{Region: "us-east-1", Now: now})
	class := &awsv1.EC2NodeClass{}
	class.Spec.AMIFamily = new(amiselect.FamilyAL2023)
	class.Status.Subnets = []awsv1.Subnet{{ID: "subnet-1", Zone: "us-east-1a"}}
	ctx := context.Background()
	_, _ = src.Prices(ctx) // begins to read them
	_ = src.Refresh(ctx)   // this price list has nothing, so it is what is compiled in
	catalog, err := builder.Build(ctx, class)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, it := range catalog.Types {
		allocatable, _ := it.Allocatable()
		fmt.Println(it.Name, allocatable)
		for _, o := range it.Offerings {
			fmt.Println(o.Zone, o.CapacityType, o.Price, o.Available)
		}
	}
	// Output:
	// m5.large cpu=1930m, ephemeral-storage=17Gi, memory=6903Mi, pods=29, vpc.amazonaws.com/pod-eni=9
	// us-east-1a on-demand 0.096 true
	// us-east-1a spot 0.035 true
	// us-east-1b on-demand 0.096 false
	// us-east-1b spot 0 false
}
