package fake_test

import (
	"context"
	"fmt"
	"time"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/cloudprovider/launch"
	"github.com/dovetail-sdk/dovetail/fake"
	"github.com/dovetail-sdk/dovetail/fake/catalog"
	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
)

func Example() {
	ctx := context.Background()
	cloud, err := fake.New(nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	types, err := cloud.InstanceTypes(ctx, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	wanted := requirements.MustParse("karpenter.k8s.aws/instance-family = m5, karpenter.k8s.aws/instance-cpu = 4, " +
		"karpenter.sh/capacity-type = on-demand")
	instance, err := cloud.Create(ctx, cloudprovider.LaunchRequest{
		Token:        "6f1e",
		Name:         "general-x7k2p",
		NodePool:     "general",
		NodeClassRef: v1.NodeClassReference{Group: "karpenter.k8s.aws", Kind: "EC2NodeClass", Name: "default"},
		Requirements: wanted,
		Options:      launch.Compatible(types, wanted),
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(instance.ID)
	fmt.Println(instance.OfferingKey(), "at", instance.Price, "USD per hour")
	fmt.Println(instance.Allocatable)
	// Output:
	// fake:///us-east-1a/i-0c974a822b7ae955d
	// m5.xlarge/us-east-1a/on-demand at 0.192 USD per hour
	// cpu=3920m, ephemeral-storage=17Gi, memory=14162Mi, pods=58, vpc.amazonaws.com/pod-eni=18
}

// The example of package fake/catalog shows what a type has.
func ExampleCatalog() {
	fmt.Println(len(fake.Catalog()), "types")
	// Output: 989 types
}

func ExampleVocabulary() {
	v := fake.Vocabulary()
	fmt.Println(v.WellKnown("karpenter.k8s.aws/instance-family"))
	fmt.Println(requirements.DefaultVocabulary().WellKnown("karpenter.k8s.aws/instance-family"))
	// Output:
	// true
	// false
}

func ExampleNew() {
	types, err := catalog.New(&catalog.Options{Families: []string{"m5", "m6g"}})
	if err != nil {
		fmt.Println(err)
		return
	}
	cloud, err := fake.New(&fake.Options{
		InstanceTypes: types,
		Now:           func() time.Time { return time.Date(2026, time.March, 29, 1, 0, 0, 0, time.UTC) },
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	sold, err := cloud.InstanceTypes(context.Background(), nil)
	fmt.Println(cloud.Name(), "sells", len(sold), "types", err)
	// Output:
	// fake sells 18 types <nil>
}

func ExampleCloud_List() {
	ctx := context.Background()
	types, err := catalog.New(&catalog.Options{Types: []string{"m5.large"}})
	if err != nil {
		fmt.Println(err)
		return
	}
	cloud, err := fake.New(&fake.Options{InstanceTypes: types})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, token := range []string{"one", "two", "one"} {
		_, err := cloud.Create(ctx, cloudprovider.LaunchRequest{
			Token:        token,
			Name:         "claim-" + token,
			NodeClassRef: v1.NodeClassReference{Name: "default"},
			Options:      launch.Compatible(types, requirements.MustParse("karpenter.sh/capacity-type = on-demand")),
		})
		if err != nil {
			fmt.Println(err)
		}
	}
	instances, err := cloud.List(ctx)
	for _, i := range instances {
		fmt.Println(i.Name, i.CreatedAt.Format(time.RFC3339))
	}
	fmt.Println(err, cloud.Delete(ctx, instances[0].ID), cloud.Delete(ctx, instances[1].ID))
	_, err = cloud.Get(ctx, instances[0].ID)
	fmt.Println(cloudprovider.KindOf(err))
	// Output:
	// claim-two 2026-01-01T00:00:00Z
	// claim-one 2026-01-01T00:00:00Z
	// <nil> <nil> <nil>
	// not found
}
