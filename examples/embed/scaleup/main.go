// Command scaleup prints which nodes to launch for pending pods.
package main

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
	"github.com/dovetail-sdk/dovetail/provisioning/resources"
)

const manifest = `
apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: general}
spec:
  template:
    spec:
      nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}
      requirements:
      - {key: karpenter.sh/capacity-type, operator: In, values: [on-demand]}
      - {key: karpenter.k8s.aws/instance-category, operator: In, values: [c, m, r]}
`

func main() {
	pool, err := v1.DecodeNodePool([]byte(manifest))
	if err != nil {
		log.Fatal(err)
	}
	in := provisioning.Input{
		NodePools: []*v1.NodePool{pool},
		// A provider has this from its cloud: CloudProvider.InstanceTypes.
		InstanceTypes: map[string][]*cloudprovider.InstanceType{pool.Name: fake.Catalog()},
		Vocabulary:    fake.Vocabulary(),
	}
	for i := range 12 {
		p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: fmt.Sprintf("web-%02d", i)}}
		p.Spec.Containers = []corev1.Container{{Resources: corev1.ResourceRequirements{
			Requests: resources.MustParse("cpu=1300m, memory=3Gi").ResourceList()}}}
		in.Pods = append(in.Pods, p)
	}
	plan, err := provisioning.Solve(context.Background(), in, nil)
	if err != nil {
		log.Fatal(err)
	}
	for i := range plan.Create {
		n := &plan.Create[i] // n.Request("token") is the order for CloudProvider.Create
		fmt.Printf("%s for %d pods: %s, or %d other ways\n", n.Name, len(n.Pods), n.Options[0].Key(), len(n.Options)-1)
	}
	fmt.Printf("pods without a place: %d; %.3f USD/h, at most %.1f%% above the optimum\n", len(plan.Unplaced), plan.Cost, 100*plan.Gap())
}
