package nodeclass_test

import (
	"slices"
	"testing"

	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
	ekstypes "github.com/aws/aws-sdk-go-v2/service/eks/types"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clock "k8s.io/utils/clock/testing"

	awsv1 "github.com/dovetail-sdk/dovetail/aws/api/v1"
	"github.com/dovetail-sdk/dovetail/aws/internal/api"
	"github.com/dovetail-sdk/dovetail/aws/internal/nodeclass"
)

// eksImages is the path of the parameters of Amazon Linux 2023.
const eksImages = "/aws/service/eks/optimized-ami/1.34/amazon-linux-2023/"

const v1Name = "amazon-eks-node-al2023-"

func tagsOf(key, value string) []ec2types.Tag { return []ec2types.Tag{{Key: &key, Value: &value}} }

func publicImage(id, name, arch, created string) ec2types.Image {
	return ec2types.Image{ImageId: &id, Name: &name, OwnerId: new("602401143452"), ImageOwnerAlias: new("amazon"),
		Architecture: ec2types.ArchitectureValues(arch), State: ec2types.ImageStateAvailable, CreationDate: &created}
}

// account has what the class of this test selects.
func account() *Cloud {
	subnet := func(id, zone, zoneID, team string, free int32) ec2types.Subnet {
		return ec2types.Subnet{SubnetId: &id, AvailabilityZone: &zone, AvailabilityZoneId: &zoneID, VpcId: new("vpc-1"),
			AvailableIpAddressCount: &free, Tags: tagsOf("team", team)}
	}
	group := func(id, name, vpc string) ec2types.SecurityGroup {
		return ec2types.SecurityGroup{GroupId: &id, GroupName: &name, VpcId: &vpc, Tags: tagsOf("team", "web")}
	}
	return &Cloud{
		Subnets:        []ec2types.Subnet{subnet("subnet-b", "us-east-1b", "use1-az2", "web", 7), subnet("subnet-a", "us-east-1a", "use1-az1", "web", 3)},
		SecurityGroups: []ec2types.SecurityGroup{group("sg-2", "nodes", "vpc-1"), group("sg-1", "shared", "vpc-1"), group("sg-3", "nodes", "vpc-9")},
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
		Cluster: &ekstypes.Cluster{Arn: new("arn:aws:eks:us-east-1:123456789012:cluster/shop"), Version: new("1.34"),
			KubernetesNetworkConfig: &ekstypes.KubernetesNetworkConfigResponse{ServiceIpv4Cidr: new("10.100.0.0/16")}},
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
	clients, from, opts := c.Clients(), nodeclass.Options{Region: "us-east-1", ClusterName: "shop", Now: k.Now}, nodeclass.ResolverOptions{Now: k.Now, ReservedCapacity: true}
	for _, e := range edit {
		e(&clients, &from, &opts)
	}
	c.Calls()
	src, err := nodeclass.NewSources(clients, from)
	require.NoError(t, err)
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
	c.Change(func(c *Cloud) {
		if c.Fail == nil {
			c.Fail = map[string]error{}
		}
		if code == "" {
			delete(c.Fail, operation)
			return
		}
		c.Fail[operation] = Error("EC2", operation, code, "said AWS")
	})
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
