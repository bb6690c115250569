// Command placement shows where pods fit on existing nodes, as a job queue does before it starts a
// gang: all of its pods, or none. Without NodePools the engine launches nothing.
package main

import (
	"context"
	"fmt"
	"log"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/dovetail-sdk/dovetail/provisioning"
	"github.com/dovetail-sdk/dovetail/provisioning/resources"
)

func main() {
	nodes := []provisioning.Node{node("n1", "cpu=4, memory=16Gi, pods=110"), node("n2", "cpu=8, memory=32Gi, pods=110")}
	nodes[1].Pods = []*corev1.Pod{pod("web", "cpu=3, memory=4Gi")} // runs there
	for _, size := range []int{4, 5} {
		var gang []*corev1.Pod
		for i := range size {
			gang = append(gang, pod(fmt.Sprintf("worker-%d", i), "cpu=2, memory=4Gi"))
		}
		if err := ask(nodes, gang); err != nil {
			log.Fatal(err)
		}
	}
}

// ask prints where the pods of a gang fit, or why the gang has to wait.
func ask(nodes []provisioning.Node, gang []*corev1.Pod) error {
	plan, err := provisioning.Solve(context.Background(), provisioning.Input{Nodes: nodes, Pods: gang}, nil)
	if err != nil {
		return err // the input is at fault: provisioning.Faults lists how
	}
	if n := len(plan.Unplaced); n > 0 {
		reason := strings.ReplaceAll(plan.Unplaced[0].Explanation.String(), "; ", ";\n  ")
		fmt.Printf("a gang of %d waits, as only %d of it fit:\n  %s\n", len(gang), len(gang)-n, reason)
		return nil
	}
	for _, b := range plan.Bind {
		fmt.Printf("a gang of %d: %d on %s\n", len(gang), len(b.Pods), b.Node)
	}
	return nil
}

func node(name, size string) provisioning.Node {
	n := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}}
	n.Status.Allocatable = resources.MustParse(size).ResourceList()
	return provisioning.Node{Node: n}
}

func pod(name, requests string) *corev1.Pod {
	p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "batch", Name: name}}
	p.Spec.Containers = []corev1.Container{{Resources: corev1.ResourceRequirements{Requests: resources.MustParse(requests).ResourceList()}}}
	return p
}
