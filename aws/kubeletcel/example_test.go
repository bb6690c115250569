package kubeletcel_test

import (
	"fmt"

	awsv1 "github.com/dovetail-sdk/dovetail/aws/api/v1"
	"github.com/dovetail-sdk/dovetail/aws/kubeletcel"
)

func ExampleNew() {
	e := kubeletcel.New()
	for _, vcpus := range []int64{1, 16} {
		n, err := e.Evaluate("max(60, vcpus * 30)", awsv1.ExpressionVariables{VCPUs: vcpus})
		fmt.Println(n, err)
	}
	fmt.Println(e.Check("max(60, cpus * 30)"))
	// Output:
	// 60 <nil>
	// 480 <nil>
	// line 1, column 9: undeclared reference to 'cpus' (in container '')
}

func ExampleEvaluator_Check() {
	fmt.Println(kubeletcel.New().Check(`vcpus < 4 ? "few" : "many"`))
	// Output: it is of type string; make it an int or a double
}
