package replay_test

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/provisioning"
	"github.com/dovetail-sdk/dovetail/provisioning/replay"
	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
	"github.com/dovetail-sdk/dovetail/provisioning/resources"
)

// shop has three web pods that go to any zone and two databases that only zone b has
// nodes for; a node holds four pods.
func shop() provisioning.Input {
	pool := &v1.NodePool{ObjectMeta: metav1.ObjectMeta{Name: "general"}}
	pool.Spec.Template.Spec.NodeClassRef = &v1.NodeClassReference{Group: "example.com", Kind: "NodeClass", Name: "default"}
	offer := func(zone string, price float64) cloudprovider.Offering {
		return cloudprovider.Offering{Zone: zone, CapacityType: v1.CapacityTypeOnDemand, Price: price, Available: true}
	}
	large := &cloudprovider.InstanceType{
		Name:         "large",
		Requirements: requirements.MustParse("kubernetes.io/arch = amd64, kubernetes.io/os = linux"),
		Capacity:     resources.MustParse("cpu=4, memory=16Gi, pods=29"),
		Offerings:    []cloudprovider.Offering{offer("zone-a", 0.20), offer("zone-b", 0.22)},
	}
	in := provisioning.Input{NodePools: []*v1.NodePool{pool}, InstanceTypes: map[string][]*cloudprovider.InstanceType{"general": {large}}}
	for _, name := range []string{"web-1", "web-2", "web-3", "web-4", "db-1", "db-2", "db-3", "db-4"} {
		pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name}}
		pod.Spec.Containers = []corev1.Container{{Name: "main", Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{
			corev1.ResourceCPU: resource.MustParse("1"), corev1.ResourceMemory: resource.MustParse("4Gi")}}}}
		if name[:2] == "db" {
			pod.Spec.NodeSelector = map[string]string{corev1.LabelTopologyZone: "zone-b"}
			priority := int32(-1)
			pod.Spec.Priority = &priority
		}
		in.Pods = append(in.Pods, pod)
	}
	return in
}

func ExamplePlan() {
	ctx := context.Background()
	in := shop()
	plan, err := provisioning.Solve(ctx, in, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, reserved := range []bool{false, true} {
		report, err := replay.Plan(ctx, in, plan, &replay.Options{Reserved: reserved, Runs: 3})
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Printf("reserved %t: planned %.2f, expected %.2f, worst %.2f USD/h\n", reserved, report.Planned, report.Expected(), report.Worst())
	}
	// Output:
	// reserved false: planned 0.42, expected 0.57, worst 0.64 USD/h
	// reserved true: planned 0.42, expected 0.42, worst 0.42 USD/h
}
