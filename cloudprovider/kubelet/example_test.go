package kubelet_test

import (
	"fmt"

	"github.com/dovetail-sdk/dovetail/cloudprovider/kubelet"
	"github.com/dovetail-sdk/dovetail/provisioning/resources"
)

func Example() {
	capacity := resources.MustParse("cpu=2, memory=7577Mi, ephemeral-storage=20Gi, pods=29")
	overhead := kubelet.EKS().Overhead(capacity, nil)
	fmt.Println("kube-reserved:", overhead.KubeReserved)
	fmt.Println("eviction:     ", overhead.EvictionThreshold)
	// Output:
	// kube-reserved: cpu=70m, ephemeral-storage=1Gi, memory=574Mi
	// eviction:      ephemeral-storage=2Gi, memory=100Mi
}

func ExampleRules_Overhead() {
	capacity := resources.MustParse("cpu=8, memory=32Gi, ephemeral-storage=100Gi, pods=110")
	thresholds, err := kubelet.ParseThresholds(map[string]string{"memory.available": "2%"})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, service := range []struct {
		name  string
		rules kubelet.Rules
	}{{"EKS", kubelet.EKS()}, {"GKE", kubelet.GKE()}} {
		overhead := service.rules.Overhead(capacity, &kubelet.Config{EvictionHard: thresholds})
		total, _ := overhead.Total()
		fmt.Println(service.name, total)
	}
	// Output:
	// EKS cpu=90m, ephemeral-storage=11Gi, memory=2223358608
	// GKE cpu=90m, ephemeral-storage=51Gi, memory=4509715661
}

func ExampleCurve_Of() {
	curve := kubelet.Curve{{UpTo: 1000, Share: 600}, {UpTo: 2000, Share: 100}, {Share: 25}}
	fmt.Println(curve.Of(500), curve.Of(2000), curve.Of(10_000))
	// Output:
	// 30 70 90
}

func ExampleParseThreshold() {
	for _, text := range []string{"10%", "100Mi", "ten"} {
		threshold, err := kubelet.ParseThreshold(text)
		fmt.Println(threshold.Of(1<<30), err)
	}
	// Output:
	// 107374183 <nil>
	// 104857600 <nil>
	// 0 threshold "ten": use a percentage such as 10%, or a quantity such as 100Mi
}

func ExampleParseReserved() {
	fmt.Println(kubelet.ParseReserved("systemReserved", map[string]string{"memory": "200Mi", "cpu": "100m"}))
	fmt.Println(kubelet.ParseReserved("systemReserved", map[string]string{"gpu": "1"}))
	// Output:
	// cpu=100m, memory=200Mi <nil>
	//  systemReserved: "gpu" cannot be reserved; use cpu, memory, ephemeral-storage or pid
}

func ExamplePodsPerCore() {
	fmt.Println(kubelet.PodsPerCore(110, 8, 4000))
	fmt.Println(kubelet.PodsPerCore(29, 8, 4000))
	// Output:
	// 32
	// 29
}

func ExampleThreshold_Of() {
	for _, t := range []kubelet.Threshold{kubelet.Amount(100 << 20), kubelet.Percent(10), kubelet.Percent(100)} {
		fmt.Println(t, t.Of(4<<30))
	}
	// Output:
	// 100Mi 104857600
	// 10% 429496730
	// 100% 0
}

func ExampleAddressPods() {
	fmt.Println(kubelet.AddressPods(3, 10, 0))
	fmt.Println(kubelet.SupportedPods(kubelet.PrefixPods(3, 10, 0, 16), 2000))
	fmt.Println(kubelet.RangePods(24, 32))
	// Output:
	// 29
	// 110
	// 128
}

func ExampleVisibleMemory() {
	fmt.Println(kubelet.VisibleMemory(8192<<20, 750)>>20, "MiB")
	// Output:
	// 7577 MiB
}
