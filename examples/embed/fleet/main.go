// Command fleet asks which nodes to remove. Its input is written out in full: one NodePool, two
// machines and a pod, with all fields that package disruption needs.
package main

import (
	"context"
	"fmt"
	"log"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/disruption"
	"github.com/dovetail-sdk/dovetail/fake"
	"github.com/dovetail-sdk/dovetail/provisioning"
	"github.com/dovetail-sdk/dovetail/provisioning/resources"
)

// now is the time of the decision. A real program uses time.Now().
var now = time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)

func main() {
	pool := &v1.NodePool{ObjectMeta: metav1.ObjectMeta{Name: "general"}}
	pool.Spec.Disruption.Budgets = []v1.Budget{{Nodes: "1"}} // one node at a time
	pool.Default()                                           // as the API server does

	in := disruption.Input{Input: provisioning.Input{
		NodePools: []*v1.NodePool{pool},
		Nodes:     []provisioning.Node{machine("n1"), machine("n2", pod("web", "n2"))},
		// Of your cloud these are CloudProvider.InstanceTypes and cloudprovider.Vocabulary.
		InstanceTypes: map[string][]*cloudprovider.InstanceType{pool.Name: fake.Catalog()},
		Vocabulary:    fake.Vocabulary(),
	}}
	proposal, faults, err := disruption.Propose(context.Background(), now, in, nil)
	if err != nil {
		log.Fatal(err)
	}
	for _, fault := range faults {
		fmt.Println(fault) // what was left alone, as the input is wrong about it
	}
	for _, action := range proposal.Actions {
		fmt.Println(action)
	}
	for _, b := range proposal.Blocked {
		fmt.Printf("%s stays:\n  %s\n", b.Node, b.Detail)
	}
}

// machine returns a node that joined four hours ago: its Node, its NodeClaim, and the pods bound to
// it.
func machine(name string, pods ...*corev1.Pod) provisioning.Node {
	created := metav1.NewTime(now.Add(-4 * time.Hour))
	labels := map[string]string{
		v1.NodePoolLabelKey:            "general",
		v1.NodeRegisteredLabelKey:      "true",
		v1.NodeInitializedLabelKey:     "true",
		corev1.LabelInstanceTypeStable: "m6i.large",  // these three are an offering of the
		corev1.LabelTopologyZone:       "us-east-1a", // catalog, and so they have a price
		v1.CapacityTypeLabelKey:        v1.CapacityTypeOnDemand,
		corev1.LabelArchStable:         "amd64",
		corev1.LabelOSStable:           "linux",
		corev1.LabelHostname:           name,
	}
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: labels, CreationTimestamp: created}}
	node.Spec.ProviderID = "fake:///" + name // that of the NodeClaim
	node.Status.Capacity = resources.MustParse("cpu=2, memory=7577Mi, pods=29").ResourceList()
	node.Status.Allocatable = resources.MustParse("cpu=1930m, memory=6903Mi, pods=29").ResourceList()
	node.Status.Conditions = []corev1.NodeCondition{
		{Type: corev1.NodeReady, Status: corev1.ConditionTrue, LastTransitionTime: created},
	}
	claim := &v1.NodeClaim{ObjectMeta: metav1.ObjectMeta{Name: "general-" + name, Labels: labels, CreationTimestamp: created}}
	claim.Status.NodeName, claim.Status.ProviderID = name, node.Spec.ProviderID
	claim.Status.Capacity, claim.Status.Allocatable = node.Status.Capacity, node.Status.Allocatable
	for _, done := range []string{v1.ConditionTypeLaunched, v1.ConditionTypeRegistered, v1.ConditionTypeInitialized} {
		claim.Status.Conditions = append(claim.Status.Conditions,
			metav1.Condition{Type: done, Status: metav1.ConditionTrue, LastTransitionTime: created})
	}
	return provisioning.Node{Node: node, NodeClaim: claim, Pods: pods}
}

// pod returns a pod that runs on a node.
func pod(name, node string) *corev1.Pod {
	p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name}}
	p.Spec.NodeName = node
	p.Spec.Containers = []corev1.Container{{Name: "main", Resources: corev1.ResourceRequirements{
		Requests: resources.MustParse("cpu=1, memory=2Gi").ResourceList()}}}
	p.Status.Phase = corev1.PodRunning
	return p
}
