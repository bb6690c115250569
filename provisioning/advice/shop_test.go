package advice_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/fake"
	"github.com/dovetail-sdk/dovetail/fake/catalog"
	"github.com/dovetail-sdk/dovetail/provisioning"
	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
	"github.com/dovetail-sdk/dovetail/provisioning/resources"
)

// shop returns a cluster with a pool of Intel machines on demand and a few web pods.
func shop(tb testing.TB) provisioning.Input {
	types, err := catalog.New(&catalog.Options{
		Zones:    []catalog.Zone{{Name: "us-east-1a"}, {Name: "us-east-1b"}},
		Families: []string{"m6i", "m7g", "r6i"},
		Where:    requirements.MustParse("karpenter.k8s.aws/instance-cpu < 9"),
	})
	if tb != nil {
		require.NoError(tb, err)
	}
	pool := &v1.NodePool{ObjectMeta: metav1.ObjectMeta{Name: "general"}}
	pool.Spec.Template.Spec.NodeClassRef = &v1.NodeClassReference{Group: "karpenter.k8s.aws", Kind: "EC2NodeClass", Name: "default"}
	pool.Spec.Template.Spec.Requirements = []v1.NodeSelectorRequirementWithMinValues{
		{Key: corev1.LabelArchStable, Operator: corev1.NodeSelectorOpIn, Values: []string{v1.ArchitectureAmd64}},
		{Key: v1.CapacityTypeLabelKey, Operator: corev1.NodeSelectorOpIn, Values: []string{v1.CapacityTypeOnDemand}},
	}
	in := provisioning.Input{NodePools: []*v1.NodePool{pool}, Vocabulary: fake.Vocabulary(),
		InstanceTypes: map[string][]*cloudprovider.InstanceType{"general": types}}
	for i := range 7 {
		in.Pods = append(in.Pods, pod("web", i))
	}
	return in
}

// pod returns one of a Deployment.
func pod(workload string, i int) *corev1.Pod {
	controller := true
	p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: fmt.Sprintf("%s-6f7d-%d", workload, i),
		Labels:          map[string]string{"app": workload, appsv1.DefaultDeploymentUniqueLabelKey: "6f7d"},
		OwnerReferences: []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: workload + "-6f7d", UID: "1", Controller: &controller}}}}
	p.Spec.Containers = []corev1.Container{{Name: "main", Resources: corev1.ResourceRequirements{Requests: resources.MustParse("cpu=1500m, memory=5Gi").ResourceList()}}}
	return p
}

func quantity(text string) resource.Quantity { return resource.MustParse(text) }

// shuffled returns an input with its lists in another order.
func shuffled(in provisioning.Input, seed uint64) provisioning.Input {
	r := rand.New(rand.NewPCG(seed, 1))
	mix := func(n int, swap func(i, j int)) { r.Shuffle(n, swap) }
	in.Pods = append([]*corev1.Pod(nil), in.Pods...)
	mix(len(in.Pods), func(i, j int) { in.Pods[i], in.Pods[j] = in.Pods[j], in.Pods[i] })
	in.NodePools = append([]*v1.NodePool(nil), in.NodePools...)
	mix(len(in.NodePools), func(i, j int) { in.NodePools[i], in.NodePools[j] = in.NodePools[j], in.NodePools[i] })
	in.Nodes = append([]provisioning.Node(nil), in.Nodes...)
	mix(len(in.Nodes), func(i, j int) { in.Nodes[i], in.Nodes[j] = in.Nodes[j], in.Nodes[i] })
	return in
}
