package classtypes_test

import (
	"context"
	"maps"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/dovetail-sdk/dovetail/amiselect"
	karpv1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/aws"
	awsv1 "github.com/dovetail-sdk/dovetail/aws/api/v1"
	"github.com/dovetail-sdk/dovetail/aws/awstest"
	"github.com/dovetail-sdk/dovetail/aws/classtypes"
	"github.com/dovetail-sdk/dovetail/aws/kubeletcel"
	"github.com/dovetail-sdk/dovetail/aws/nodecost"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/cloudprovider/pricing"
)

// twin is one case: a class and options, of which the live provider and the facts are
// asked for the same.
type twin struct {
	class func(*awsv1.EC2NodeClass)
	live  func(*aws.Options)
	facts func(*classtypes.Input)
	world awstest.Options
}

var twins = map[string]twin{
	"as it comes": {},
	"pods and reserves": {class: func(c *awsv1.EC2NodeClass) {
		c.Spec.Kubelet = &awsv1.KubeletConfiguration{MaxPods: new(intstr.FromInt32(58)), PodsPerCore: new(int32(10)),
			KubeReserved: map[string]string{"memory": "700Mi"}, EvictionHard: map[string]string{"memory.available": "5%"}}
	}},
	"a pool of disks and a large volume": {class: func(c *awsv1.EC2NodeClass) {
		c.Spec.InstanceStorePolicy = new(awsv1.InstanceStorePolicyRAID0)
		c.Spec.BlockDeviceMappings = []awsv1.BlockDeviceMapping{{DeviceName: new("/dev/xvda"), EBS: &awsv1.BlockDevice{VolumeSize: new(resource.MustParse("120Gi"))}}}
	}},
	"Bottlerocket, whose pods write to another volume": {class: func(c *awsv1.EC2NodeClass) {
		c.Spec.AMISelectorTerms = []awsv1.AMISelectorTerm{{Alias: "bottlerocket@latest"}}
		c.Spec.BlockDeviceMappings = []awsv1.BlockDeviceMapping{{DeviceName: new("/dev/xvda"), EBS: &awsv1.BlockDevice{VolumeSize: new(resource.MustParse("4Gi"))}},
			{DeviceName: new("/dev/xvdb"), EBS: &awsv1.BlockDevice{VolumeSize: new(resource.MustParse("50Gi"))}}}
	}},
	"subnets in one zone": {class: func(c *awsv1.EC2NodeClass) {
		c.Spec.SubnetSelectorTerms = []awsv1.SubnetSelectorTerm{{ID: "subnet-0000000000000000b"}}
	}, world: awstest.Options{Subnets: []ec2types.Subnet{
		{SubnetId: new("subnet-0000000000000000a"), AvailabilityZone: new("us-east-1a")},
		{SubnetId: new("subnet-0000000000000000b"), AvailabilityZone: new("us-east-1b")},
	}}},
	"what few types can": {class: func(c *awsv1.EC2NodeClass) {
		c.Spec.EnclaveOptions = &awsv1.EnclaveOptions{Enabled: new(true)}
	}},
	"expressions": {class: func(c *awsv1.EC2NodeClass) {
		c.Spec.Kubelet = &awsv1.KubeletConfiguration{MaxPods: new(intstr.FromString("min(110, default_enis * (ips_per_eni - 1) + 2)"))}
	}, live: func(o *aws.Options) { o.KubeletExpressions = kubeletcel.New() },
		facts: func(in *classtypes.Input) { in.KubeletExpressions = kubeletcel.New() }},
	"a bill": {class: func(c *awsv1.EC2NodeClass) { c.Spec.AssociatePublicIPAddress = new(true) },
		live:  func(o *aws.Options) { o.NodeRates = &nodecost.Rates{PublicIPv4: 0.004} },
		facts: func(in *classtypes.Input) { in.NodeRates = &nodecost.Rates{PublicIPv4: 0.004} }},
	"instances alone": {class: func(c *awsv1.EC2NodeClass) { c.Spec.AssociatePublicIPAddress = new(true) },
		live:  func(o *aws.Options) { o.NodeRates = new(nodecost.Rates) },
		facts: func(in *classtypes.Input) { in.NodeRates = new(nodecost.Rates) }},
	"options": {live: func(o *aws.Options) {
		o.ReservedENIs, o.PrefixDelegation, o.MemoryOverhead, o.NVIDIADevices, o.EFADevices = 1, true, "0.04", true, true
	}, facts: func(in *classtypes.Input) {
		in.ReservedENIs, in.PrefixDelegation, in.MemoryOverhead, in.NVIDIADevices, in.EFADevices = 1, true, "0.04", true, true
	}},
	"a reservation": {class: func(c *awsv1.EC2NodeClass) {
		c.Spec.CapacityReservationSelectorTerms = []awsv1.CapacityReservationSelectorTerm{{ID: "cr-0123456789abcdef0"}}
	}, world: awstest.Options{Reservations: []ec2types.CapacityReservation{{CapacityReservationId: new("cr-0123456789abcdef0"),
		InstanceType: new("m5.large"), AvailabilityZone: new("us-east-1a"), TotalInstanceCount: new(int32(3)), AvailableInstanceCount: new(int32(3)),
		State: ec2types.CapacityReservationStateActive, InstanceMatchCriteria: ec2types.InstanceMatchCriteriaTargeted}}}},
}

// The facts give what the live provider returns: the same instance types, to the byte.
func TestAsTheProviderHasIt(t *testing.T) {
	for name, tt := range twins {
		t.Run(name, func(t *testing.T) {
			l := newLive(t, tt)
			in, facts := l.input(t, tt), l.facts(t)
			made, err := facts.Build(l.cloud.Now(), in)
			require.NoError(t, err)
			require.Empty(t, made.Problems)
			want := l.types(t)
			require.NotEmpty(t, want)
			require.Equal(t, want, made.Types)
			require.True(t, slices.ContainsFunc(made.Types, func(it *cloudprovider.InstanceType) bool {
				return slices.ContainsFunc(it.Offerings, func(o cloudprovider.Offering) bool { return o.Launchable() })
			}), "something can be launched")
		})
	}
}

// What nodes have reported counts for both.
func TestLearned(t *testing.T) {
	l := newLive(t, twin{})
	class, err := l.provider.NodeClass(t.Context(), "default")
	require.NoError(t, err)
	for _, ami := range class.Status.AMIs {
		node := &corev1.Node{}
		node.Status.Capacity = corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("7900Mi")}
		require.NoError(t, l.provider.ObserveNode(t.Context(), "m5.large", ami.ID, node))
	}
	snapshot, err := l.provider.Status(t.Context())
	require.NoError(t, err)
	in := l.input(t, twin{})
	in.Learned = snapshot.Learned
	made, err := l.facts(t).Build(l.cloud.Now(), in)
	require.NoError(t, err)
	require.Equal(t, l.types(t), made.Types)
	i := slices.IndexFunc(made.Types, func(it *cloudprovider.InstanceType) bool { return it.Name == "m5.large" })
	require.EqualValues(t, 7900<<20, made.Types[i].Capacity.Get(corev1.ResourceMemory))
}

func TestOrderDoesNotMatter(t *testing.T) {
	l := newLive(t, twin{})
	types, offerings := l.describe(t)
	in := l.input(t, twin{facts: func(in *classtypes.Input) {
		in.Zones = []classtypes.Zone{{Name: "us-east-1d", ID: "use1-az4"}, {Name: "us-east-1e"}}
	}})
	one, _, err := classtypes.Read(types, offerings)
	require.NoError(t, err)
	want, err := one.Build(l.cloud.Now(), in)
	require.NoError(t, err)
	slices.Reverse(types)
	slices.Reverse(offerings)
	slices.Reverse(in.Zones)
	slices.Reverse(in.Class.Status.Subnets)
	other, _, err := classtypes.Read(types, offerings)
	require.NoError(t, err)
	got, err := other.Build(l.cloud.Now(), in)
	require.NoError(t, err)
	require.Equal(t, want, got)
}

func TestFaults(t *testing.T) {
	_, err := (*classtypes.Facts)(nil).Build(time.Time{}, classtypes.Input{MemoryOverhead: "7", Learned: []byte("{")})
	require.ErrorContains(t, err, "memoryOverhead: share of memory")
	require.ErrorContains(t, err, "learned memory")
	_, err = (*classtypes.Facts)(nil).Build(time.Time{}, classtypes.Input{ReservedENIs: -1, Zones: []classtypes.Zone{{}}})
	for _, text := range []string{"region: empty", "class: nil", "zones[0]: name: empty", "reserved network interfaces: -1"} {
		require.ErrorContains(t, err, text)
	}
	made, err := (*classtypes.Facts)(nil).Build(time.Time{}, classtypes.Input{Region: "us-east-1", Class: &awsv1.EC2NodeClass{}})
	require.NoError(t, err)
	require.Empty(t, made.Types)
}

// A class of which a type lacks what it asks for says so, and keeps the type.
func TestExclusions(t *testing.T) {
	types := awstest.InstanceTypes()
	facts, _, err := classtypes.Read(types, nil)
	require.NoError(t, err)
	class := &awsv1.EC2NodeClass{}
	class.Spec.AMIFamily = new(amiselect.FamilyWindows2022)
	made, err := facts.Build(time.Time{}, classtypes.Input{Region: "us-east-1", Class: class})
	require.NoError(t, err)
	require.Len(t, made.Types, len(types))
	require.Contains(t, made.Exclusions, classtypes.Exclusion{InstanceType: "m6g.large", Field: "spec.amiFamily",
		Detail: "Windows2022 runs on amd64 only, and the type is arm64"})
	require.Equal(t, "a1.medium: spec.amiFamily: Windows2022 runs on amd64 only, and the type is arm64", made.Exclusions[0].String())
}

// live is a provider that asks a cloud in memory.
type live struct {
	provider *aws.Provider
	cloud    *awstest.Server
	class    *awsv1.EC2NodeClass
}

func newLive(t *testing.T, tt twin) *live {
	t.Helper()
	cloud, err := awstest.Start(&tt.world)
	require.NoError(t, err)
	t.Cleanup(cloud.Close)
	classes, err := awsv1.DecodeEC2NodeClasses([]byte(nodeClass))
	require.NoError(t, err)
	l := &live{cloud: cloud, class: classes[0]}
	l.class.Spec.Kubelet, l.class.Spec.BlockDeviceMappings, l.class.Spec.InstanceStorePolicy = nil, nil, nil
	l.class.Status = awsv1.EC2NodeClassStatus{}
	if tt.class != nil {
		tt.class(l.class)
	}
	opts := aws.Options{Region: "us-east-1", Cluster: aws.Cluster{Name: "demo"}, Now: cloud.Now, NoDryRun: true,
		NodeClasses: func(context.Context, string) (*awsv1.EC2NodeClass, error) { return l.class, nil }}
	if tt.live != nil {
		tt.live(&opts)
	}
	l.provider, err = aws.New(aws.Connect(cloud.Config()), &opts)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, l.provider.Close(context.Background())) })
	require.NoError(t, l.provider.Refresh(t.Context()))
	return l
}

func (l *live) types(t *testing.T) []*cloudprovider.InstanceType {
	t.Helper()
	pool := &karpv1.NodePool{}
	pool.Name = "general"
	pool.Spec.Template.Spec.NodeClassRef = &karpv1.NodeClassReference{Group: awsv1.Group, Kind: awsv1.EC2NodeClassKind, Name: "default"}
	types, err := l.provider.InstanceTypes(t.Context(), pool)
	require.NoError(t, err)
	return types
}

// describe asks the cloud as a user of its command line would.
func (l *live) describe(t *testing.T) (types []ec2types.InstanceTypeInfo, offerings []ec2types.InstanceTypeOffering) {
	t.Helper()
	client := ec2.NewFromConfig(l.cloud.Config())
	for page := ec2.NewDescribeInstanceTypesPaginator(client, &ec2.DescribeInstanceTypesInput{}); page.HasMorePages(); {
		out, err := page.NextPage(t.Context())
		require.NoError(t, err)
		types = append(types, out.InstanceTypes...)
	}
	in := &ec2.DescribeInstanceTypeOfferingsInput{LocationType: ec2types.LocationTypeAvailabilityZone}
	for page := ec2.NewDescribeInstanceTypeOfferingsPaginator(client, in); page.HasMorePages(); {
		out, err := page.NextPage(t.Context())
		require.NoError(t, err)
		offerings = append(offerings, out.InstanceTypeOfferings...)
	}
	return types, offerings
}

func (l *live) facts(t *testing.T) *classtypes.Facts {
	t.Helper()
	types, offerings := l.describe(t)
	facts, problems, err := classtypes.Read(types, offerings)
	require.NoError(t, err)
	require.Empty(t, problems)
	return facts
}

// input is what a program without credentials has: the class with its status, as the API
// server keeps it, and a list of prices.
func (l *live) input(t *testing.T, tt twin) classtypes.Input {
	t.Helper()
	resolved, err := l.provider.NodeClass(t.Context(), "default")
	require.NoError(t, err)
	class := l.class.DeepCopy()
	class.Status = resolved.Status
	in := classtypes.Input{Region: "us-east-1", Class: class, Left: resolved.Left, Prices: l.prices(t)}
	if tt.facts != nil {
		tt.facts(&in)
	}
	return in
}

// prices are those that the provider goes by, as a list.
func (l *live) prices(t *testing.T) *pricing.Book {
	t.Helper()
	entries := map[cloudprovider.Scope]float64{}
	for _, it := range l.types(t) {
		for _, o := range it.Offerings {
			if o.Price > 0 && o.CapacityType != karpv1.CapacityTypeReserved {
				entries[cloudprovider.Scope{InstanceType: it.Name, Zone: o.Zone, CapacityType: o.CapacityType}] = math.Round((o.Price-o.NodeCost)*1e9) / 1e9 // as in the list
			}
		}
	}
	var list []pricing.Entry
	for _, scope := range slices.SortedFunc(maps.Keys(entries), cloudprovider.Scope.Compare) {
		list = append(list, pricing.Entry{Scope: scope, Price: entries[scope], At: time.Time{}})
	}
	book, err := pricing.New(&pricing.Options{Layers: []pricing.Layer{{Name: "said", Entries: list}}})
	require.NoError(t, err)
	return book
}

// An offering with a price costs as much more as a node of the class has in addition to its
// instance, by list prices unless the rates say otherwise, also where a reservation is paid for. An
// offering without a price keeps none.
func TestNodeRates(t *testing.T) {
	tt := twins["a reservation"]
	l := newLive(t, tt)
	in := l.input(t, tt)
	billed, err := l.facts(t).Build(l.cloud.Now(), in)
	require.NoError(t, err)
	in.NodeRates = new(nodecost.Rates)
	plain, err := l.facts(t).Build(l.cloud.Now(), in)
	require.NoError(t, err)
	kinds := map[string]int{}
	volume := nodecost.BuiltIn().Of(in.Class).Total()
	require.Positive(t, volume)
	for i, it := range plain.Types {
		for j, o := range it.Offerings {
			got := billed.Types[i].Offerings[j]
			if o.Price == 0 {
				require.Equal(t, o, got)
				continue
			}
			kinds[o.CapacityType]++
			require.Zero(t, o.NodeCost)
			o.Price, o.NodeCost = o.Price+volume, volume
			require.Equal(t, o, got)
		}
	}
	require.Len(t, kinds, 3)
	in.NodeRates = &nodecost.Rates{PerNode: -1}
	_, err = l.facts(t).Build(l.cloud.Now(), in)
	require.ErrorContains(t, err, "PerNode: -1; use an amount of USD, or 0")
}
