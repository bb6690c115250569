package launch_test

import (
	"fmt"

	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/cloudprovider/launch"
	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
)

func Example() {
	req := request("family minvalues 2",
		"m5.large/zone-a/spot 0.03", "m5.large/zone-a/on-demand 0.1", "m5.xlarge/zone-a/spot 0.06",
		"c5.large/zone-a/spot 0.07", "c5.large/zone-b/spot 0.2", "m5.metal/zone-a/spot 0.01 metal")
	selection := launch.Select(req, &launch.Options{
		Limit:      2,
		DropExotic: true,
		Exotic:     append(launch.DefaultExotic(), launch.Exotic{Name: "bare metal", Labels: requirements.MustParse("size = metal")}),
	})
	for _, option := range selection.Options {
		fmt.Println(option.Key(), option.Offering.Price)
	}
	fmt.Println(selection)
	// Output:
	// m5.large/zone-a/spot 0.03
	// c5.large/zone-a/spot 0.07
	// m5.large/zone-a/on-demand 0.1
	// 3 options of 2 instance types
	// 1 dropped for DearSpot, as c5.large/zone-b/spot: 0.2 USD/h, more than 0.1 on demand for m5.large/zone-a/on-demand
	// 1 dropped for OutOfTheOrdinary, as m5.metal/zone-a/spot: bare metal was not asked for
	// 1 dropped for BeyondLimit, as m5.xlarge/zone-a/spot: beyond the 2 instance types of one call, of 3
}

func ExampleSelect_oneCapacityType() {
	req := request("", "m5.large/zone-a/spot 0.03", "m5.large/zone-a/on-demand 0.1", "m5.large/zone-a/reserved/cr-1 0.0000001 full")
	fmt.Println(launch.Select(req, &launch.Options{OneCapacityType: true}))
	// Output:
	// 1 options of 1 instance types
	// 1 dropped for Unlaunchable, as m5.large/zone-a/reserved/cr-1: the reservation is full
	// 1 dropped for OtherCapacityType, as m5.large/zone-a/on-demand: the call asks for spot
}

func ExampleCompatible() {
	large := &cloudprovider.InstanceType{
		Name:         "m5.large",
		Requirements: requirements.MustParse("kubernetes.io/arch = amd64"),
		Offerings: []cloudprovider.Offering{
			{Zone: "zone-a", CapacityType: "on-demand", Price: 0.096, Available: true},
			{Zone: "zone-a", CapacityType: "spot", Price: 0.035, Available: true},
			{Zone: "zone-b", CapacityType: "spot", Price: 0.031},
		},
	}
	reqs := requirements.MustParse("kubernetes.io/arch = amd64")
	for _, option := range launch.Compatible([]*cloudprovider.InstanceType{large}, reqs) {
		fmt.Println(option.Key(), option.Offering.Price)
	}
	// Output:
	// m5.large/zone-a/spot 0.035
	// m5.large/zone-a/on-demand 0.096
}
