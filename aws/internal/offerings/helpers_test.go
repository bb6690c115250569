package offerings_test

import (
	"context"
	"encoding/json"
	"os"
	"slices"
	"testing"
	"time"

	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
	ekstypes "github.com/aws/aws-sdk-go-v2/service/eks/types"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	awsv1 "github.com/dovetail-sdk/dovetail/aws/api/v1"
	"github.com/dovetail-sdk/dovetail/aws/internal/api"
	"github.com/dovetail-sdk/dovetail/aws/internal/catalog"
	"github.com/dovetail-sdk/dovetail/aws/internal/classes"
	"github.com/dovetail-sdk/dovetail/aws/internal/offerings"
	"github.com/dovetail-sdk/dovetail/aws/internal/source"
	"github.com/dovetail-sdk/dovetail/aws/internal/source/sourcetest"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
)

// noon is later than the prices that are compiled in.
var noon = time.Date(2026, 11, 2, 12, 0, 0, 0, time.UTC)

var bg = context.Background()

func ptr[T any](v T) *T { return &v }

// clock is set by the test, which has one goroutine.
type clock struct{ now time.Time }

func (c *clock) Now() time.Time { return c.now }

// account is a region with the instance types of the test data of package catalog,
// a network and published images.
func account(t testing.TB) *sourcetest.Cloud {
	t.Helper()
	var file struct {
		InstanceTypes         []ec2types.InstanceTypeInfo
		InstanceTypeOfferings []ec2types.InstanceTypeOffering
	}
	for _, name := range []string{"../catalog/testdata/types.json", "../catalog/testdata/offerings.json"} {
		data, err := os.ReadFile(name)
		require.NoError(t, err)
		require.NoError(t, json.Unmarshal(data, &file))
	}
	c := &sourcetest.Cloud{Types: file.InstanceTypes, Offerings: file.InstanceTypeOfferings, PageSize: 50, Parameters: map[string]string{},
		Cluster: &ekstypes.Cluster{Arn: ptr("arn:aws:eks:us-east-1:123456789012:cluster/shop"), Version: ptr("1.34"),
			KubernetesNetworkConfig: &ekstypes.KubernetesNetworkConfigResponse{ServiceIpv4Cidr: ptr("10.100.0.0/16")}}}
	for id, zone := range map[string]string{"subnet-a": "us-east-1a use1-az1", "subnet-b": "us-east-1b use1-az2"} {
		c.Subnets = append(c.Subnets, ec2types.Subnet{SubnetId: &id, VpcId: ptr("vpc-1"), AvailabilityZone: ptr(zone[:10]), AvailabilityZoneId: ptr(zone[11:])})
	}
	c.SecurityGroups = []ec2types.SecurityGroup{{GroupId: ptr("sg-1"), GroupName: ptr("nodes"), VpcId: ptr("vpc-1")}}
	for _, line := range []string{"x86_64/standard", "x86_64/nvidia", "x86_64/neuron", "arm64/standard", "arm64/nvidia"} {
		arch, variant := line[:len(line)-len("/standard")], "standard"
		for _, v := range []string{"nvidia", "neuron", "standard"} {
			if i := len(line) - len(v); i > 0 && line[i:] == v {
				arch, variant = line[:i-1], v
			}
		}
		id := "ami-" + arch[:3] + variant
		c.Parameters["/aws/service/eks/optimized-ami/1.34/amazon-linux-2023/"+line+"/recommended/image_id"] = id
		c.Images = append(c.Images, ec2types.Image{ImageId: &id, Name: ptr("amazon-eks-node-al2023-" + arch + "-" + variant + "-1.34-v20261001"),
			OwnerId: ptr("602401143452"), ImageOwnerAlias: ptr("amazon"), Architecture: ec2types.ArchitectureValues(arch),
			State: ec2types.ImageStateAvailable, CreationDate: ptr("2026-10-01T01:00:00.000Z")})
	}
	for _, name := range []string{"m5.large", "c5.xlarge", "p5.48xlarge", "m6g.medium"} {
		for _, zone := range []string{"us-east-1a", "us-east-1b", "us-east-1c"} {
			c.Spot = append(c.Spot, ec2types.SpotPrice{InstanceType: ec2types.InstanceType(name), AvailabilityZone: &zone, SpotPrice: ptr("0.04"),
				Timestamp: &noon, ProductDescription: "Linux/UNIX"})
		}
	}
	data, err := os.ReadFile("../prices/testdata/m5.large.json")
	require.NoError(t, err)
	c.Products = []string{string(data)}
	return c
}

func class(edit ...func(*awsv1.EC2NodeClass)) *awsv1.EC2NodeClass {
	c := &awsv1.EC2NodeClass{ObjectMeta: metav1.ObjectMeta{Name: "web", UID: "uid-1", Generation: 1}}
	c.Spec = awsv1.EC2NodeClassSpec{
		SubnetSelectorTerms:        []awsv1.SubnetSelectorTerm{{ID: "subnet-a"}, {ID: "subnet-b"}},
		SecurityGroupSelectorTerms: []awsv1.SecurityGroupSelectorTerm{{Name: "nodes"}},
		AMISelectorTerms:           []awsv1.AMISelectorTerm{{Alias: "al2023@latest"}},
		InstanceProfile:            ptr("nodes"),
	}
	for _, e := range edit {
		e(c)
	}
	return c
}

type setup struct {
	cloud    *sourcetest.Cloud
	clock    *clock
	sources  *source.Sources
	resolver *classes.Resolver
	builder  *offerings.Builder
}

func build(t testing.TB, c *sourcetest.Cloud, edit ...func(*api.Clients)) *setup {
	t.Helper()
	s := &setup{cloud: c, clock: &clock{noon}}
	clients := c.Clients()
	for _, e := range edit {
		e(&clients)
	}
	var err error
	s.sources, err = source.New(clients, source.Options{Region: "us-east-1", ClusterName: "shop", Now: s.clock.Now})
	require.NoError(t, err)
	s.resolver, err = classes.New(s.sources, classes.Options{Now: s.clock.Now, ReservedCapacity: true})
	require.NoError(t, err)
	s.builder, err = offerings.New(s.sources, offerings.Options{Region: "us-east-1", Now: s.clock.Now})
	require.NoError(t, err)
	return s
}

// catalog resolves a class and builds its catalog, as the provider does.
func (s *setup) catalog(t testing.TB, c *awsv1.EC2NodeClass) *catalog.Catalog {
	t.Helper()
	r, err := s.resolver.Resolve(bg, c)
	require.NoError(t, err)
	require.NoError(t, r.Err())
	made, err := s.builder.Build(bg, r.Class)
	require.NoError(t, err)
	return made
}

func find(t testing.TB, c *catalog.Catalog, name string) *cloudprovider.InstanceType {
	t.Helper()
	i := slices.IndexFunc(c.Types, func(it *cloudprovider.InstanceType) bool { return it.Name == name })
	require.GreaterOrEqual(t, i, 0, name)
	return c.Types[i]
}

func offering(t testing.TB, it *cloudprovider.InstanceType, zone, capacityType string) cloudprovider.Offering {
	t.Helper()
	i := slices.IndexFunc(it.Offerings, func(o cloudprovider.Offering) bool { return o.Zone == zone && o.CapacityType == capacityType })
	require.GreaterOrEqual(t, i, 0, "%s in %s as %s", it.Name, zone, capacityType)
	return it.Offerings[i]
}

func values(r requirements.Requirement) []string {
	out, _ := r.Values()
	return out
}
