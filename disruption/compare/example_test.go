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
	// at their best the plans from empty differ by -0.1805 to -0.0384 USD/h
}
