package report_test

import (
	"context"
	"fmt"
	"log"
	"slices"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/disruption"
	"github.com/dovetail-sdk/dovetail/disruption/compare"
	"github.com/dovetail-sdk/dovetail/fake"
	"github.com/dovetail-sdk/dovetail/fake/catalog"
	"github.com/dovetail-sdk/dovetail/provisioning"
	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
	"github.com/dovetail-sdk/dovetail/provisioning/resources"
)

var noon = time.Date(2026, time.March, 2, 12, 0, 0, 0, time.UTC)

// pool returns a NodePool for machines on demand of one architecture, in which nodes rest at once.
func pool(arch string) *v1.NodePool {
	p := &v1.NodePool{TypeMeta: metav1.TypeMeta{APIVersion: v1.GroupVersion.String(), Kind: "NodePool"}, ObjectMeta: metav1.ObjectMeta{Name: "general"}}
	p.Spec.Template.Spec.NodeClassRef = &v1.NodeClassReference{Group: "karpenter.k8s.aws", Kind: "EC2NodeClass", Name: "default"}
	for key, value := range map[string]string{corev1.LabelArchStable: arch, v1.CapacityTypeLabelKey: v1.CapacityTypeOnDemand} {
		p.Spec.Template.Spec.Requirements = append(p.Spec.Template.Spec.Requirements,
			v1.NodeSelectorRequirementWithMinValues{Key: key, Operator: corev1.NodeSelectorOpIn, Values: []string{value}})
	}
	slices.SortFunc(p.Spec.Template.Spec.Requirements, func(a, b v1.NodeSelectorRequirementWithMinValues) int { return len(a.Key) - len(b.Key) })
	p.Spec.Disruption.ConsolidateAfter = v1.NillableDuration{Duration: new(time.Duration)}
	p.Spec.Disruption.Budgets = []v1.Budget{{Nodes: "100%"}}
	p.Default()
	return p
}

// pods are those of a Deployment.
func pods(deployment string, n int, requests string) (out []*corev1.Pod) {
	for i := range n {
		p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: fmt.Sprintf("%s-6f7d-%d", deployment, i),
			Labels:          map[string]string{"app": deployment, appsv1.DefaultDeploymentUniqueLabelKey: "6f7d"},
			OwnerReferences: []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: deployment + "-6f7d", UID: "1", Controller: new(true)}}}}
		p.Spec.Containers = []corev1.Container{{Name: "main", Resources: corev1.ResourceRequirements{Requests: resources.MustParse(requests).ResourceList()}}}
		out = append(out, p)
	}
	return out
}

// shop returns a cluster without nodes: nine pods that fit on small machines, and one that needs a
// GPU, of which there are none.
func shop() provisioning.Input {
	types, err := catalog.New(&catalog.Options{
		Zones:    []catalog.Zone{{Name: "us-east-1a"}, {Name: "us-east-1b"}},
		Families: []string{"m6i", "m7g"},
		Where:    requirements.MustParse("karpenter.k8s.aws/instance-cpu < 9"),
	})
	if err != nil {
		log.Fatal(err)
	}
	return provisioning.Input{
		NodePools: []*v1.NodePool{pool(v1.ArchitectureAmd64)}, InstanceTypes: map[string][]*cloudprovider.InstanceType{"general": types},
		Pods: append(pods("web", 9, "cpu=1500m, memory=5Gi"), pods("trainer", 1, "cpu=1, nvidia.com/gpu=1")...), Vocabulary: fake.Vocabulary(),
	}
}

// planned returns the shop with a plan for its pods.
func planned() (provisioning.Input, *provisioning.Plan) {
	in := shop()
	plan, err := provisioning.Solve(context.Background(), in, nil)
	if err != nil {
		log.Fatal(err)
	}
	return in, plan
}

// halfEmpty returns the shop with a node for every pod of web, without the trainer and four of the
// other pods.
func halfEmpty() compare.Side {
	in, plan := planned()
	side := compare.Side{Input: disruption.AfterPlan(noon.Add(-time.Hour), disruption.Input{Input: in}, plan), Options: &disruption.Options{}}
	side.Input.Pods = nil
	for i := range side.Input.Nodes {
		n := &side.Input.Nodes[i]
		n.Pods = n.Pods[:(len(n.Pods)+1)/2]
	}
	return side
}
