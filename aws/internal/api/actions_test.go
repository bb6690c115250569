package api_test

import (
	"reflect"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/dovetail-sdk/dovetail/aws/iam"
	"github.com/dovetail-sdk/dovetail/aws/internal/api"
)

// What the provider can call is what package iam says it calls.
func TestInterfacesAreTheActions(t *testing.T) {
	services := map[string]reflect.Type{
		"arczonalshift": reflect.TypeFor[api.ZonalShift](), "ec2": reflect.TypeFor[api.EC2](), "eks": reflect.TypeFor[api.EKS](),
		"iam": reflect.TypeFor[api.IAM](), "pricing": reflect.TypeFor[api.Pricing](), "sqs": reflect.TypeFor[api.SQS](), "ssm": reflect.TypeFor[api.SSM](),
	}
	var want, got []string
	for _, call := range iam.Actions() {
		want = append(want, call.Service+" "+call.Operation)
	}
	for service, methods := range services {
		for m := range methods.Methods() {
			got = append(got, service+" "+m.Name)
		}
	}
	slices.Sort(got)
	require.Equal(t, want, got)
}
