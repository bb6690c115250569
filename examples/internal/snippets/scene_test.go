package snippets_test

import (
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/disruption"
	"github.com/dovetail-sdk/dovetail/fake"
	"github.com/dovetail-sdk/dovetail/provisioning"
	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
	"github.com/dovetail-sdk/dovetail/provisioning/resources"
)

// noon is the instant at which the snippets ask.
var noon = time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)

// pod makes a pod of namespace shop.
func pod(name, requests string, change ...func(*corev1.Pod)) *corev1.Pod {
	p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name}}
	p.Spec.Containers = []corev1.Container{{Name: "main", Resources: corev1.ResourceRequirements{
		Requests: resources.MustParse(requests).ResourceList(),
	}}}
	for _, c := range change {
		c(p)
	}
	return p
}

// pods makes count pods that ask for the same.
func pods(name string, count int, requests string) (all []*corev1.Pod) {
	for i := range count {
		all = append(all, pod(fmt.Sprintf("%s-%d", name, i), requests))
	}
	return all
}

// pool makes a NodePool whose nodes meet the requirements.
func pool(name, wanted string) *v1.NodePool {
	p := &v1.NodePool{ObjectMeta: metav1.ObjectMeta{Name: name}}
	p.Spec.Template.Spec.Requirements = requirements.MustParse(wanted).NodeSelectorRequirements()
	p.Default()
	return p
}

// snapshot is what an informer's cache would be read into.
func snapshot(pools []*v1.NodePool, pending ...*corev1.Pod) provisioning.Input {
	in := provisioning.Input{
		NodePools:     pools,
		InstanceTypes: map[string][]*cloudprovider.InstanceType{},
		Pods:          pending,
		Vocabulary:    fake.Vocabulary(),
	}
	for _, p := range pools {
		in.InstanceTypes[p.Name] = fake.Catalog()
	}
	return in
}

// cluster returns a snapshot with nodes m6i.large on demand, a name each, of a pool
// named general.
func cluster(nodes map[string][]*corev1.Pod, names ...string) disruption.Input {
	in := disruption.Input{Input: snapshot([]*v1.NodePool{pool("general", "karpenter.sh/capacity-type = on-demand, node.kubernetes.io/instance-type = m6i.large")})}
	for _, name := range names {
		labels := map[string]string{
			v1.NodePoolLabelKey: "general", v1.NodeRegisteredLabelKey: "true", v1.NodeInitializedLabelKey: "true",
			v1.CapacityTypeLabelKey: "on-demand", corev1.LabelInstanceTypeStable: "m6i.large", corev1.LabelHostname: name,
			corev1.LabelTopologyZone: "us-east-1a", corev1.LabelArchStable: "amd64", corev1.LabelOSStable: "linux",
		}
		node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: labels}}
		node.Spec.ProviderID = "cloud://" + name
		node.Status.Capacity = resources.MustParse("cpu=2, memory=7577Mi, pods=29").ResourceList()
		node.Status.Allocatable = resources.MustParse("cpu=1930m, memory=6903Mi, pods=29").ResourceList()
		node.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}}
		claim := &v1.NodeClaim{ObjectMeta: metav1.ObjectMeta{Name: "general-" + name, Labels: labels}}
		claim.Status = v1.NodeClaimStatus{NodeName: name, ProviderID: "cloud://" + name, Capacity: node.Status.Capacity,
			Allocatable: node.Status.Allocatable, Conditions: []metav1.Condition{{Type: v1.ConditionTypeInitialized, Status: metav1.ConditionTrue,
				LastTransitionTime: metav1.NewTime(noon.Add(-4 * time.Hour))}}}
		for _, p := range nodes[name] {
			p.Spec.NodeName = name
		}
		in.Nodes = append(in.Nodes, provisioning.Node{Node: node, NodeClaim: claim, Pods: nodes[name]})
	}
	return in
}
