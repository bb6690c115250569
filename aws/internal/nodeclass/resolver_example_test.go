package nodeclass_test

import (
	"context"
	"fmt"

	awsv1 "github.com/dovetail-sdk/dovetail/aws/api/v1"
	"github.com/dovetail-sdk/dovetail/aws/internal/nodeclass"
)

// What is wrong with a class is said all at once.
func ExampleResolver_Resolve() {
	now := newClock().Now
	src, err := nodeclass.NewSources(account().Clients(), nodeclass.Options{Region: "us-east-1", ClusterName: "shop", Now: now})
	if err != nil {
		fmt.Println(err)
		return
	}
	resolver, err := nodeclass.NewResolver(src, nodeclass.ResolverOptions{Now: now})
	if err != nil {
		fmt.Println(err)
		return
	}
	got, err := resolver.Resolve(context.Background(), class(func(c *awsv1.EC2NodeClass) {
		c.Spec.SubnetSelectorTerms[0].Tags["team"] = "data"
		c.Spec.AMISelectorTerms[0].Alias = "al2@latest"
	}))
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, c := range got.Class.Status.Conditions {
		fmt.Println(c.Type, c.Status, c.Reason)
	}
	// Output:
	// AMIsReady False UnsupportedAlias
	// InstanceProfileReady True InstanceProfileReady
	// PlacementGroupReady True PlacementGroupReady
	// Ready False UnhealthyDependents
	// SecurityGroupsReady Unknown DependenciesNotReady
	// SubnetsReady False SubnetsNotFound
	// ValidationSucceeded False DependenciesNotReady
}
