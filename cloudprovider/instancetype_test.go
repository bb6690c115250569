package cloudprovider_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/cloudprovider/launch"
	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
	"github.com/dovetail-sdk/dovetail/provisioning/resources"
)

var list = resources.MustParse

func override(text string) *resources.List {
	if text == "" {
		return nil
	}
	l := list(text)
	return &l
}

func TestAllocatable(t *testing.T) {
	tests := []struct {
		name                         string
		capacity                     string
		kube, system, eviction       string
		offerCapacity, offerOverhead string
		want, wantFor                string
	}{
		{
			name:     "the three overheads add up",
			capacity: "cpu=4, memory=16Gi, pods=58",
			kube:     "cpu=80m, memory=1Gi", system: "cpu=20m, memory=512Mi", eviction: "memory=512Mi",
			want:    "cpu=3900m, memory=14Gi, pods=58",
			wantFor: "cpu=3900m, memory=14Gi, pods=58",
		},
		{
			name:     "overhead of a resource that the type lacks is ignored",
			capacity: "cpu=4, pods=58", kube: "cpu=1, ephemeral-storage=1Gi", eviction: "memory=100Mi",
			want: "cpu=3, pods=58", wantFor: "cpu=3, pods=58",
		},
		{
			name:     "huge pages come off memory",
			capacity: "memory=16Gi, hugepages-2Mi=2Gi, hugepages-1Gi=4Gi", kube: "memory=1Gi",
			want:    "hugepages-1Gi=4Gi, hugepages-2Mi=2Gi, memory=9Gi",
			wantFor: "hugepages-1Gi=4Gi, hugepages-2Mi=2Gi, memory=9Gi",
		},
		{
			name:     "huge pages leave no less than nothing",
			capacity: "memory=4Gi, hugepages-1Gi=8Gi",
			want:     "hugepages-1Gi=8Gi, memory=0", wantFor: "hugepages-1Gi=8Gi, memory=0",
		},
		{
			name:     "huge pages do not hide an overhead above capacity",
			capacity: "memory=1Gi, hugepages-1Gi=1Gi", kube: "memory=2Gi",
			want: "hugepages-1Gi=1Gi, memory=-1Gi", wantFor: "hugepages-1Gi=1Gi, memory=-1Gi",
		},
		{
			name:     "huge pages without memory",
			capacity: "hugepages-1Gi=1Gi", want: "hugepages-1Gi=1Gi", wantFor: "hugepages-1Gi=1Gi",
		},
		{
			name:     "an offering overrides capacity by name",
			capacity: "cpu=4, memory=16Gi", kube: "cpu=1", offerCapacity: "memory=8Gi, nvidia.com/gpu=1",
			want: "cpu=3, memory=16Gi", wantFor: "cpu=3, memory=8Gi, nvidia.com/gpu=1",
		},
		{
			name:     "an offering overrides the total overhead by name, and does not add",
			capacity: "cpu=4, memory=16Gi", kube: "cpu=1, memory=1Gi", eviction: "memory=1Gi", offerOverhead: "memory=4Gi",
			want: "cpu=3, memory=14Gi", wantFor: "cpu=3, memory=12Gi",
		},
		{
			name:     "an override of zero counts",
			capacity: "cpu=4, nvidia.com/gpu=1", kube: "cpu=1", offerCapacity: "nvidia.com/gpu=0", offerOverhead: "cpu=0",
			want: "cpu=3, nvidia.com/gpu=1", wantFor: "cpu=4, nvidia.com/gpu=0",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			it := &cloudprovider.InstanceType{
				Name:     "m",
				Capacity: list(tt.capacity),
				Overhead: cloudprovider.Overhead{KubeReserved: list(tt.kube), SystemReserved: list(tt.system), EvictionThreshold: list(tt.eviction)},
			}
			got, err := it.Allocatable()
			require.NoError(t, err)
			require.Equal(t, tt.want, got.String())
			got, err = it.AllocatableFor(&cloudprovider.Offering{Capacity: override(tt.offerCapacity), Overhead: override(tt.offerOverhead)})
			require.NoError(t, err)
			require.Equal(t, tt.wantFor, got.String())
		})
	}
}

func TestAllocatableOverflow(t *testing.T) {
	most := resources.New(map[corev1.ResourceName]int64{"memory": math.MaxInt64})
	it := &cloudprovider.InstanceType{Name: "m", Capacity: list("memory=1Gi"), Overhead: cloudprovider.Overhead{KubeReserved: most, SystemReserved: most}}
	_, err := it.Allocatable()
	require.ErrorIs(t, err, resources.ErrOverflow)
	require.ErrorContains(t, err, "instance type m: overhead: resource memory")
	_, err = it.AllocatableFor(&cloudprovider.Offering{})
	require.ErrorContains(t, err, "instance type m: overhead: resource memory")

	negative := resources.New(map[corev1.ResourceName]int64{"memory": -2})
	it = &cloudprovider.InstanceType{Name: "m", Capacity: most, Overhead: cloudprovider.Overhead{EvictionThreshold: negative}}
	_, err = it.Allocatable()
	require.ErrorContains(t, err, "instance type m: allocatable: resource memory")
	require.ErrorIs(t, err, resources.ErrOverflow)
}

func large() *cloudprovider.InstanceType {
	return &cloudprovider.InstanceType{
		Name: "m5.large",
		Requirements: requirements.MustParse("node.kubernetes.io/instance-type = m5.large, kubernetes.io/arch = amd64, " +
			"karpenter.sh/capacity-type in (on-demand, spot, reserved), topology.kubernetes.io/zone in (zone-a, zone-b)"),
		Capacity: list("cpu=2, memory=8Gi, pods=29"),
		Overhead: cloudprovider.Overhead{KubeReserved: list("cpu=70m, memory=574Mi"), EvictionThreshold: list("memory=100Mi")},
		Offerings: []cloudprovider.Offering{
			{Zone: "zone-a", CapacityType: "on-demand", Price: 0.096, Available: true},
			{Zone: "zone-a", CapacityType: "reserved", ReservationID: "cr-1", Price: 0.0000001, Available: true, ReservationCapacity: 2},
			{Zone: "zone-a", CapacityType: "spot", Price: 0.035, Available: true},
			{Zone: "zone-b", CapacityType: "on-demand", Price: 0.096, Available: true},
			{Zone: "zone-b", CapacityType: "spot", Price: 0.033, Available: false},
		},
		VolumeAttachmentLimits: map[string]int64{"ebs.csi.aws.com": 26},
	}
}

func TestOfferingByKey(t *testing.T) {
	it := large()
	for i := range it.Offerings {
		o, found := it.Offering(it.Offerings[i].Key(it.Name))
		require.True(t, found)
		require.Same(t, &it.Offerings[i], o)
	}
	_, found := it.Offering(cloudprovider.OfferingKey{InstanceType: "m5.large", Zone: "zone-c", CapacityType: "spot"})
	require.False(t, found)
	_, found = it.Offering(cloudprovider.OfferingKey{InstanceType: "other", Zone: "zone-a", CapacityType: "spot"})
	require.False(t, found)
}

func TestClone(t *testing.T) {
	it := large()
	c := it.Clone()
	require.Equal(t, it, c)
	c.Name = "x"
	c.Offerings[0].Price = 7
	c.VolumeAttachmentLimits["ebs.csi.aws.com"] = 1
	require.Equal(t, large(), it)
}

func TestValidateAcceptsSoundTypes(t *testing.T) {
	require.NoError(t, large().Validate())
	bare := &cloudprovider.InstanceType{Name: "bare", Capacity: list("pods=1")}
	require.NoError(t, bare.Validate(), "offerings and requirements may be empty")
	tiny := large()
	tiny.Overhead.KubeReserved = list("memory=9Gi")
	require.NoError(t, tiny.Validate(), "an overhead above capacity is no fault")
	unpriced := large()
	unpriced.Offerings[4].Price = 0
	require.NoError(t, unpriced.Validate(), "a price may be unknown while nothing is sold")
}

func TestValidateKnowsMisspeltCapacityTypes(t *testing.T) {
	for text, want := range map[string]string{
		"Spot": "spot", "SPOT": "spot", "OnDemand": "on-demand", "on_demand": "on-demand", "ON DEMAND": "on-demand", "Reserved": "reserved",
		"spot": "", "on-demand": "", "preemptible": "", "spot-block": "",
	} {
		it := large()
		it.Requirements = it.Requirements.Without("karpenter.sh/capacity-type")
		it.Offerings = []cloudprovider.Offering{{Zone: "zone-a", CapacityType: text, Price: 1}}
		if err := it.Validate(); want == "" {
			require.NoError(t, err, text)
		} else {
			require.ErrorContains(t, err, "capacityType: \""+text+"\"; write "+want+",")
		}
	}
}

func TestValidateListsEveryFault(t *testing.T) {
	it := &cloudprovider.InstanceType{
		Requirements: requirements.NewSet(
			requirements.In("node.kubernetes.io/instance-type", "m5.large"),
			requirements.In("kubernetes.io/arch", "amd64").Intersect(requirements.In("kubernetes.io/arch", "arm64")),
			requirements.In("topology.kubernetes.io/zone", "zone-a", "zone-b"),
		),
		Capacity:               list("cpu=-2"),
		Overhead:               cloudprovider.Overhead{KubeReserved: list("cpu=-1"), SystemReserved: list("memory=-1Gi"), EvictionThreshold: list("memory=-1")},
		VolumeAttachmentLimits: map[string]int64{"b": -2, "a": -1, "c": 0},
		Offerings: []cloudprovider.Offering{
			{},
			{Zone: "zone-a", CapacityType: "spot", Price: math.NaN(), Available: true},
			{Zone: "zone-a", CapacityType: "spot", Price: 0, Available: true},
			{Zone: "zone-c", CapacityType: "on-demand", Price: -1},
			{Zone: "zone-b", CapacityType: "reserved", Price: math.Inf(1), ReservationCapacity: -1},
			{Zone: "zone-b", CapacityType: "on-demand", Price: 1, ReservationID: "cr-1"},
			{Zone: "zone-b", CapacityType: "spot", Price: 1, Capacity: override("memory=-1"), Overhead: override("memory=-9223372036854775807"),
				Requirements: requirements.MustParse("topology.kubernetes.io/zone = zone-a")},
		},
	}
	it.Offerings[6].Capacity = override("memory=-1, pods=9223372036854775807")
	it.Offerings[6].Overhead = override("memory=0, pods=-1")
	err := it.Validate()
	require.EqualError(t, err, `instance type without a name: name: empty; set it to the value of node.kubernetes.io/instance-type
instance type without a name: requirements: `+it.Requirements.Without("node.kubernetes.io/instance-type", "topology.kubernetes.io/zone").String()+` contradicts itself; no node can have such a label
instance type without a name: requirements: node.kubernetes.io/instance-type = m5.large does not admit the name; use In with the name alone
instance type without a name: capacity: no pods, so that nothing fits; set pods to the number of pods a node can run
instance type without a name: capacity: resource cpu: -2; use zero or more
instance type without a name: overhead.kubeReserved: resource cpu: -1; use zero or more
instance type without a name: overhead.systemReserved: resource memory: -1Gi; use zero or more
instance type without a name: overhead.evictionThreshold: resource memory: -1; use zero or more
instance type without a name: volumeAttachmentLimits: a: -1; use zero or more, or leave the driver out for no limit
instance type without a name: volumeAttachmentLimits: b: -2; use zero or more, or leave the driver out for no limit
instance type without a name: offering 0 (?/?/?): zone: empty; set it to the value of topology.kubernetes.io/zone
instance type without a name: offering 0 (?/?/?): capacityType: empty; use spot, on-demand or reserved
instance type without a name: offering 1 (?/zone-a/spot): price: NaN; use a price in USD per hour, above zero and at most 1e+09
instance type without a name: offering 2 (?/zone-a/spot): offered twice; zone, capacity type and reservation must differ
instance type without a name: offering 2 (?/zone-a/spot): price: 0; use a price above zero, a tiny one for capacity already paid for, or set available to false while the price is unknown
instance type without a name: offering 3 (?/zone-c/on-demand): price: -1; use a price in USD per hour, above zero and at most 1e+09
instance type without a name: offering 3 (?/zone-c/on-demand): topology.kubernetes.io/zone = zone-c, but the instance type has topology.kubernetes.io/zone in (zone-a, zone-b); widen the requirements of the type
instance type without a name: offering 4 (?/zone-b/reserved): reservationID: empty; name the reservation that it draws on
instance type without a name: offering 4 (?/zone-b/reserved): reservationCapacity: -1; use zero for a full reservation
instance type without a name: offering 4 (?/zone-b/reserved): price: +Inf; use a price in USD per hour, above zero and at most 1e+09
instance type without a name: offering 5 (?/zone-b/on-demand/cr-1): reservationID: cr-1 on capacity type "on-demand"; use capacity type reserved or leave it empty
instance type without a name: offering 6 (?/zone-b/spot): requirements: `+it.Offerings[6].Labels().Without("karpenter.sh/capacity-type").String()+` contradicts itself; no node can have such a label
instance type without a name: offering 6 (?/zone-b/spot): capacity: resource memory: -1; use zero or more
instance type without a name: offering 6 (?/zone-b/spot): overhead: resource pods: -1; use zero or more
instance type without a name: offering 6 (?/zone-b/spot): allocatable: resource pods: 9223372036854775807 - -1: amount out of range; use smaller amounts`)
	require.ErrorIs(t, err, resources.ErrOverflow)
}

func TestValidateOverflow(t *testing.T) {
	it := large()
	it.Name = "100%s"
	it.Requirements = requirements.Set{}
	it.Overhead.EvictionThreshold = resources.New(map[corev1.ResourceName]int64{"memory": math.MaxInt64})
	err := it.Validate()
	require.ErrorIs(t, err, resources.ErrOverflow)
	require.ErrorContains(t, err, "instance type 100%s: overhead: resource memory: 574Mi + 9223372036854775807:")
}

func TestCheapestLaunchOption(t *testing.T) {
	it := large()
	cheapest := func(reqs string) *cloudprovider.Offering {
		options := launch.Compatible([]*cloudprovider.InstanceType{nil, it}, requirements.MustParse(reqs))
		if len(options) == 0 {
			return nil
		}
		return options[0].Offering
	}
	tests := []struct {
		reqs, want string
	}{
		{"", "m5.large/zone-a/reserved/cr-1"},
		{"karpenter.sh/capacity-type in (spot, on-demand)", "m5.large/zone-a/spot"},
		{"topology.kubernetes.io/zone = zone-b", "m5.large/zone-b/on-demand"},   // spot is not available there
		{"karpenter.sh/capacity-type = on-demand", "m5.large/zone-a/on-demand"}, // equal price: by key
		{"kubernetes.io/arch = arm64", ""},
		{"topology.kubernetes.io/zone = zone-c", ""},
		{"team = blue", "m5.large/zone-a/reserved/cr-1"}, // the type says nothing about it
	}
	for _, tt := range tests {
		got := ""
		if o := cheapest(tt.reqs); o != nil {
			got = o.Key(it.Name).String()
		}
		require.Equal(t, tt.want, got, tt.reqs)
	}
	it.Offerings[1].ReservationCapacity = 0
	o := cheapest("")
	require.Equal(t, "spot", o.CapacityType, "a full reservation is not for sale")
	it.Offerings[2].Price = math.NaN()
	o = cheapest("")
	require.Equal(t, "on-demand", o.CapacityType, "no number is not a bargain")
	require.Equal(t, "zone-a", o.Zone)
}

func TestCompatible(t *testing.T) {
	xlarge := large()
	xlarge.Name = "m5.xlarge"
	xlarge.Requirements = requirements.MustParse("kubernetes.io/arch = arm64")
	keys := func(reqs string, types ...*cloudprovider.InstanceType) (all []string) {
		for _, o := range launch.Compatible(types, requirements.MustParse(reqs)) {
			all = append(all, o.Key().String())
		}
		return all
	}
	want := []string{
		"m5.large/zone-a/reserved/cr-1", "m5.xlarge/zone-a/reserved/cr-1",
		"m5.large/zone-a/spot", "m5.xlarge/zone-a/spot",
		"m5.large/zone-a/on-demand", "m5.large/zone-b/on-demand", "m5.xlarge/zone-a/on-demand", "m5.xlarge/zone-b/on-demand",
	}
	require.Equal(t, want, keys("", large(), xlarge))
	require.Equal(t, want, keys("", xlarge, large()))
	require.Equal(t, []string{"m5.xlarge/zone-b/on-demand"}, keys("kubernetes.io/arch = arm64, topology.kubernetes.io/zone = zone-b", large(), xlarge))
	require.Empty(t, keys("kubernetes.io/arch = s390x", large(), xlarge))
	it := large()
	options := launch.Compatible([]*cloudprovider.InstanceType{it}, requirements.Set{})
	require.Same(t, it, options[0].InstanceType)
	require.Same(t, &it.Offerings[1], options[0].Offering)
}
