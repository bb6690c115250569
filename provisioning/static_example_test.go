package provisioning_test

import (
	"fmt"

	"github.com/dovetail-sdk/dovetail/provisioning"
)

// A pool of five nodes that has lost one, and one that was scaled down from
// three nodes to one.
func ExampleStaticPools() {
	in := provisioning.Input{}
	in.NodePools = append(in.NodePools, staticPool("ingress", 5), staticPool("cache", 1))
	for i := range 4 {
		in.Nodes = append(in.Nodes, staticNode("ingress", fmt.Sprintf("ingress-%d", i)))
	}
	in.Nodes = append(in.Nodes,
		staticNode("cache", "cache-a", staticPod("redis-0", staticDoNotDisrupt, "true")),
		staticNode("cache", "cache-b", staticPod("redis-1")),
		staticNode("cache", "cache-c"))
	pools, err := provisioning.StaticPools(in)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, s := range pools {
		fmt.Println(s.Pool.Name, "active:", s.Active, "launch:", s.Missing, "remove:", s.Remove)
	}

	// Output:
	// cache active: 3 launch: 0 remove: [cache-c cache-b]
	// ingress active: 4 launch: 1 remove: []
}

// The objects to create for what is missing.
func ExampleStaticPool_NodeClaims() {
	in := shop()
	in.NodePools[0].Spec.Replicas = new(int64(2))
	pools, err := provisioning.StaticPools(in)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, claim := range pools[0].NodeClaims() {
		fmt.Println(claim.GenerateName, claim.Labels)
	}

	// Output:
	// general- map[karpenter.k8s.aws/ec2nodeclass:default karpenter.sh/nodepool:general]
	// general- map[karpenter.k8s.aws/ec2nodeclass:default karpenter.sh/nodepool:general]
}

// Without NodeClaims, straight to a cloud.
func ExampleStaticPool_Request() {
	in := shop()
	in.NodePools[0].Spec.Replicas = new(int64(1))
	pools, err := provisioning.StaticPools(in)
	if err != nil {
		fmt.Println(err)
		return
	}
	request := pools[0].Request("general-1")
	fmt.Println(len(request.Options), "ways, the cheapest is", request.Options[0].Key())

	// Output:
	// 28 ways, the cheapest is m7g.medium/us-east-1b/spot
}
