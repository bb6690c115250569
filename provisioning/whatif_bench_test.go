package provisioning_test

import (
	"context"
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/provisioning"
	"github.com/dovetail-sdk/dovetail/provisioning/internal/scenes"
	"github.com/dovetail-sdk/dovetail/provisioning/resources"
)

// busyCluster returns a cluster of nodes of one pool, each with a few pods of 50
// bin types and some room left.
func busyCluster(nodes int) provisioning.Input {
	in := scenes.Generic(0, 700)
	pods := scenes.Generic(nodes*8, 700).Pods
	for i := range nodes {
		name := fmt.Sprintf("node-%05d", i)
		zone := string(rune('a' + i%3))
		node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{
			corev1.LabelHostname: name, corev1.LabelInstanceTypeStable: "m5.2xlarge", corev1.LabelTopologyZone: "us-east-1" + zone,
			corev1.LabelArchStable: "amd64", corev1.LabelOSStable: "linux", v1.CapacityTypeLabelKey: v1.CapacityTypeOnDemand,
			v1.NodePoolLabelKey: "default", v1.NodeRegisteredLabelKey: "true", v1.NodeInitializedLabelKey: "true",
		}}}
		node.Status.Allocatable = resources.MustParse("cpu=7900m, memory=29Gi, pods=58").ResourceList()
		node.Status.Capacity = node.Status.Allocatable
		for _, p := range pods[8*i : 8*i+8] {
			p.Spec.NodeName = name
		}
		in.Nodes = append(in.Nodes, provisioning.Node{Node: node, Pods: pods[8*i : 8*i+8 : 8*i+8]})
	}
	return in
}

// BenchmarkWithout asks what becomes of the pods of one node after another.
func BenchmarkWithout(b *testing.B) {
	for _, nodes := range []int{100, 1000, 5000} {
		in := busyCluster(nodes)
		b.Run(fmt.Sprintf("nodes=%d", nodes), func(b *testing.B) {
			problem, err := provisioning.Prepare(in, nil)
			if err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			i := 0
			for b.Loop() {
				without, err := problem.Without(in.Nodes[i%nodes].Name())
				if err != nil {
					b.Fatal(err)
				}
				if _, err := without.Solve(context.Background()); err != nil {
					b.Fatal(err)
				}
				i++
			}
		})
	}
}
