package nodeclass_test

import (
	"encoding/json"
	"os"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/arczonalshift"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/aws/aws-sdk-go-v2/service/eks"
	"github.com/aws/aws-sdk-go-v2/service/pricing"
	"github.com/aws/aws-sdk-go-v2/service/ssm"
	"github.com/stretchr/testify/require"

	karpv1 "github.com/dovetail-sdk/dovetail/api/v1"
	awsv1 "github.com/dovetail-sdk/dovetail/aws/api/v1"
	"github.com/dovetail-sdk/dovetail/aws/awstest"
	"github.com/dovetail-sdk/dovetail/aws/internal/api"
	"github.com/dovetail-sdk/dovetail/aws/internal/instancetype"
	"github.com/dovetail-sdk/dovetail/aws/internal/nodeclass"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/provisioning/resources"
)

// wire returns the whole path with the clients of the SDK, over a loopback connection.
func wire(t *testing.T, opts *awstest.Options) (*awstest.Server, *nodeclass.Sources, *nodeclass.Resolver, *instancetype.Builder) {
	t.Helper()
	server, err := awstest.Start(opts)
	require.NoError(t, err)
	t.Cleanup(server.Close)
	cfg := server.Config()
	src, err := nodeclass.NewSources(api.Clients{EC2: ec2.NewFromConfig(cfg), SSM: ssm.NewFromConfig(cfg), Pricing: pricing.NewFromConfig(cfg),
		EKS: eks.NewFromConfig(cfg), ZonalShift: arczonalshift.NewFromConfig(cfg)},
		nodeclass.Options{Region: "us-east-1", ClusterName: "demo", Now: server.Now})
	require.NoError(t, err)
	resolver, err := nodeclass.NewResolver(src, nodeclass.ResolverOptions{Now: server.Now, ReservedCapacity: true})
	require.NoError(t, err)
	builder := instancetype.NewBuilder(src, instancetype.BuilderOptions{Region: "us-east-1", Now: server.Now})
	return server, src, resolver, builder
}

func onWire() *awsv1.EC2NodeClass {
	return resolvedClass(func(c *awsv1.EC2NodeClass) {
		mine := map[string]string{"karpenter.sh/discovery": "demo"}
		c.Spec.SubnetSelectorTerms = []awsv1.SubnetSelectorTerm{{Tags: mine}}
		c.Spec.SecurityGroupSelectorTerms = []awsv1.SecurityGroupSelectorTerm{{Tags: mine}}
	})
}

// From the XML of EC2 to what nodes have for pods, as published, with the images of Amazon Linux 2023 and
// nothing configured.
func TestGoldenOverTheWire(t *testing.T) {
	data, err := os.ReadFile("../instancetype/testdata/allocatable.json")
	require.NoError(t, err)
	var golden map[string]string
	require.NoError(t, json.Unmarshal(data, &golden))
	types := stocked(t).Types
	for i := range types { // the test data has only what counts
		types[i].SupportedVirtualizationTypes = []ec2types.VirtualizationType{ec2types.VirtualizationTypeHvm}
	}
	_, _, resolver, builder := wire(t, &awstest.Options{Types: types, PageSize: 7})
	r, err := resolver.Resolve(t.Context(), onWire())
	require.NoError(t, err)
	require.NoError(t, r.Err())
	require.Len(t, r.Class.Status.Subnets, 3)
	c, err := builder.Build(t.Context(), r.Class)
	require.NoError(t, err)
	for name, want := range golden {
		got, err := findType(t, c, name).Allocatable()
		require.NoError(t, err)
		require.Equal(t, resources.MustParse(want).String(), got.String(), name)
	}
}

func TestPricesAndShiftsOverTheWire(t *testing.T) {
	server, src, resolver, builder := wire(t, nil)
	server.SetPrice(cloudprovider.Scope{InstanceType: "m5.large", Zone: "us-east-1b", CapacityType: karpv1.CapacityTypeSpot}, 0.0333)
	server.Shift("use1-az1", server.Now().Add(time.Hour))
	r, err := resolver.Resolve(t.Context(), onWire())
	require.NoError(t, err)
	require.NoError(t, r.Err())
	_, err = builder.Build(t.Context(), r.Class)
	require.NoError(t, err)
	require.NoError(t, src.Refresh(t.Context()))
	c, err := builder.Build(t.Context(), r.Class)
	require.NoError(t, err)
	m5 := findType(t, c, "m5.large")
	require.Equal(t, 0.096, findOffering(t, m5, "us-east-1a", karpv1.CapacityTypeOnDemand).Price)
	require.Equal(t, 0.0333, findOffering(t, m5, "us-east-1b", karpv1.CapacityTypeSpot).Price)
	require.True(t, findOffering(t, m5, "us-east-1b", karpv1.CapacityTypeSpot).Available)
	require.False(t, findOffering(t, m5, "us-east-1a", karpv1.CapacityTypeSpot).Available, "traffic is shifted away")
	require.NotEmpty(t, c.Images["m5.large"])
}

// AWS fails in every way that it has, and what it said before holds: nothing is lost
// and nothing is asked all the time.
func TestLastGoodAnswersOverTheWire(t *testing.T) {
	server, src, resolver, builder := wire(t, nil)
	r, err := resolver.Resolve(t.Context(), onWire())
	require.NoError(t, err)
	require.NoError(t, r.Err())
	first, err := builder.Build(t.Context(), r.Class)
	require.NoError(t, err)
	require.NoError(t, src.Refresh(t.Context()))

	require.NoError(t, server.Script(
		awstest.Fault{Op: "GetParameter", Err: awstest.ErrBroken},
		awstest.Fault{Op: "DescribeImages", Err: awstest.ErrCut},
		awstest.Fault{Op: "DescribeSubnets", Err: awstest.ErrThrottled},
		awstest.Fault{Op: "DescribeSecurityGroups", Err: awstest.ErrExpired},
		awstest.Fault{Op: "DescribeSpotPriceHistory", Err: awstest.ErrDenied},
		awstest.Fault{Op: "GetProducts", Err: awstest.ErrBroken},
		awstest.Fault{Op: "DescribeCluster", Err: awstest.ErrThrottled},
		awstest.Fault{Op: "DescribeInstanceTypes", Err: awstest.ErrThrottled},
		awstest.Fault{Op: "DescribeInstanceTypeOfferings", Err: awstest.ErrThrottled},
		awstest.Fault{Op: "GetManagedResource", Err: awstest.ErrBroken},
	))
	server.Advance(26 * time.Hour)
	server.ForgetCalls()
	require.Error(t, src.Refresh(t.Context()))
	for range 50 {
		again, err := resolver.Resolve(t.Context(), onWire())
		require.NoError(t, err)
		require.NoError(t, again.Err())
		require.Equal(t, r.Class.Status.AMIs, again.Class.Status.AMIs)
		require.Equal(t, r.Class.Status.Subnets, again.Class.Status.Subnets)
		require.Equal(t, r.Class.Status.SecurityGroups, again.Class.Status.SecurityGroups)
		require.Len(t, again.Stale, 3)
		c, err := builder.Build(t.Context(), again.Class)
		require.NoError(t, err)
		require.Len(t, c.Types, len(first.Types))
		require.NotEmpty(t, c.Stale, "spot prices of the day before")
		require.True(t, findOffering(t, findType(t, c, "m5.large"), "us-east-1a", karpv1.CapacityTypeSpot).Available)
		server.Advance(100 * time.Millisecond)
	}
	const attempts = 3 // of the SDK, each of few questions
	for _, action := range []string{"DescribeSubnets", "DescribeSecurityGroups", "DescribeInstanceTypes", "GetProducts", "DescribeSpotPriceHistory"} {
		require.LessOrEqual(t, server.Count(action), 4*attempts, action)
		require.Positive(t, server.Count(action), action)
	}

	_ = src.Refresh(t.Context()) // nothing is under way then
	server.ClearScript()
	server.Advance(2 * time.Hour)
	require.NoError(t, src.Refresh(t.Context()))
	again, err := resolver.Resolve(t.Context(), onWire())
	require.NoError(t, err)
	require.Empty(t, again.Stale)
}

// What a right that is missing looks like to the operator.
func TestDeniedOverTheWire(t *testing.T) {
	server, _, resolver, _ := wire(t, nil)
	require.NoError(t, server.Script(awstest.Fault{Op: "DescribeSubnets", Err: awstest.ErrDenied}))
	r, err := resolver.Resolve(t.Context(), onWire())
	require.NoError(t, err)
	require.ErrorIs(t, r.Err(), cloudprovider.ErrDenied)
	require.ErrorContains(t, r.Err(), "EC2NodeClass web")
	require.ErrorContains(t, r.Err(), "allow the controller ec2:DescribeSubnets")
	require.NotContains(t, r.Err().Error(), "RequestID")
}
