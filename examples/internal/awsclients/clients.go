// Package awsclients has the configuration of the AWS command line for the clients of the AWS provider,
// and one with which they change nothing.
package awsclients

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	iamtypes "github.com/aws/aws-sdk-go-v2/service/iam/types"
	"github.com/aws/smithy-go/middleware"

	"github.com/dovetail-sdk/dovetail/aws"
)

// Load loads the configuration that the AWS command line would use.
func Load(ctx context.Context, region string) (awssdk.Config, error) {
	cfg, err := config.LoadDefaultConfig(ctx, config.WithRegion(region), config.WithRetryer(aws.Retryer))
	if err == nil && cfg.Region == "" {
		err = errors.New("no region is configured; set -region")
	}
	if err != nil {
		return cfg, fmt.Errorf("AWS configuration: %w", err)
	}
	if _, err = cfg.Credentials.Retrieve(ctx); err != nil {
		return cfg, fmt.Errorf("AWS configuration: %w; log in, or set AWS_PROFILE to a profile with credentials", err)
	}
	return cfg, nil
}

// Watch returns a configuration whose clients change nothing in AWS: reads and dry runs are passed on,
// writes are not. The creation of an instance profile, and giving it a role, seem to succeed, because a
// class with a role is ready only with an instance profile.
func Watch(cfg awssdk.Config) awssdk.Config {
	cfg.APIOptions = append(slices.Clip(cfg.APIOptions), func(stack *middleware.Stack) error {
		return stack.Initialize.Add(middleware.InitializeMiddlewareFunc("Watch", watch), middleware.Before)
	})
	return cfg
}

var errDry = errors.New("nothing is changed without -launch")

func watch(ctx context.Context, in middleware.InitializeInput, next middleware.InitializeHandler) (out middleware.InitializeOutput, _ middleware.Metadata, _ error) {
	name := middleware.GetOperationName(ctx)
	passed := slices.ContainsFunc([]string{"Describe", "Get", "List", "ReceiveMessage", "DeleteMessage"}, func(reads string) bool {
		return strings.HasPrefix(name, reads)
	})
	switch call := in.Parameters.(type) {
	case *ec2.RunInstancesInput:
		passed = call.DryRun != nil && *call.DryRun // checks whether the instances could be launched
	case *iam.CreateInstanceProfileInput:
		out.Result = &iam.CreateInstanceProfileOutput{InstanceProfile: &iamtypes.InstanceProfile{InstanceProfileName: call.InstanceProfileName, Path: call.Path}}
		return out, middleware.Metadata{}, nil
	case *iam.AddRoleToInstanceProfileInput:
		out.Result = &iam.AddRoleToInstanceProfileOutput{}
		return out, middleware.Metadata{}, nil
	}
	if passed {
		return next.HandleInitialize(ctx, in)
	}
	return out, middleware.Metadata{}, errDry
}
