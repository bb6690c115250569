package puddle

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"

	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/examples/internal/puddlecloud"
)

// A shape of the cloud as an instance type.
func Example_instanceType() {
	gpu, err := instanceType(puddlecloud.Shape{
		Name: "gpu-8", Arch: "amd64", CPUs: 8, MemoryMiB: 64 << 10, GPUs: 1, GPU: "pond-100",
		Prices: []puddlecloud.Price{{Zone: "south", Market: "spot", USDPerHour: 0.31}, {Zone: "north", Market: "spot", USDPerHour: 0.3}},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	for r := range gpu.Requirements.All() {
		fmt.Println(r)
	}
	allocatable, _ := gpu.Allocatable()
	fmt.Println(gpu.Capacity)
	fmt.Println(allocatable)
	// Output:
	// karpenter.sh/capacity-type = spot
	// kubernetes.io/arch = amd64
	// kubernetes.io/os = linux
	// node.kubernetes.io/instance-type = gpu-8
	// !node.kubernetes.io/windows-build
	// puddle.example/family = gpu
	// puddle.example/gpu = pond-100
	// topology.kubernetes.io/region = sea
	// topology.kubernetes.io/zone in (north, south)
	// cpu=8, ephemeral-storage=50Gi, memory=62259Mi, nvidia.com/gpu=1, pods=110
	// cpu=7910m, ephemeral-storage=22016Mi, memory=59500501402, nvidia.com/gpu=1, pods=110
}

// An answer of the cloud as an error of the contract.
func Example_refusal() {
	api := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		puddlecloud.Refuse(w, &puddlecloud.Error{Code: puddlecloud.CodeSoldOut, Message: "none of the choices is in stock", Choices: []puddlecloud.Choice{
			{Shape: "std-4", Zone: "north", Market: "spot"}, {Shape: "std-8", Zone: "north", Market: "spot"},
		}})
	}))
	defer api.Close()
	c := client{url: api.URL, http: api.Client()}

	err := c.call(context.Background(), "Create", "web-x7", "POST", "/v1/servers", puddlecloud.Order{}, nil)
	fmt.Println(err)
	fmt.Println(errors.Is(err, cloudprovider.ErrInsufficientCapacity))
	// Output:
	// Create web-x7: insufficient capacity: SoldOut: std-4/north/spot, std-8/north/spot: none of the choices is in stock
	// true
}
