package cloudprovidertest_test

import (
	"fmt"

	"github.com/dovetail-sdk/dovetail/cloudprovider/cloudprovidertest"
)

func ExampleChecks() {
	for _, c := range cloudprovidertest.Checks() {
		if c.Name == "token/lost" {
			fmt.Println(c.Name, "needs", c.Needs)
			fmt.Println(c.Rule)
		}
	}
	// Output:
	// token/lost needs [Harness.Lose]
	// When the answer of a launch is lost, once or twice in a row, a machine may exist; Create with the same token returns it and launches no second.
}

func ExampleSummary() {
	checks := cloudprovidertest.Checks()
	fmt.Println(cloudprovidertest.Summary([]cloudprovidertest.Result{
		{Check: checks[0]},
		{Check: checks[1], Failures: []string{"m5.large comes after m5.xlarge; sort by name, in byte order"}},
		{Check: checks[2], Skipped: "set Harness.RunDry"},
	}))
	// Output:
	// 3 checks: 1 passed, 1 failed, 1 skipped
	// catalog/sorted: the provider breaks a rule of the contract:
	//     InstanceTypes is sorted by name and has each name once; the offerings of a
	//     type are in the order of OfferingKey.
	//   - m5.large comes after m5.xlarge; sort by name, in byte order
	// catalog/labels: skipped: set Harness.RunDry
}
