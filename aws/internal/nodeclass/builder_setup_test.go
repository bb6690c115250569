package nodeclass_test

import (
	"os"
	"slices"
	"testing"

	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
	ekstypes "github.com/aws/aws-sdk-go-v2/service/eks/types"
	"github.com/stretchr/testify/require"
	clock "k8s.io/utils/clock/testing"

	awsv1 "github.com/dovetail-sdk/dovetail/aws/api/v1"
	"github.com/dovetail-sdk/dovetail/aws/internal/api"
	"github.com/dovetail-sdk/dovetail/aws/internal/instancetype"
	"github.com/dovetail-sdk/dovetail/aws/internal/nodeclass"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
)

// stocked returns a region with the instance types of the test data,
// a network and published images.
func stocked(t testing.TB) *Cloud {
	t.Helper()
	c := withTypes(t)
	c.PageSize, c.Parameters = 50, map[string]string{}
	c.Cluster = &ekstypes.Cluster{Arn: new("arn:aws:eks:us-east-1:123456789012:cluster/shop"), Version: new("1.34"),
		KubernetesNetworkConfig: &ekstypes.KubernetesNetworkConfigResponse{ServiceIpv4Cidr: new("10.100.0.0/16")}}
	for id, zone := range map[string]string{"subnet-a": "us-east-1a use1-az1", "subnet-b": "us-east-1b use1-az2"} {
		c.Subnets = append(c.Subnets, ec2types.Subnet{SubnetId: &id, VpcId: new("vpc-1"), AvailabilityZone: new(zone[:10]), AvailabilityZoneId: new(zone[11:])})
	}
	c.SecurityGroups = []ec2types.SecurityGroup{{GroupId: new("sg-1"), GroupName: new("nodes"), VpcId: new("vpc-1")}}
	for _, line := range []string{"x86_64/standard", "x86_64/nvidia", "x86_64/neuron", "arm64/standard", "arm64/nvidia"} {
		arch, variant := line[:len(line)-len("/standard")], "standard"
		for _, v := range []string{"nvidia", "neuron", "standard"} {
			if i := len(line) - len(v); i > 0 && line[i:] == v {
				arch, variant = line[:i-1], v
			}
		}
		id := "ami-" + arch[:3] + variant
		c.Parameters["/aws/service/eks/optimized-ami/1.34/amazon-linux-2023/"+line+"/recommended/image_id"] = id
		c.Images = append(c.Images, ec2types.Image{ImageId: &id, Name: new("amazon-eks-node-al2023-" + arch + "-" + variant + "-1.34-v20261001"),
			OwnerId: new("602401143452"), ImageOwnerAlias: new("amazon"), Architecture: ec2types.ArchitectureValues(arch),
			State: ec2types.ImageStateAvailable, CreationDate: new("2026-10-01T01:00:00.000Z")})
	}
	for _, name := range []string{"m5.large", "c5.xlarge", "p5.48xlarge", "m6g.medium"} {
		for _, zone := range []string{"us-east-1a", "us-east-1b", "us-east-1c"} {
			c.Spot = append(c.Spot, ec2types.SpotPrice{InstanceType: ec2types.InstanceType(name), AvailabilityZone: &zone, SpotPrice: new("0.04"),
				Timestamp: &Noon, ProductDescription: "Linux/UNIX"})
		}
	}
	data, err := os.ReadFile("../pricing/testdata/m5.large.json")
	require.NoError(t, err)
	c.Products = []string{string(data)}
	return c
}

// resolvedClass selects what stocked has.
func resolvedClass(edit ...func(*awsv1.EC2NodeClass)) *awsv1.EC2NodeClass {
	return class(append([]func(*awsv1.EC2NodeClass){func(c *awsv1.EC2NodeClass) {
		c.Generation = 1
		c.Spec.SubnetSelectorTerms = []awsv1.SubnetSelectorTerm{{ID: "subnet-a"}, {ID: "subnet-b"}}
		c.Spec.SecurityGroupSelectorTerms = []awsv1.SecurityGroupSelectorTerm{{Name: "nodes"}}
	}}, edit...)...)
}

type builderSetup struct {
	cloud    *Cloud
	clock    *clock.FakeClock
	sources  *nodeclass.Sources
	resolver *nodeclass.Resolver
	builder  *instancetype.Builder
}

func newBuilderSetup(t testing.TB, c *Cloud, edit ...func(*api.Clients)) *builderSetup {
	t.Helper()
	s := &builderSetup{cloud: c, clock: newClock()}
	clients := c.Clients()
	for _, e := range edit {
		e(&clients)
	}
	var err error
	s.sources, err = nodeclass.NewSources(clients, nodeclass.Options{Region: "us-east-1", ClusterName: "shop", Now: s.clock.Now})
	require.NoError(t, err)
	s.resolver, err = nodeclass.NewResolver(s.sources, nodeclass.ResolverOptions{Now: s.clock.Now, ReservedCapacity: true})
	require.NoError(t, err)
	s.builder = instancetype.NewBuilder(s.sources, instancetype.BuilderOptions{Region: "us-east-1", Now: s.clock.Now})
	return s
}

// catalog resolves a class and builds its catalog, as the provider does, from what is
// known once all that is due has been read.
func (s *builderSetup) catalog(t testing.TB, c *awsv1.EC2NodeClass) *instancetype.Catalog {
	t.Helper()
	var made *instancetype.Catalog
	for range 2 {
		r, err := s.resolver.Resolve(bg, c)
		require.NoError(t, err)
		require.NoError(t, r.Err())
		made, err = s.builder.Build(bg, r.Class)
		require.NoError(t, err)
		_ = s.sources.Refresh(bg)
	}
	return made
}

func findType(t testing.TB, c *instancetype.Catalog, name string) *cloudprovider.InstanceType {
	t.Helper()
	i := slices.IndexFunc(c.Types, func(it *cloudprovider.InstanceType) bool { return it.Name == name })
	require.GreaterOrEqual(t, i, 0, name)
	return c.Types[i]
}

func findOffering(t testing.TB, it *cloudprovider.InstanceType, zone, capacityType string) cloudprovider.Offering {
	t.Helper()
	i := slices.IndexFunc(it.Offerings, func(o cloudprovider.Offering) bool { return o.Zone == zone && o.CapacityType == capacityType })
	require.GreaterOrEqual(t, i, 0, "%s in %s as %s", it.Name, zone, capacityType)
	return it.Offerings[i]
}

func values(r requirements.Requirement) []string {
	out, _ := r.Values()
	return out
}

// requireSound holds a catalog to the contract: each type valid, types sorted by name
// and offerings by key, none twice.
func requireSound(t testing.TB, types []*cloudprovider.InstanceType) {
	t.Helper()
	for i, it := range types {
		require.NoError(t, it.Validate())
		require.True(t, i == 0 || types[i-1].Name < it.Name, "%s is twice, or not in order", it.Name)
		require.True(t, slices.IsSortedFunc(it.Offerings, func(a, b cloudprovider.Offering) int { return a.Key(it.Name).Compare(b.Key(it.Name)) }), it.Name)
	}
}
