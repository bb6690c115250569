package launchtemplate_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/aws/smithy-go"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clock "k8s.io/utils/clock/testing"

	awsv1 "github.com/dovetail-sdk/dovetail/aws/api/v1"
	"github.com/dovetail-sdk/dovetail/aws/internal/api"
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

// cloud is launch templates in memory.
type cloud struct {
	api.EC2 // a call that the double does not have panics
	*clock.FakeClock

	mu        sync.Mutex
	templates map[string]map[string]string // tags by name
	calls     map[string]int
	fail      map[string]error // by call, once
	block     chan struct{}    // makes creation wait
}

func newCloud() *cloud {
	return &cloud{templates: map[string]map[string]string{}, calls: map[string]int{}, fail: map[string]error{},
		FakeClock: clock.NewFakeClock(time.Date(2026, 1, 2, 15, 0, 0, 0, time.UTC))}
}

func (c *cloud) called(name string) error {
	c.calls[name]++
	err := c.fail[name]
	delete(c.fail, name)
	return err
}

func (c *cloud) count(name string) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.calls[name]
}

func (c *cloud) names() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	var out []string
	for name := range c.templates {
		out = append(out, name)
	}
	slices.Sort(out)
	return out
}

func code(code string) error { return &smithy.GenericAPIError{Code: code, Message: "no"} }

func (c *cloud) DescribeLaunchTemplates(_ context.Context, in *ec2.DescribeLaunchTemplatesInput, _ ...func(*ec2.Options)) (*ec2.DescribeLaunchTemplatesOutput, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := c.called("Describe"); err != nil {
		return nil, err
	}
	out := &ec2.DescribeLaunchTemplatesOutput{}
	if len(in.LaunchTemplateNames) > 0 {
		name := in.LaunchTemplateNames[0]
		if _, found := c.templates[name]; !found {
			return nil, code("InvalidLaunchTemplateName.NotFoundException")
		}
		out.LaunchTemplates = []ec2types.LaunchTemplate{{LaunchTemplateName: &name}}
		return out, nil
	}
	for name, tags := range c.templates {
		ok := true
		for _, f := range in.Filters {
			key, found := strings.CutPrefix(*f.Name, "tag:")
			switch {
			case found:
				ok = ok && slices.Contains(f.Values, tags[key])
			case *f.Name == "tag-key":
				ok = ok && slices.ContainsFunc(f.Values, func(key string) bool { return tags[key] != "" })
			default:
				return nil, fmt.Errorf("filter %s", *f.Name)
			}
		}
		if ok {
			one := ec2types.LaunchTemplate{LaunchTemplateName: new(name)}
			for k, v := range tags {
				one.Tags = append(one.Tags, ec2types.Tag{Key: &k, Value: &v})
			}
			out.LaunchTemplates = append(out.LaunchTemplates, one)
		}
	}
	return out, nil
}

func (c *cloud) CreateLaunchTemplate(_ context.Context, in *ec2.CreateLaunchTemplateInput, _ ...func(*ec2.Options)) (*ec2.CreateLaunchTemplateOutput, error) {
	if c.block != nil {
		<-c.block
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := c.called("Create"); err != nil {
		return nil, err
	}
	if _, found := c.templates[*in.LaunchTemplateName]; found {
		return nil, code("InvalidLaunchTemplateName.AlreadyExistsException")
	}
	tags := map[string]string{}
	for _, t := range in.TagSpecifications[0].Tags {
		tags[*t.Key] = *t.Value
	}
	c.templates[*in.LaunchTemplateName] = tags
	return &ec2.CreateLaunchTemplateOutput{}, nil
}

func (c *cloud) DeleteLaunchTemplate(_ context.Context, in *ec2.DeleteLaunchTemplateInput, _ ...func(*ec2.Options)) (*ec2.DeleteLaunchTemplateOutput, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := c.called("Delete"); err != nil {
		return nil, err
	}
	if _, found := c.templates[*in.LaunchTemplateName]; !found {
		return nil, code("InvalidLaunchTemplateName.NotFoundException")
	}
	delete(c.templates, *in.LaunchTemplateName)
	return &ec2.DeleteLaunchTemplateOutput{}, nil
}
