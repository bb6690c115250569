package kubelet_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/cloudprovider/kubelet"
	"github.com/dovetail-sdk/dovetail/provisioning/resources"
)

const (
	mebibyte = 1 << 20
	gibibyte = 1 << 30
)

// What nodes of EC2 instance types report as allocatable, with the defaults of
// Amazon Linux 2023 and a disk of 20 GiB.
func TestEKSGolden(t *testing.T) {
	for _, test := range []struct {
		name                             string
		cpus, memoryMiB, interfaces, ips int64
		want                             string
	}{
		{"a1.medium", 1, 2048 - 64, 2, 4, "cpu=940m, ephemeral-storage=17Gi, memory=1392Mi, pods=8"},
		{"m5.large", 2, 8192, 3, 10, "cpu=1930m, ephemeral-storage=17Gi, memory=6903Mi, pods=29"},
		{"c5.xlarge", 4, 8192, 4, 15, "cpu=3920m, ephemeral-storage=17Gi, memory=6584Mi, pods=58"},
		{"m6g.medium", 1, 4096 - 64, 2, 4, "cpu=940m, ephemeral-storage=17Gi, memory=3286Mi, pods=8"},
		{"g5g.xlarge", 4, 8192 - 64, 4, 15, "cpu=3920m, ephemeral-storage=17Gi, memory=6525Mi, pods=58"},
		{"t3.micro", 2, 1024, 2, 2, "cpu=1930m, ephemeral-storage=17Gi, memory=548Mi, pods=4"},
		{"inf2.xlarge", 4, 16384, 4, 15, "cpu=3920m, ephemeral-storage=17Gi, memory=14162Mi, pods=58"},
		{"trn1.2xlarge", 8, 32768, 4, 15, "cpu=7910m, ephemeral-storage=17Gi, memory=29317Mi, pods=58"},
		{"p4d.24xlarge", 96, 1179648, 15, 50, "cpu=95690m, ephemeral-storage=17Gi, memory=1082712Mi, pods=737"},
		{"trn2.48xlarge", 192, 2097152, 2, 50, "cpu=191450m, ephemeral-storage=17Gi, memory=1938410Mi, pods=100"},
		{"m5.metal", 96, 393216, 15, 50, "cpu=95690m, ephemeral-storage=17Gi, memory=355262Mi, pods=737"},
	} {
		t.Run(test.name, func(t *testing.T) {
			capacity := resources.New(map[corev1.ResourceName]int64{
				corev1.ResourceCPU:              test.cpus * 1000,
				corev1.ResourceMemory:           kubelet.VisibleMemory(test.memoryMiB*mebibyte, 750),
				corev1.ResourceEphemeralStorage: 20 * gibibyte,
				corev1.ResourcePods:             kubelet.AddressPods(test.interfaces, test.ips, 0),
			})
			machine := &cloudprovider.InstanceType{Capacity: capacity, Overhead: kubelet.EKS().Overhead(capacity, nil)}
			got, err := machine.Allocatable()
			require.NoError(t, err)
			require.Equal(t, test.want, got.String())
		})
	}
}

// From the tables that the services publish.
func TestServices(t *testing.T) {
	for _, test := range []struct {
		name          string
		rules         kubelet.Rules
		cpus, gib     int64
		pods          int64
		milli, memory int64
	}{
		{"eks 96 cpus", kubelet.EKS(), 96, 384, 110, 310, 255 + 11*110},
		{"eks 192 cpus", kubelet.EKS(), 192, 384, 0, 550, 255},
		{"gke 8 GiB", kubelet.GKE(), 2, 8, 110, 70, 1024 + 819},
		{"gke 16 GiB", kubelet.GKE(), 4, 16, 110, 80, 1024 + 819 + 819},
		{"gke 256 GiB", kubelet.GKE(), 64, 256, 110, 230, 12_165},
	} {
		t.Run(test.name, func(t *testing.T) {
			require.Equal(t, test.milli, test.rules.CPU.Of(test.cpus*1000, test.pods))
			require.Equal(t, test.memory, test.rules.Memory.Of(test.gib*gibibyte, test.pods)/mebibyte)
		})
	}
	require.Equal(t, int64(255), kubelet.GKE().Memory.Of(600*mebibyte, 8)/mebibyte, "small machines")
	require.Equal(t, int64(50), kubelet.GKE().EphemeralStorage.Of(100*gibibyte, 0)/gibibyte-(6+35-50), "6 GiB and 35%")
	require.Equal(t, int64(5), kubelet.GKE().EphemeralStorage.Of(10*gibibyte, 0)/gibibyte, "at the most a half")
	require.Equal(t, int64(100), kubelet.GKE().EphemeralStorage.Of(1000*gibibyte, 0)/gibibyte, "at the most 100 GiB")
}

func TestOverheadConfig(t *testing.T) {
	capacity := resources.MustParse("cpu=4, memory=16Gi, ephemeral-storage=100Gi, pods=58")
	thresholds, err := kubelet.ParseThresholds(map[string]string{
		"memory.available": "5%", "nodefs.available": "1Gi", "imagefs.available": "15%", "pid.available": "10%"})
	require.NoError(t, err)
	reserved, err := kubelet.ParseReserved("kubeReserved", map[string]string{"memory": "1Gi", "pid": "1000"})
	require.NoError(t, err)
	for _, test := range []struct {
		name                   string
		config                 *kubelet.Config
		kube, system, eviction string
	}{
		{"nothing set", nil, "cpu=80m, ephemeral-storage=1Gi, memory=893Mi", "", "ephemeral-storage=10Gi, memory=100Mi"},
		{"all set",
			&kubelet.Config{KubeReserved: reserved, SystemReserved: resources.MustParse("cpu=100m"), EvictionHard: thresholds},
			"cpu=80m, ephemeral-storage=1Gi, memory=1Gi, pid=1k", "cpu=100m", "ephemeral-storage=1Gi, memory=858993460"},
		{"reserved for fewer pods", &kubelet.Config{ReservedPods: 29},
			"cpu=80m, ephemeral-storage=1Gi, memory=574Mi", "", "ephemeral-storage=10Gi, memory=100Mi"},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := kubelet.EKS().Overhead(capacity, test.config)
			require.Equal(t, strings.ReplaceAll(test.kube, "1k", "1000"), got.KubeReserved.String())
			require.Equal(t, test.system, got.SystemReserved.String())
			require.Equal(t, test.eviction, got.EvictionThreshold.String())
		})
	}
}

func TestThreshold(t *testing.T) {
	for _, test := range []struct {
		text, canonical string
		capacity, want  int64
	}{
		{"10%", "10%", 20 * gibibyte, 2 * gibibyte},
		{"10%", "10%", 101, 11}, // rounded up
		{"0%", "0%", 100, 0},
		{"100%", "100%", 100, 0}, // off
		{"99.999999%", "99.999999%", 100, 100},
		{"012.50%", "12.5%", 1000, 125},
		{"7.%", "7%", 1000, 70},
		{".5%", "0.5%", 1000, 5},
		{"+5%", "5%", 1000, 50},
		{"1e1%", "10%", 1000, 100},
		{"-0%", "0%", 1000, 0},
		{"12.3456789%", "12.345679%", 1000, 124},
		{"99.9999999%", "99.999999%", 100, 100},
		{"1e00005", "100000", 1, 100_000},
		{"100Mi", "100Mi", 1, 100 * mebibyte},
		{"1.5", "2", 1, 2}, // rounded up
		{"0", "0", 100, 0},
		{"50%", "50%", math.MaxInt64, math.MaxInt64/2 + 1},
		{"50%", "50%", -5, 0},
	} {
		got, err := kubelet.ParseThreshold(test.text)
		require.NoError(t, err, test.text)
		require.Equal(t, test.canonical, got.String())
		require.Equal(t, test.want, got.Of(test.capacity), test.text)
	}
	for _, text := range []string{"", "%", "-1%", "101%", "nan%", "100.000001%", " 5%", "5 %", "-1", "x", "99999999999999999999",
		"99999999999999999999%", "+-5%"} {
		_, err := kubelet.ParseThreshold(text)
		require.ErrorContains(t, err, fmt.Sprintf("%q", text))
	}
	// Without a bound these would take minutes.
	for _, text := range []string{"1e-99999999", "1E999999999", "1e-10000", strings.Repeat("1", 101)} {
		_, err := kubelet.ParseThreshold(text)
		require.ErrorContains(t, err, "write the amount out")
	}
	for text, want := range map[string]int64{"1e3": 1000, "1E-123": 1, "1Ei": 1 << 60} {
		got, err := kubelet.ParseThreshold(text)
		require.NoError(t, err)
		require.Equal(t, want, got.Of(1))
	}
	require.Equal(t, kubelet.Percent(100), kubelet.Percent(1000))
	require.Equal(t, kubelet.Amount(0), kubelet.Amount(-1))
	require.Equal(t, kubelet.Threshold{}, kubelet.Amount(0))
}

func TestParseFaults(t *testing.T) {
	_, err := kubelet.ParseThresholds(map[string]string{"memory.available": "lots", "disk": "1%", "nodefs.available": "10%"})
	require.EqualError(t, err, `evictionHard: "disk" is no signal; use one of [imagefs.available imagefs.inodesFree memory.available nodefs.available nodefs.inodesFree pid.available]
evictionHard: memory.available: threshold "lots": use a percentage such as 10%, or a quantity such as 100Mi`)
	_, err = kubelet.ParseReserved("systemReserved", map[string]string{"cpu": "-1", "gpu": "1", "memory": "1Gi, cpu=2", "pid": "x"})
	require.EqualError(t, err, `systemReserved: cpu: "-1" is negative; use zero or more
systemReserved: "gpu" cannot be reserved; use cpu, memory, ephemeral-storage or pid
systemReserved: memory: "1Gi, cpu=2" is no quantity; use one such as 100m or 1Gi
systemReserved: pid: "x" is no quantity; use one such as 100m or 1Gi`)
}

func TestPods(t *testing.T) {
	for _, test := range []struct {
		name      string
		got, want int64
	}{
		{"three interfaces", kubelet.AddressPods(3, 10, 0), 29},
		{"one reserved", kubelet.AddressPods(3, 10, 1), 20},
		{"all reserved", kubelet.AddressPods(3, 10, 3), 0},
		{"negative", kubelet.AddressPods(-1, -1, -1), 0},
		{"prefixes", kubelet.PrefixPods(3, 10, 0, 16), 434},
		{"supported, small", kubelet.SupportedPods(434, 2000), 110},
		{"supported, large", kubelet.SupportedPods(434, 30_000), 250},
		{"few anyway", kubelet.SupportedPods(29, 96_000), 29},
		{"range /24", kubelet.RangePods(24, 32), 128},
		{"range /32", kubelet.RangePods(32, 32), 0},
		{"range /64 of IPv6", kubelet.RangePods(64, 128), math.MaxInt64},
		{"range /66 of IPv6", kubelet.RangePods(66, 128), 1 << 61},
		{"range below zero", kubelet.RangePods(-1, 32), 0},
		{"per core", kubelet.PodsPerCore(110, 10, 3999), 30},
		{"no limit per core", kubelet.PodsPerCore(110, 0, 4000), 110},
		{"overflow", kubelet.PrefixPods(math.MaxInt64, math.MaxInt64, 0, math.MaxInt64), math.MaxInt64},
		{"memory", kubelet.VisibleMemory(8192*mebibyte, 750), 7577 * mebibyte},
		{"no memory", kubelet.VisibleMemory(-1, 750), 0},
		{"more than all", kubelet.VisibleMemory(mebibyte, 20_000), 0},
	} {
		require.Equal(t, test.want, test.got, test.name)
	}
}

// A larger machine keeps no less, nothing overflows, and the result lies within
// the bounds.
func TestLawReserveGrows(t *testing.T) {
	amounts := []int64{math.MinInt64, -1, 0, 1, 999, 1000, 4001, gibibyte - 1, gibibyte, 130 * gibibyte, math.MaxInt64 / 2, math.MaxInt64}
	for name, rules := range map[string]kubelet.Rules{"eks": kubelet.EKS(), "gke": kubelet.GKE()} {
		for _, r := range []kubelet.Reserve{rules.CPU, rules.Memory, rules.EphemeralStorage} {
			r.Small, r.SmallBelow = 0, 0 // a small machine may keep more than a larger one
			for _, pods := range amounts {
				var before int64
				for _, capacity := range amounts {
					got := r.Of(capacity, pods)
					require.GreaterOrEqual(t, got, before, "%s %d %d", name, capacity, pods)
					before = got
				}
			}
		}
	}
}

func FuzzParseThreshold(f *testing.F) {
	for _, seed := range []string{"10%", "12.5%", "100Mi", "1e3", "-5", "0.000001%", "", "%", "1e-99999999"} {
		f.Add(seed, int64(1000))
	}
	f.Fuzz(func(t *testing.T, text string, capacity int64) {
		parsed, err := kubelet.ParseThreshold(text)
		if err != nil {
			return
		}
		again, err := kubelet.ParseThreshold(parsed.String())
		require.NoError(t, err)
		require.Equal(t, parsed, again)
		require.GreaterOrEqual(t, parsed.Of(capacity), int64(0))
	})
}

func FuzzParseReserved(f *testing.F) {
	f.Add("cpu", "100m")
	f.Add("memory", "1Gi, cpu=2")
	f.Fuzz(func(t *testing.T, name, text string) {
		list, err := kubelet.ParseReserved("kubeReserved", map[string]string{name: text})
		if err == nil {
			require.Equal(t, 1, list.Len())
			require.Empty(t, list.Negative())
		}
	})
}
