package instancetype_test

import (
	"fmt"
	"time"

	"github.com/dovetail-sdk/dovetail/amiselect"
	awsv1 "github.com/dovetail-sdk/dovetail/aws/api/v1"
	"github.com/dovetail-sdk/dovetail/aws/internal/instancetype"
	"github.com/dovetail-sdk/dovetail/provisioning/resources"
)

// What a node of m5.large holds, and what it keeps.
func ExampleNewSettings() {
	family := amiselect.FamilyAL2023
	class := &awsv1.EC2NodeClass{}
	class.Spec.AMIFamily = &family
	settings, err := instancetype.NewSettings(class, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	machine := instancetype.Machine{VCPUs: 2, MemoryMiB: 8192, Prefixes: true, Interfaces: 3, Addresses: 10}
	cluster := instancetype.DefaultCluster()

	pods := settings.Pods(machine, cluster)
	capacity := resources.MustParse(fmt.Sprintf("cpu=2, memory=%d, pods=%d", machine.Memory(cluster.MemoryLost), pods))
	fmt.Println(capacity)
	fmt.Println(settings.Overhead(machine, capacity).KubeReserved)
	// Output:
	// cpu=2, memory=7577Mi, pods=29
	// cpu=70m, ephemeral-storage=1Gi, memory=574Mi
}

func ExampleParseShare() {
	share, err := instancetype.ParseShare("0.075")
	fmt.Println(share, err)
	_, err = instancetype.ParseShare("7.5%")
	fmt.Println(err)
	// Output:
	// 0.075 <nil>
	// share of memory "7.5%": use a number from 0 up to 1, with at most six decimals, such as 0.075
}

// A node that reports less than another replaces what was known.
func ExampleLearned() {
	now := time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)
	nodes := instancetype.Nodes{InstanceType: "m5.large", Image: "ami-1"}

	var learned instancetype.Learned
	for _, mib := range []int64{7700, 7690, 7705} {
		var verdict instancetype.Verdict
		learned, verdict = learned.Observe(instancetype.Observation{Nodes: nodes, Memory: mib << 20, At: now}, 8192)
		fmt.Println(mib, verdict)
	}
	memory, known := learned.Memory(now, nodes)
	fmt.Println(memory>>20, known)
	// Output:
	// 7700 New
	// 7690 Lower
	// 7705 Higher
	// 7690 true
}

func ExampleParseLearned() {
	learned, err := instancetype.ParseLearned([]byte(`{"version": 1, "nodes": [
		{"instanceType": "m5.large", "image": "ami-1", "memoryBytes": 8074035200, "at": "2026-01-02T12:00:00Z"}
	]}`))
	fmt.Println(learned.All(), err)
	_, err = instancetype.ParseLearned([]byte(`{"version": 2}`))
	fmt.Println(err)
	// Output:
	// [m5.large with ami-1: 8074035200 bytes] <nil>
	// learned memory: version: 2; use 1
}
