package nodeclass_test

import (
	"context"
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
	ekstypes "github.com/aws/aws-sdk-go-v2/service/eks/types"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clock "k8s.io/utils/clock/testing"

	awsv1 "github.com/dovetail-sdk/dovetail/aws/api/v1"
	"github.com/dovetail-sdk/dovetail/aws/internal/api"
	"github.com/dovetail-sdk/dovetail/aws/internal/instancetype"
	"github.com/dovetail-sdk/dovetail/aws/internal/nodeclass"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
)

// Noon is the initial time of the clocks. It is later than the built-in prices.
var Noon = time.Date(2026, 11, 2, 12, 0, 0, 0, time.UTC)

func newClock() *clock.FakeClock { return clock.NewFakeClock(Noon) }

// withTypes returns a cloud with the instance types of the test data of package instancetype.
func withTypes(t testing.TB) *Cloud {
	t.Helper()
	var file struct {
		InstanceTypes         []ec2types.InstanceTypeInfo
		InstanceTypeOfferings []ec2types.InstanceTypeOffering
	}
	for _, name := range []string{"../instancetype/testdata/types.json", "../instancetype/testdata/offerings.json"} {
		data, err := os.ReadFile(name)
		require.NoError(t, err)
		require.NoError(t, json.Unmarshal(data, &file))
	}
	return &Cloud{Types: file.InstanceTypes, Offerings: file.InstanceTypeOfferings}
}

// shop returns an EKS cluster.
func shop() *ekstypes.Cluster {
	return &ekstypes.Cluster{Arn: new("arn:aws:eks:us-east-1:123456789012:cluster/shop"), Version: new("1.34"),
		Endpoint: new("https://shop.example"), CertificateAuthority: &ekstypes.Certificate{Data: new("Q0E=")},
		KubernetesNetworkConfig: &ekstypes.KubernetesNetworkConfigResponse{ServiceIpv4Cidr: new("10.100.0.0/16"), IpFamily: ekstypes.IpFamilyIpv4}}
}

// region returns withTypes with a cluster.
func region(t testing.TB) *Cloud {
	t.Helper()
	c := withTypes(t)
	c.Cluster = shop()
	return c
}

func sources(t testing.TB, c *Cloud, k *clock.FakeClock, edit ...func(*api.Clients, *nodeclass.Options)) *nodeclass.Sources {
	t.Helper()
	clients, opts := c.Clients(), nodeclass.Options{Region: "us-east-1", ClusterName: "shop", Now: k.Now}
	for _, e := range edit {
		e(&clients, &opts)
	}
	c.Calls()
	s, err := nodeclass.NewSources(clients, opts)
	require.NoError(t, err)
	require.Empty(t, c.Calls(), "New asks nothing")
	return s
}

func throttled(operation string) error {
	return Error("EC2", operation, "RequestLimitExceeded", "Request limit exceeded.")
}

func fail(c *Cloud, operation string, err error) {
	c.Change(func(c *Cloud) {
		if c.Fail == nil {
			c.Fail = map[string]error{}
		}
		c.Fail[operation] = err
	})
}

var bg = context.Background()

// eksImages is the path of the parameters of Amazon Linux 2023.
const eksImages = "/aws/service/eks/optimized-ami/1.34/amazon-linux-2023/"

const v1Name = "amazon-eks-node-al2023-"

func group(id, name, vpc string, pairs ...string) ec2types.SecurityGroup {
	return ec2types.SecurityGroup{GroupId: &id, GroupName: &name, VpcId: &vpc, Tags: tags(pairs...)}
}

func publicImage(id, name, arch, created string) ec2types.Image {
	return ec2types.Image{ImageId: &id, Name: &name, OwnerId: new("602401143452"), ImageOwnerAlias: new("amazon"),
		Architecture: ec2types.ArchitectureValues(arch), State: ec2types.ImageStateAvailable, CreationDate: &created}
}

// account has what the class of this test selects.
func account() *Cloud {
	return &Cloud{
		Subnets:        []ec2types.Subnet{subnet("subnet-b", "us-east-1b", "use1-az2", 7, "team", "web"), subnet("subnet-a", "us-east-1a", "use1-az1", 3, "team", "web")},
		SecurityGroups: []ec2types.SecurityGroup{group("sg-2", "nodes", "vpc-1", "team", "web"), group("sg-1", "shared", "vpc-1", "team", "web"), group("sg-3", "nodes", "vpc-9", "team", "web")},
		Parameters: map[string]string{
			eksImages + "x86_64/standard/recommended/image_id": "ami-x86",
			eksImages + "x86_64/nvidia/recommended/image_id":   "ami-gpu",
			eksImages + "x86_64/neuron/recommended/image_id":   "ami-neuron",
			eksImages + "arm64/standard/recommended/image_id":  "ami-arm",
			eksImages + "arm64/nvidia/recommended/image_id":    "ami-armgpu",
		},
		Images: []ec2types.Image{
			publicImage("ami-x86", v1Name+"x86_64-standard-1.34-v20261001", "x86_64", "2026-10-01T01:00:00.000Z"),
			publicImage("ami-gpu", v1Name+"x86_64-nvidia-1.34-v20261001", "x86_64", "2026-10-01T02:00:00.000Z"),
			publicImage("ami-neuron", v1Name+"x86_64-neuron-1.34-v20261001", "x86_64", "2026-10-01T03:00:00.000Z"),
			publicImage("ami-arm", v1Name+"arm64-standard-1.34-v20261001", "arm64", "2026-10-01T04:00:00.000Z"),
			publicImage("ami-armgpu", v1Name+"arm64-nvidia-1.34-v20261001", "arm64", "2026-10-01T05:00:00.000Z"),
		},
		Cluster: shop(),
	}
}

// class selects what account has.
func class(edit ...func(*awsv1.EC2NodeClass)) *awsv1.EC2NodeClass {
	c := &awsv1.EC2NodeClass{ObjectMeta: metav1.ObjectMeta{Name: "web", UID: "uid-1", Generation: 4}}
	c.Spec = awsv1.EC2NodeClassSpec{
		SubnetSelectorTerms:        []awsv1.SubnetSelectorTerm{{Tags: map[string]string{"team": "web"}}},
		SecurityGroupSelectorTerms: []awsv1.SecurityGroupSelectorTerm{{Tags: map[string]string{"team": "web"}}},
		AMISelectorTerms:           []awsv1.AMISelectorTerm{{Alias: "al2023@latest"}},
		InstanceProfile:            new("nodes"),
	}
	for _, e := range edit {
		e(c)
	}
	return c
}

type setup struct {
	cloud    *Cloud
	clock    *clock.FakeClock
	sources  *nodeclass.Sources
	resolver *nodeclass.Resolver
}

func resolver(t testing.TB, c *Cloud, edit ...func(*api.Clients, *nodeclass.Options, *nodeclass.ResolverOptions)) *setup {
	t.Helper()
	k := newClock()
	opts := nodeclass.ResolverOptions{Now: k.Now, ReservedCapacity: true}
	src := sources(t, c, k, func(clients *api.Clients, from *nodeclass.Options) {
		for _, e := range edit {
			e(clients, from, &opts)
		}
	})
	r, err := nodeclass.NewResolver(src, opts)
	require.NoError(t, err)
	require.Empty(t, c.Calls(), "New asks nothing")
	return &setup{c, k, src, r}
}

func (s *setup) resolve(t testing.TB, c *awsv1.EC2NodeClass) *nodeclass.Resolution {
	t.Helper()
	before := c.DeepCopy()
	_ = s.sources.Refresh(bg)
	got, err := s.resolver.Resolve(bg, c)
	require.NoError(t, err)
	require.Equal(t, before, c, "the class given is not modified")
	require.True(t, slices.IsSortedFunc(got.Class.Status.Conditions, func(a, b metav1.Condition) int {
		if a.Type < b.Type {
			return -1
		}
		return 1
	}))
	return got
}

func failCall(c *Cloud, operation, code string) {
	if code == "" {
		c.Change(func(c *Cloud) { delete(c.Fail, operation) })
		return
	}
	fail(c, operation, Error("EC2", operation, code, "said AWS"))
}

func condition(t testing.TB, r *nodeclass.Resolution, kind string) metav1.Condition {
	t.Helper()
	for _, c := range r.Class.Status.Conditions {
		if c.Type == kind {
			return c
		}
	}
	require.Failf(t, "no such condition", kind)
	return metav1.Condition{}
}

// stocked returns a region with the instance types of the test data,
// a network and published images.
func stocked(t testing.TB) *Cloud {
	t.Helper()
	c := priced(t)
	c.PageSize, c.Parameters = 50, map[string]string{}
	c.Subnets = []ec2types.Subnet{subnet("subnet-a", "us-east-1a", "use1-az1", 250), subnet("subnet-b", "us-east-1b", "use1-az2", 250)}
	c.SecurityGroups = []ec2types.SecurityGroup{group("sg-1", "nodes", "vpc-1")}
	c.Spot = nil
	for _, line := range []string{"x86_64/standard", "x86_64/nvidia", "x86_64/neuron", "arm64/standard", "arm64/nvidia"} {
		arch, variant, _ := strings.Cut(line, "/")
		id := "ami-" + arch[:3] + variant
		c.Parameters[eksImages+line+"/recommended/image_id"] = id
		c.Images = append(c.Images, publicImage(id, v1Name+arch+"-"+variant+"-1.34-v20261001", arch, "2026-10-01T01:00:00.000Z"))
	}
	for _, name := range []string{"m5.large", "c5.xlarge", "p5.48xlarge", "m6g.medium"} {
		for _, zone := range []string{"us-east-1a", "us-east-1b", "us-east-1c"} {
			c.Spot = append(c.Spot, ec2types.SpotPrice{InstanceType: ec2types.InstanceType(name), AvailabilityZone: &zone, SpotPrice: new("0.04"),
				Timestamp: &Noon, ProductDescription: "Linux/UNIX"})
		}
	}
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
	*setup
	builder *instancetype.Builder
}

func newBuilderSetup(t testing.TB, c *Cloud, edit ...func(*api.Clients)) *builderSetup {
	t.Helper()
	r := resolver(t, c, func(clients *api.Clients, _ *nodeclass.Options, _ *nodeclass.ResolverOptions) {
		for _, e := range edit {
			e(clients)
		}
	})
	s := &builderSetup{setup: r}
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
