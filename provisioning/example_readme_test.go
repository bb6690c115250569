package provisioning_test

import (
	"context"
	"fmt"
	"log"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/fake"
	"github.com/dovetail-sdk/dovetail/provisioning"
	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
	"github.com/dovetail-sdk/dovetail/provisioning/resources"
)

// This example is shown in README.md; a policy test keeps the two alike.
func ExampleSolve() {
	pool := &v1.NodePool{ObjectMeta: metav1.ObjectMeta{Name: "general"}}
	pool.Spec.Template.Spec.Requirements = requirements.MustParse(
		`karpenter.sh/capacity-type = on-demand, kubernetes.io/arch = amd64,
		 karpenter.k8s.aws/instance-category in (c, m, r)`).NodeSelectorRequirements()

	var pods []*corev1.Pod
	for i := range 100 {
		requests := "cpu=900m, memory=2Gi"
		if i%5 == 0 {
			requests = "cpu=500m, memory=6Gi"
		}
		pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: fmt.Sprintf("web-%02d", i)}}
		pod.Spec.Containers = []corev1.Container{{Resources: corev1.ResourceRequirements{
			Requests: resources.MustParse(requests).ResourceList(),
		}}}
		pods = append(pods, pod)
	}
	pods[7].Spec.NodeSelector = map[string]string{"kubernetes.io/arch": "arm64"}

	plan, err := provisioning.Solve(context.Background(), provisioning.Input{
		NodePools:     []*v1.NodePool{pool},
		InstanceTypes: map[string][]*cloudprovider.InstanceType{"general": fake.Catalog()},
		Pods:          pods,
		Vocabulary:    fake.Vocabulary(),
	}, nil)
	if err != nil {
		log.Fatal(err)
	}
	for _, n := range plan.Create {
		cheapest := n.Options[0]
		fmt.Printf("%s: %d pods, %s in %s or %d alternatives\n", n.Name, len(n.Pods),
			cheapest.InstanceType.Name, cheapest.Offering.Zone, len(n.Options)-1)
	}
	for _, u := range plan.Unplaced {
		fmt.Printf("%s stays pending: %s\n", u.Pod.Name, u.Explanation)
	}
	fmt.Printf("%.2f USD/h, at most %.1f%% above the optimum\n", plan.Cost, 100*plan.Gap())

	// Output:
	// general-0001: 58 pods, m5a.12xlarge in us-east-1a or 788 alternatives
	// general-0002: 39 pods, m5a.8xlarge in us-east-1a or 926 alternatives
	// general-0003: 2 pods, m5a.large in us-east-1a or 1870 alternatives
	// web-07 stays pending: NodePool general: wanted kubernetes.io/arch = arm64, but have kubernetes.io/arch = amd64
	// 3.53 USD/h, at most 0.5% above the optimum
}
