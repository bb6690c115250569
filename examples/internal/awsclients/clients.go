// Package awsclients makes the clients for the AWS provider, with the configuration of the AWS
// command line.
package awsclients

import (
	"context"
	"errors"
	"fmt"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/eks"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	iamtypes "github.com/aws/aws-sdk-go-v2/service/iam/types"
	"github.com/aws/aws-sdk-go-v2/service/pricing"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/ssm"

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

// Connect makes the clients of a provider.
func Connect(cfg awssdk.Config) aws.Clients {
	return aws.Clients{
		EC2: ec2.NewFromConfig(cfg), SSM: ssm.NewFromConfig(cfg), Pricing: pricing.NewFromConfig(cfg),
		SQS: sqs.NewFromConfig(cfg), IAM: iam.NewFromConfig(cfg), EKS: eks.NewFromConfig(cfg),
	}
}

// Watch returns clients that change nothing in AWS: reads are passed on, writes are not.
func Watch(c aws.Clients) aws.Clients {
	c.EC2, c.IAM = watchedEC2{c.EC2}, watchedIAM{c.IAM}
	return c
}

var errDry = errors.New("nothing is changed without -launch")

type watchedEC2 struct{ aws.EC2API }

func (watchedEC2) CreateFleet(context.Context, *ec2.CreateFleetInput, ...func(*ec2.Options)) (*ec2.CreateFleetOutput, error) {
	return nil, errDry
}

func (watchedEC2) CreateLaunchTemplate(context.Context, *ec2.CreateLaunchTemplateInput, ...func(*ec2.Options)) (*ec2.CreateLaunchTemplateOutput, error) {
	return nil, errDry
}

func (watchedEC2) DeleteLaunchTemplate(context.Context, *ec2.DeleteLaunchTemplateInput, ...func(*ec2.Options)) (*ec2.DeleteLaunchTemplateOutput, error) {
	return nil, errDry
}

func (watchedEC2) CreateTags(context.Context, *ec2.CreateTagsInput, ...func(*ec2.Options)) (*ec2.CreateTagsOutput, error) {
	return nil, errDry
}

// RunInstances makes a dry run, which checks whether the instances could be launched.
func (w watchedEC2) RunInstances(ctx context.Context, in *ec2.RunInstancesInput, opts ...func(*ec2.Options)) (*ec2.RunInstancesOutput, error) {
	if in.DryRun == nil || !*in.DryRun {
		return nil, errDry
	}
	return w.EC2API.RunInstances(ctx, in, opts...)
}

func (watchedEC2) TerminateInstances(context.Context, *ec2.TerminateInstancesInput, ...func(*ec2.Options)) (*ec2.TerminateInstancesOutput, error) {
	return nil, errDry
}

// watchedIAM reports success for the creation of instance profiles without creating any, because a
// class with a role is ready only with an instance profile.
type watchedIAM struct{ aws.IAMAPI }

func (watchedIAM) CreateInstanceProfile(_ context.Context, in *iam.CreateInstanceProfileInput, _ ...func(*iam.Options)) (*iam.CreateInstanceProfileOutput, error) {
	return &iam.CreateInstanceProfileOutput{InstanceProfile: &iamtypes.InstanceProfile{InstanceProfileName: in.InstanceProfileName, Path: in.Path}}, nil
}

func (watchedIAM) AddRoleToInstanceProfile(context.Context, *iam.AddRoleToInstanceProfileInput, ...func(*iam.Options)) (*iam.AddRoleToInstanceProfileOutput, error) {
	return &iam.AddRoleToInstanceProfileOutput{}, nil
}

func (watchedIAM) RemoveRoleFromInstanceProfile(context.Context, *iam.RemoveRoleFromInstanceProfileInput, ...func(*iam.Options)) (*iam.RemoveRoleFromInstanceProfileOutput, error) {
	return nil, errDry
}

func (watchedIAM) DeleteInstanceProfile(context.Context, *iam.DeleteInstanceProfileInput, ...func(*iam.Options)) (*iam.DeleteInstanceProfileOutput, error) {
	return nil, errDry
}
