package classtypes_test

import (
	"encoding/json"
	"fmt"
	"time"

	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"

	karpv1 "github.com/dovetail-sdk/dovetail/api/v1"
	awsv1 "github.com/dovetail-sdk/dovetail/aws/api/v1"
	"github.com/dovetail-sdk/dovetail/aws/classtypes"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/cloudprovider/pricing"
)

// answers are what these print, of two instance types:
//
//	aws ec2 describe-instance-types
//	aws ec2 describe-instance-type-offerings --location-type availability-zone
const answers = `{
  "InstanceTypes": [
    {"InstanceType": "m6gd.large", "Hypervisor": "nitro", "SupportedUsageClasses": ["on-demand"],
     "ProcessorInfo": {"SupportedArchitectures": ["arm64"]}, "VCpuInfo": {"DefaultVCpus": 2}, "MemoryInfo": {"SizeInMiB": 8192},
     "InstanceStorageInfo": {"TotalSizeInGB": 118, "NvmeSupport": "required"},
     "NetworkInfo": {"MaximumNetworkInterfaces": 3, "Ipv4AddressesPerInterface": 10}},
    {"InstanceType": "m6i.large", "Hypervisor": "nitro", "SupportedUsageClasses": ["on-demand"],
     "ProcessorInfo": {"SupportedArchitectures": ["x86_64"]}, "VCpuInfo": {"DefaultVCpus": 2}, "MemoryInfo": {"SizeInMiB": 8192},
     "NetworkInfo": {"MaximumNetworkInterfaces": 3, "Ipv4AddressesPerInterface": 10}}],
  "InstanceTypeOfferings": [
    {"InstanceType": "m6gd.large", "LocationType": "availability-zone", "Location": "us-east-1a"},
    {"InstanceType": "m6i.large", "LocationType": "availability-zone", "Location": "us-east-1a"},
    {"InstanceType": "m6i.large", "LocationType": "availability-zone", "Location": "us-east-1b"}]
}`

const nodeClass = `
apiVersion: karpenter.k8s.aws/v1
kind: EC2NodeClass
metadata: {name: default}
spec:
  amiSelectorTerms: [{alias: al2023@latest}]
  role: KarpenterNodeRole-demo
  instanceStorePolicy: RAID0
  blockDeviceMappings: [{deviceName: /dev/xvda, ebs: {volumeSize: 80Gi}}]
  kubelet: {maxPods: 20}
  subnetSelectorTerms: [{tags: {karpenter.sh/discovery: demo}}]
  securityGroupSelectorTerms: [{tags: {karpenter.sh/discovery: demo}}]
status:
  subnets: [{id: subnet-1, zone: us-east-1a, zoneID: use1-az6}]
`

// The instance types of a class, as a provider would return them, without AWS.
func ExampleFacts_Build() {
	var said struct {
		InstanceTypes         []ec2types.InstanceTypeInfo
		InstanceTypeOfferings []ec2types.InstanceTypeOffering
	}
	if err := json.Unmarshal([]byte(answers), &said); err != nil {
		fmt.Println(err)
		return
	}
	facts, problems, err := classtypes.Read(said.InstanceTypes, said.InstanceTypeOfferings)
	if err != nil || len(problems) > 0 {
		fmt.Println(problems, err)
		return
	}
	classes, err := awsv1.DecodeEC2NodeClasses([]byte(nodeClass))
	if err != nil {
		fmt.Println(err)
		return
	}
	onDemand := func(name string, price float64) pricing.Entry {
		return pricing.Entry{Scope: cloudprovider.Scope{InstanceType: name, CapacityType: karpv1.CapacityTypeOnDemand}, Price: price}
	}
	prices, err := pricing.New(&pricing.Options{Layers: []pricing.Layer{{Name: "list",
		Entries: []pricing.Entry{onDemand("m6gd.large", 0.0904), onDemand("m6i.large", 0.096)}}}})
	if err != nil {
		fmt.Println(err)
		return
	}
	made, err := facts.Build(time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC), classtypes.Input{
		Region: "us-east-1", Class: classes[0], Prices: prices,
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, t := range made.Types {
		fmt.Println(t.Name, t.Capacity)
		for _, o := range t.Offerings {
			fmt.Printf("  %s %.4f, for the volume %.4f, %t\n", o.Key(t.Name), o.Price, o.NodeCost, o.Available)
		}
	}
	// Output:
	// m6gd.large cpu=2, ephemeral-storage=115234375Ki, memory=7518Mi, pods=20, vpc.amazonaws.com/pod-eni=9
	//   m6gd.large/us-east-1a/on-demand 0.0992, for the volume 0.0088, true
	// m6i.large cpu=2, ephemeral-storage=80Gi, memory=7577Mi, pods=20, vpc.amazonaws.com/pod-eni=9
	//   m6i.large/us-east-1a/on-demand 0.1048, for the volume 0.0088, true
	//   m6i.large/us-east-1b/on-demand 0.1048, for the volume 0.0088, false
}

// A type that cannot be a node is left out, and said.
func ExampleRead() {
	_, problems, err := classtypes.Read([]ec2types.InstanceTypeInfo{{InstanceType: "mac2.metal",
		ProcessorInfo: &ec2types.ProcessorInfo{SupportedArchitectures: []ec2types.ArchitectureType{"arm64_mac"}}}}, nil)
	fmt.Println(problems, err)
	// Output: [mac2.metal: none of its architectures is x86_64 or arm64; left out] <nil>
}
