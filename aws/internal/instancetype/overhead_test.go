package instancetype_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/dovetail-sdk/dovetail/amiselect"
	awsv1 "github.com/dovetail-sdk/dovetail/aws/api/v1"
	"github.com/dovetail-sdk/dovetail/aws/internal/instancetype"
	"github.com/dovetail-sdk/dovetail/provisioning/resources"
)

func m5largeMachine() instancetype.Machine {
	return instancetype.Machine{VCPUs: 2, MemoryMiB: 8192, Prefixes: true, Interfaces: 3, Addresses: 10}
}

func kubeletClass(family amiselect.Family, kubelet *awsv1.KubeletConfiguration) *awsv1.EC2NodeClass {
	c := &awsv1.EC2NodeClass{}
	c.Name = "nodes"
	c.Spec.AMIFamily, c.Spec.Kubelet = &family, kubelet
	return c
}

func settings(t *testing.T, c *awsv1.EC2NodeClass) instancetype.Settings {
	t.Helper()
	s, err := instancetype.NewSettings(c, nil)
	require.NoError(t, err)
	return s
}

func TestMemory(t *testing.T) {
	for _, c := range []struct {
		name    string
		machine instancetype.Machine
		lost    string
		mib     int64
	}{
		{"m5.large", m5largeMachine(), "0.075", 7577},
		{"g5g.xlarge", instancetype.Machine{MemoryMiB: 8192, Arm64: true}, "0.075", 7518},
		{"nothing is lost", m5largeMachine(), "0", 8192},
		{"a whole number is not rounded up", instancetype.Machine{MemoryMiB: 8000}, "0.075", 7400},
		{"the least share is a MiB", m5largeMachine(), "0.000001", 8191},
		{"nearly all is lost", m5largeMachine(), "0.999999", 0},
		{"six decimals", instancetype.Machine{MemoryMiB: 1_000_000}, "0.071251", 928_749},
		{"less than Arm keeps", instancetype.Machine{MemoryMiB: 32, Arm64: true}, "0.075", 0},
		{"no memory", instancetype.Machine{MemoryMiB: -5}, "0.075", 0},
		{"beyond any machine", instancetype.Machine{MemoryMiB: 1 << 62}, "0.5", 1 << 39},
	} {
		lost, err := instancetype.ParseShare(c.lost)
		require.NoError(t, err, c.name)
		require.Equal(t, c.mib<<20, c.machine.Memory(lost), c.name)
	}
}

func TestParseShare(t *testing.T) {
	for text, want := range map[string]instancetype.Share{
		"0": 0, "0.075": instancetype.DefaultMemoryShare, ".5": 500_000, "0.": 0, "00.1": 100_000, "0.999999": 999_999,
	} {
		got, err := instancetype.ParseShare(text)
		require.NoError(t, err, text)
		require.Equal(t, want, got, text)
	}
	for _, text := range []string{"", ".", "1", "1.0", "-0.1", "+0.1", "0.0000001", "7.5%", "0.0.1", "1e-2", "0,075", "9999999999"} {
		_, err := instancetype.ParseShare(text)
		require.EqualError(t, err, fmt.Sprintf("share of memory %q: use a number from 0 up to 1, with at most six decimals, such as 0.075", text))
	}
	require.Equal(t, "0.075", instancetype.DefaultMemoryShare.String())
	require.Equal(t, "0", instancetype.Share(-1).String())
	require.Equal(t, "0.999999", instancetype.Share(1_000_000).String())
}

func TestSettingsPods(t *testing.T) {
	big := instancetype.Machine{VCPUs: 96, Prefixes: true, Interfaces: 15, Addresses: 50}
	small := instancetype.Machine{VCPUs: 2, Interfaces: 2, Addresses: 2}
	efa := kubeletClass(amiselect.FamilyAL2023, nil)
	efa.Spec.NetworkInterfaces = []awsv1.NetworkInterface{
		{InterfaceType: awsv1.InterfaceTypeInterface},
		{DeviceIndex: 1, InterfaceType: awsv1.InterfaceTypeEFAOnly},
		{NetworkCardIndex: 1, InterfaceType: awsv1.InterfaceTypeEFAOnly},
	}
	prefixes := instancetype.Cluster{PrefixDelegation: true}
	perCore := &awsv1.KubeletConfiguration{PodsPerCore: new(int32(4))}
	for _, c := range []struct {
		name    string
		class   *awsv1.EC2NodeClass
		machine instancetype.Machine
		cluster instancetype.Cluster
		want    int64
	}{
		{"by addresses", kubeletClass(amiselect.FamilyAL2023, nil), m5largeMachine(), instancetype.Cluster{}, 29},
		{"an interface is reserved", kubeletClass(amiselect.FamilyAL2023, nil), m5largeMachine(), instancetype.Cluster{ReservedInterfaces: 1}, 20},
		{"all interfaces are reserved", kubeletClass(amiselect.FamilyAL2023, nil), m5largeMachine(), instancetype.Cluster{ReservedInterfaces: 3}, 0},
		{"efa-only on the default card", efa, m5largeMachine(), instancetype.Cluster{}, 20},
		{"both", efa, m5largeMachine(), instancetype.Cluster{ReservedInterfaces: 1}, 11},
		{"maxPods", kubeletClass(amiselect.FamilyAL2, &awsv1.KubeletConfiguration{MaxPods: new(intstr.FromInt32(110))}), m5largeMachine(), instancetype.Cluster{ReservedInterfaces: 3}, 110},
		{"maxPods of zero", kubeletClass(amiselect.FamilyAL2, &awsv1.KubeletConfiguration{MaxPods: new(intstr.FromInt32(0))}), m5largeMachine(), instancetype.Cluster{}, 0},
		{"podsPerCore", kubeletClass(amiselect.FamilyAL2023, perCore), m5largeMachine(), instancetype.Cluster{}, 8},
		{"podsPerCore above", kubeletClass(amiselect.FamilyAL2023, perCore), big, instancetype.Cluster{}, 384},
		{"podsPerCore of zero", kubeletClass(amiselect.FamilyAL2023, &awsv1.KubeletConfiguration{PodsPerCore: new(int32(0))}), m5largeMachine(), instancetype.Cluster{}, 29},
		{"podsPerCore unknown to Bottlerocket", kubeletClass(amiselect.FamilyBottlerocket, perCore), m5largeMachine(), instancetype.Cluster{}, 29},
		{"Windows", kubeletClass(amiselect.FamilyWindows2022, nil), m5largeMachine(), instancetype.Cluster{ReservedInterfaces: 3}, 110},
		{"Windows with podsPerCore", kubeletClass(amiselect.FamilyWindows2022, perCore), m5largeMachine(), instancetype.Cluster{}, 8},
		{"Custom", kubeletClass(amiselect.FamilyCustom, nil), m5largeMachine(), instancetype.Cluster{}, 29},
		{"no class", nil, m5largeMachine(), instancetype.Cluster{}, 29},
		{"prefixes, bounded", kubeletClass(amiselect.FamilyAL2023, nil), m5largeMachine(), prefixes, 110},
		{"prefixes, large", kubeletClass(amiselect.FamilyAL2023, nil), big, prefixes, 250},
		{"prefixes, few", kubeletClass(amiselect.FamilyAL2023, nil), instancetype.Machine{VCPUs: 2, Prefixes: true, Interfaces: 2, Addresses: 2}, prefixes, 34},
		{"no prefixes on such machines", kubeletClass(amiselect.FamilyAL2023, nil), small, prefixes, 4},
		{"prefixes do not matter on Windows", kubeletClass(amiselect.FamilyWindows2019, nil), m5largeMachine(), prefixes, 110},
		{"a negative reserve is none", kubeletClass(amiselect.FamilyAL2023, nil), m5largeMachine(), instancetype.Cluster{ReservedInterfaces: -4}, 29},
	} {
		require.Equal(t, c.want, settings(t, c.class).Pods(c.machine, c.cluster), c.name)
	}
}

func TestOverhead(t *testing.T) {
	capacity := resources.MustParse("cpu=2, memory=7577Mi, ephemeral-storage=20Gi, pods=29")
	of110 := capacity.With(corev1.ResourcePods, 110)
	max110 := &awsv1.KubeletConfiguration{MaxPods: new(intstr.FromInt32(110))}
	for _, c := range []struct {
		name                    string
		class                   *awsv1.EC2NodeClass
		capacity                resources.List
		kube, system, threshold string
	}{
		{"AL2023", kubeletClass(amiselect.FamilyAL2023, nil), capacity,
			"cpu=70m, memory=574Mi, ephemeral-storage=1Gi", "", "memory=100Mi, ephemeral-storage=2Gi"},
		{"AL2023 reserves for addresses, not for maxPods", kubeletClass(amiselect.FamilyAL2023, max110), of110,
			"cpu=70m, memory=574Mi, ephemeral-storage=1Gi", "", "memory=100Mi, ephemeral-storage=2Gi"},
		{"Custom as well", kubeletClass(amiselect.FamilyCustom, max110), of110,
			"cpu=70m, memory=574Mi, ephemeral-storage=1Gi", "", "memory=100Mi, ephemeral-storage=2Gi"},
		{"Bottlerocket reserves for maxPods", kubeletClass(amiselect.FamilyBottlerocket, max110), of110,
			"cpu=70m, memory=1465Mi, ephemeral-storage=1Gi", "", "memory=100Mi, ephemeral-storage=2Gi"},
		{"Windows reserves for its pods", kubeletClass(amiselect.FamilyWindows2022, nil), of110,
			"cpu=70m, memory=1465Mi, ephemeral-storage=1Gi", "", "memory=100Mi, ephemeral-storage=2Gi"},
		{"the class sets some", kubeletClass(amiselect.FamilyAL2023, &awsv1.KubeletConfiguration{
			KubeReserved:   map[string]string{"memory": "300Mi", "pid": "100"},
			SystemReserved: map[string]string{"cpu": "100m"},
			EvictionHard:   map[string]string{"memory.available": "5%", "nodefs.available": "100%", "pid.available": "10%"},
			EvictionSoft:   map[string]string{"memory.available": "50%"},
		}), capacity, "cpu=70m, memory=300Mi, ephemeral-storage=1Gi, pid=100", "cpu=100m", "memory=397253018, ephemeral-storage=0"},
	} {
		got := settings(t, c.class).Overhead(m5largeMachine(), c.capacity)
		require.Equal(t, resources.MustParse(c.kube).String(), got.KubeReserved.String(), c.name)
		require.Equal(t, resources.MustParse(c.system).String(), got.SystemReserved.String(), c.name)
		require.Equal(t, resources.MustParse(c.threshold).String(), got.EvictionThreshold.String(), c.name)
	}
}

// An image that reserves for addresses and has none reserves for no pod, whatever
// the number of pods is set to.
func TestOverheadWithoutAddresses(t *testing.T) {
	s := settings(t, kubeletClass(amiselect.FamilyAL2023, &awsv1.KubeletConfiguration{MaxPods: new(intstr.FromInt32(110))}))
	got := s.Overhead(instancetype.Machine{VCPUs: 1}, resources.MustParse("cpu=1, memory=1Gi, pods=110"))
	require.Equal(t, int64(255<<20), got.KubeReserved.Get(corev1.ResourceMemory))
}

func TestSettingsThatCannotBeRead(t *testing.T) {
	_, err := instancetype.NewSettings(kubeletClass(amiselect.FamilyAL2023, &awsv1.KubeletConfiguration{
		MaxPods:        new(intstr.FromInt32(-1)),
		PodsPerCore:    new(int32(-2)),
		KubeReserved:   map[string]string{"memory": "lots"},
		SystemReserved: map[string]string{"gpu": "1"},
		EvictionHard:   map[string]string{"memory.available": "110%"},
	}), nil)
	require.Error(t, err)
	require.True(t, strings.HasPrefix(err.Error(), "EC2NodeClass nodes: spec.kubelet: "))
	for _, part := range []string{"maxPods: -1", "podsPerCore: -2", "kubeReserved: memory", `systemReserved: "gpu"`, "memory.available"} {
		require.ErrorContains(t, err, part)
	}
	_, err = instancetype.NewSettings(kubeletClass(amiselect.FamilyAL2023, &awsv1.KubeletConfiguration{
		EvictionHard: map[string]string{"memory.available": "1e-99999999"}, // minutes of work
	}), nil)
	require.ErrorContains(t, err, `evictionHard: memory.available: "1e-99999999": write the amount out`)
}

func TestClusterValidate(t *testing.T) {
	require.NoError(t, instancetype.DefaultCluster().Validate())
	require.NoError(t, instancetype.Cluster{}.Validate())
	err := instancetype.Cluster{ReservedInterfaces: -1, MemoryLost: 1_000_000}.Validate()
	require.ErrorContains(t, err, "reserved network interfaces: -1")
	require.ErrorContains(t, err, "memory lost: 1000000 millionths; use 0 to 999999")
}
