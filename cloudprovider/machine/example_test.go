package machine_test

import (
	"fmt"

	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/cloudprovider/kubelet"
	"github.com/dovetail-sdk/dovetail/cloudprovider/machine"
	"github.com/dovetail-sdk/dovetail/provisioning/resources"
)

func Example() {
	capacity := resources.MustParse("cpu=2, memory=7577Mi, ephemeral-storage=20Gi, pods=29")
	large, err := machine.Machine{
		Name: "m5.large", Arch: "amd64", Region: "eu",
		Labels:   map[string]string{"example.com/family": "m5"},
		Capacity: capacity,
		Overhead: kubelet.EKS().Overhead(capacity, nil),
		Offerings: []cloudprovider.Offering{
			{Zone: "eu-a", CapacityType: "on-demand", Price: 0.1, Available: true},
			{Zone: "eu-b", CapacityType: "spot", Price: 0.03, Available: true},
		},
	}.InstanceType("example.com/family", "example.com/gpu")
	if err != nil {
		fmt.Println(err)
		return
	}
	for r := range large.Requirements.All() {
		fmt.Println(r)
	}
	// Output:
	// example.com/family = m5
	// !example.com/gpu
	// karpenter.sh/capacity-type in (on-demand, spot)
	// kubernetes.io/arch = amd64
	// kubernetes.io/os = linux
	// node.kubernetes.io/instance-type = m5.large
	// !node.kubernetes.io/windows-build
	// topology.kubernetes.io/region = eu
	// topology.kubernetes.io/zone in (eu-a, eu-b)
}

func ExampleMachine_InstanceType() {
	_, err := machine.Machine{Name: "m5.large", Capacity: resources.MustParse("pods=10")}.InstanceType()
	fmt.Println(err)
	// Output:
	// machine m5.large: arch: empty; use amd64 or arm64
}

func ExampleOpenLabels() {
	fmt.Println(machine.OpenLabels(&cloudprovider.InstanceType{
		Name:      "m5.large",
		Offerings: []cloudprovider.Offering{{Zone: "eu-a", CapacityType: "spot"}},
	}))
	// Output:
	// [kubernetes.io/arch kubernetes.io/os node.kubernetes.io/instance-type node.kubernetes.io/windows-build topology.kubernetes.io/region]
}
