package advice_test

import (
	"context"
	"fmt"
	"log"

	"github.com/dovetail-sdk/dovetail/provisioning/advice"
)

// What does it cost to run on Intel machines, on demand only?
func ExampleAsk() {
	report, err := advice.Ask(context.Background(), shop(nil), nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%d nodes for %.4f USD/h\n", report.Nodes, report.Cost)
	for _, price := range report.Prices {
		fmt.Println(price)
	}
	for _, price := range report.Requests {
		fmt.Printf("%s: %.4f USD/h for one\n", price.Constraints[0].Field, price.Worth())
	}

	// Output:
	// 2 nodes for 0.5760 USD/h
	// NodePool general: requirement karpenter.sh/capacity-type In [on-demand]: 0.3878 USD/h less without it (0.3518 to 0.3976)
	// NodePool general: requirement kubernetes.io/arch In [amd64]: 0.0864 USD/h less without it (0.0504 to 0.1164)
	// spec.containers[*].resources.requests[cpu]: 0.0377 USD/h for one
	// spec.containers[*].resources.requests[memory]: 0.0000 USD/h for one
}

// A constraint can be taken away by hand, to plan, or to ask on.
func ExampleConstraint_Without() {
	in := shop(nil)
	for _, c := range advice.Constraints(in) {
		if c.Kind == advice.KindRequirement {
			fmt.Println(c.Field, len(c.Without(in).NodePools[0].Spec.Template.Spec.Requirements))
		}
	}

	// Output:
	// spec.template.spec.requirements[karpenter.sh/capacity-type] 1
	// spec.template.spec.requirements[kubernetes.io/arch] 1
}

func ExampleConstraints() {
	for _, c := range advice.Constraints(shop(nil)) {
		fmt.Println(c)
	}

	// Output:
	// NodePool general: requirement karpenter.sh/capacity-type In [on-demand]
	// NodePool general: requirement kubernetes.io/arch In [amd64]
	// Deployment shop/web: half of the request for cpu (7 pods)
	// Deployment shop/web: half of the request for memory (7 pods)
}
