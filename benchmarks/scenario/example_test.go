package scenario_test

import (
	"fmt"

	"github.com/dovetail-sdk/dovetail/benchmarks/scenario"
)

func ExampleDecodeScenario_faults() {
	_, err := scenario.DecodeScenario([]byte(`{
		"name": "two-faults",
		"nodePools": [null],
		"instanceTypes": [{"name": "m.large", "offerings": [{"zone": "a", "capacityType": "spot", "price": -0.1}]}]
	}`))
	fmt.Println(err)
	// Output:
	// scenario: nodePools[0]: is null; leave it out
	// scenario: instanceTypes[0] (m.large).offerings[0]: price is -0.1; give USD per hour, 0 or more
}

func ExampleDecodePlan() {
	plan, err := scenario.DecodePlan([]byte(`{
		"contender": "by hand", "scenario": "tiny",
		"newNodeClaims": [{"nodePool": "default", "instanceTypes": ["m.large"], "pods": ["web/a", "web/b"]}],
		"existingNodes": [{"node": "node-1", "pods": ["web/c"]}]
	}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(plan.Placed())
	// Output: 2 1
}
