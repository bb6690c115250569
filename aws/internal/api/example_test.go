package api_test

import (
	"fmt"

	"github.com/aws/smithy-go"

	"github.com/dovetail-sdk/dovetail/aws/internal/api"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
)

func ExampleWrap() {
	failed := &smithy.OperationError{ServiceID: "EC2", OperationName: "DescribeSubnets",
		Err: &smithy.GenericAPIError{Code: "UnauthorizedOperation", Message: "You are not authorized."}}
	err := api.Wrap("DescribeSubnets", "team=web", failed)
	fmt.Println(cloudprovider.KindOf(err))
	fmt.Println(err)
	// Output:
	// denied
	// DescribeSubnets team=web: denied: UnauthorizedOperation: You are not authorized.; allow the controller ec2:DescribeSubnets, as the policies in aws/iam do
}
