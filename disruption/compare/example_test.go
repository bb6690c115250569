package compare_test

import (
	"context"
	"fmt"
	"log"

	corev1 "k8s.io/api/core/v1"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/disruption/compare"
)

// What if nodes of the pool could be ARM machines as well?
func ExampleCompare() {
	before := running([]*v1.NodePool{onDemand("general")}, pods("web", 9, "1500m", "5Gi"))
	policies := before.Policies()
	wider := policies.NodePools[0].DeepCopy()
	wider.Spec.Template.Spec.Requirements[0] = in(corev1.LabelArchStable, v1.ArchitectureAmd64, v1.ArchitectureArm64)
	policies.NodePools = []*v1.NodePool{wider}
	after, err := before.With(policies)
	if err != nil {
		log.Fatal(err)
	}
	comparison, err := compare.Compare(context.Background(), noon, before, after, nil)
	if err != nil {
		log.Fatal(err)
	}
	for _, d := range comparison.Differences {
		fmt.Println(d)
	}
	atLeast, atMost := comparison.FreshChange()
	fmt.Printf("at their best the plans from empty differ by %.4f to %.4f USD/h\n", atLeast, atMost)

	// Output:
	// FreshCost: 0.6528 USD/h, was 0.7680 USD/h: 2 fewer m6i.2xlarge on-demand of general, 2 more m7g.2xlarge on-demand of general
	// FreshPoolCost of general on-demand: 0.6528 USD/h, was 0.7680 USD/h: 2 fewer m6i.2xlarge on-demand of general, 2 more m7g.2xlarge on-demand of general
	// at their best the plans from empty differ by -0.1764 to -0.0432 USD/h
}

// Half of the pods are gone: what a new plan for the rest would cost, and where the nodes
// that run today come to rest.
func ExampleSettle() {
	side := running([]*v1.NodePool{onDemand("general")}, pods("web", 9, "1500m", "5Gi"))
	side = scaledDown(side, func(p *corev1.Pod) bool { return p.Name < "web-6f7d-2" || p.Name > "web-6f7d-6" })
	fresh, err := compare.FromEmpty(context.Background(), noon, side)
	if err != nil {
		log.Fatal(err)
	}
	settled, err := compare.Settle(context.Background(), noon, side, nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("today %d nodes for %.4f USD/h\n", settled.Today.Nodes, settled.Today.Cost)
	fmt.Printf("from empty %d for %.4f\n", fresh.Nodes, fresh.Cost)
	fmt.Printf("at rest %d for %.4f after %d rounds, %d pods evicted\n", settled.Bill.Nodes, settled.Bill.Cost, len(settled.Rounds), settled.Evicted)

	// Output:
	// today 2 nodes for 0.7680 USD/h
	// from empty 1 for 0.3840
	// at rest 1 for 0.3840 after 1 rounds, 2 pods evicted
}

// Emptied is what FromEmpty plans for, and what package advice asks about.
func ExampleEmptied() {
	side := running([]*v1.NodePool{onDemand("general")}, pods("web", 9, "1500m", "5Gi"))
	in, err := compare.Emptied(noon, side)
	fmt.Println(len(side.Input.Nodes), "nodes,", len(side.Input.Pods), "pods wait")
	fmt.Println(len(in.Nodes), "nodes,", len(in.Pods), "pods wait;", err)

	// Output:
	// 2 nodes, 0 pods wait
	// 0 nodes, 9 pods wait; <nil>
}
