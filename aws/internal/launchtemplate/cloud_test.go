package launchtemplate_test

import (
	"context"
	"testing"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/aws/smithy-go"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	awsv1 "github.com/dovetail-sdk/dovetail/aws/api/v1"
	"github.com/dovetail-sdk/dovetail/aws/awstest"
	"github.com/dovetail-sdk/dovetail/aws/internal/launchtemplate"
)

func class(change ...func(*awsv1.EC2NodeClass)) *awsv1.EC2NodeClass {
	c := &awsv1.EC2NodeClass{
		ObjectMeta: metav1.ObjectMeta{Name: "default"},
		Spec:       awsv1.EC2NodeClassSpec{AMISelectorTerms: []awsv1.AMISelectorTerm{{Alias: "al2023@latest"}}},
		Status: awsv1.EC2NodeClassStatus{
			SecurityGroups: []awsv1.SecurityGroup{{ID: "sg-1"}, {ID: "sg-2"}}, InstanceProfile: "demo_1",
		},
	}
	for _, f := range change {
		f(c)
	}
	return c
}

func input(change ...func(*launchtemplate.Input)) launchtemplate.Input {
	in := launchtemplate.Input{
		Region: "us-east-1", Class: class(), ImageID: "ami-1", UserData: "dXNlcg==", CapacityType: "on-demand", Tenancy: "default",
		Tags: map[string]string{
			"eks:eks-cluster-name": "demo", "karpenter.sh/nodepool": "general", "karpenter.k8s.aws/ec2nodeclass": "default", "kubernetes.io/cluster/demo": "owned",
		},
	}
	for _, f := range change {
		f(&in)
	}
	return in
}

// cloud is a cloud and a client of its EC2 that repeats no call.
type cloud struct {
	*awstest.Server
	t      testing.TB
	client *ec2.Client
}

func newCloud(t testing.TB) *cloud {
	t.Helper()
	server, err := awstest.Start(nil)
	require.NoError(t, err)
	t.Cleanup(server.Close)
	config := server.Config()
	config.Retryer = func() sdk.Retryer { return sdk.NopRetryer{} }
	return &cloud{server, t, ec2.NewFromConfig(config)}
}

func (c *cloud) store() *launchtemplate.Store {
	return launchtemplate.NewStore(c.client, "demo", c.Now, keep)
}

// fail has the next call of an action fail.
func (c *cloud) fail(action, code string) {
	c.t.Helper()
	require.NoError(c.t, c.Script(awstest.Fault{Op: action, Nth: 1, Err: &smithy.GenericAPIError{Code: code, Message: "no"}}))
}

// hold keeps the next launch template from being made until release is called.
func (c *cloud) hold() (reached <-chan struct{}, release func()) {
	c.t.Helper()
	reached, release, err := c.Hold("CreateLaunchTemplate")
	require.NoError(c.t, err)
	return reached, release
}

// add adds a launch template that the store did not make. Calls before it are not counted.
func (c *cloud) add(name string, tags map[string]string) {
	c.t.Helper()
	in := &ec2.CreateLaunchTemplateInput{LaunchTemplateName: &name, LaunchTemplateData: &ec2types.RequestLaunchTemplateData{},
		TagSpecifications: []ec2types.TagSpecification{{ResourceType: ec2types.ResourceTypeLaunchTemplate}}}
	for key, value := range tags {
		in.TagSpecifications[0].Tags = append(in.TagSpecifications[0].Tags, ec2types.Tag{Key: &key, Value: &value})
	}
	_, err := c.client.CreateLaunchTemplate(context.Background(), in)
	require.NoError(c.t, err)
	c.ForgetCalls()
}

func (c *cloud) names() (out []string) {
	for _, lt := range c.LaunchTemplates() {
		out = append(out, lt.Name)
	}
	return out
}
