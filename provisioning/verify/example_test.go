package verify_test

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/provisioning"
	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
	"github.com/dovetail-sdk/dovetail/provisioning/resources"
	"github.com/dovetail-sdk/dovetail/provisioning/verify"
)

// verifyExampleInput has one pool, one instance type and one pod to place.
func verifyExampleInput() provisioning.Input {
	pool := &v1.NodePool{ObjectMeta: metav1.ObjectMeta{Name: "general"}}
	pool.Spec.Template.Spec.NodeClassRef = &v1.NodeClassReference{Group: "example.com", Kind: "NodeClass", Name: "default"}

	medium := &cloudprovider.InstanceType{
		Name:         "medium",
		Requirements: requirements.MustParse("kubernetes.io/arch = amd64, kubernetes.io/os = linux"),
		Capacity:     resources.MustParse("cpu=2, memory=4Gi, pods=29"),
		Offerings: []cloudprovider.Offering{
			{Zone: "zone-a", CapacityType: v1.CapacityTypeOnDemand, Price: 0.05, Available: true},
		},
	}

	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "cart-1"}}
	pod.Spec.Containers = []corev1.Container{{Name: "cart", Resources: corev1.ResourceRequirements{
		Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("1500m")},
	}}}
	return provisioning.Input{
		NodePools:     []*v1.NodePool{pool},
		InstanceTypes: map[string][]*cloudprovider.InstanceType{"general": {medium}},
		Pods:          []*corev1.Pod{pod},
	}
}

func ExamplePlan() {
	in := verifyExampleInput()
	plan, err := provisioning.Solve(context.Background(), in, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("as planned:", len(verify.Plan(in, plan, nil)))

	// Meanwhile the zone has sold out and the pod has grown.
	in.InstanceTypes["general"][0].Offerings[0].Available = false
	in.Pods[0].Spec.Containers[0].Resources.Requests[corev1.ResourceCPU] = resource.MustParse("3")
	for _, violation := range verify.Plan(in, plan, nil) {
		fmt.Println(violation)
	}
	// Output:
	// as planned: 0
	// accounts: node general-0001: Requests says 1500m of cpu, its pods ask for 3
	// offering: node general-0001: option medium/zone-a/on-demand is not available
	// resources: node general-0001: its pods ask for 3 of cpu and DaemonSets for 0, but option medium/zone-a/on-demand can allocate 2
}

func ExampleUnplaced() {
	in := verifyExampleInput()
	plan := &provisioning.Plan{Unplaced: []provisioning.Unplaced{
		{Pod: in.Pods[0], Explanation: &provisioning.Explanation{Cause: provisioning.CauseNodePools}},
	}}
	for _, violation := range verify.Unplaced(in, plan, nil) {
		fmt.Println(violation)
	}
	// Output:
	// overlooked: pod shop/cart-1: it is left pending, but NodePool general could launch medium/zone-a/on-demand for it alone
}

func ExampleViolation_String() {
	fmt.Println(verify.Violation{
		Rule: verify.RuleTaints, Node: "general-0001", Pod: "shop/cart-1",
		Message: "it does not tolerate dedicated=batch:NoSchedule of NodePool general",
	})
	// Output:
	// taints: node general-0001: pod shop/cart-1: it does not tolerate dedicated=batch:NoSchedule of NodePool general
}
