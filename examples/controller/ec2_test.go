package main

import (
	"flag"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/eks"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/aws/aws-sdk-go-v2/service/pricing"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/ssm"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/aws"
	awsv1 "github.com/dovetail-sdk/dovetail/aws/api/v1"
	"github.com/dovetail-sdk/dovetail/aws/awstest"
	"github.com/dovetail-sdk/dovetail/cloudprovider/batcher"
)

// inAWS puts the controller of a cluster onto a small AWS.
func (c *cluster) inAWS() *awstest.Server {
	c.Helper()
	server, err := awstest.Start(nil)
	c.must(err)
	c.Cleanup(server.Close)
	o, cfg := server.Options(), server.Config()
	clients := aws.Clients{EC2: ec2.NewFromConfig(cfg), SSM: ssm.NewFromConfig(cfg), Pricing: pricing.NewFromConfig(cfg),
		SQS: sqs.NewFromConfig(cfg), IAM: iam.NewFromConfig(cfg), EKS: eks.NewFromConfig(cfg)}
	cloud, err := newEC2(c.Client, clients, aws.Options{Region: o.Region, Cluster: aws.Cluster{Name: o.Cluster.Name}, InterruptionQueue: o.Queue,
		Now: server.Now, Batch: aws.Batch{Idle: -1}}, slog.New(slog.DiscardHandler))
	if err != nil {
		c.Fatal(err)
	}
	c.a, err = newAutoscaler(c.Client, cloud, c.events, prometheus.NewRegistry(), slog.New(slog.DiscardHandler))
	c.must(err)
	c.a.window, err = batcher.NewWindow(time.Nanosecond, 0)
	c.must(err)
	return server
}

// class returns an EC2NodeClass that finds what a small AWS has.
func class(server *awstest.Server) *awsv1.EC2NodeClass {
	o := server.Options()
	discovery := map[string]string{"karpenter.sh/discovery": o.Cluster.Name}
	c := &awsv1.EC2NodeClass{ObjectMeta: metav1.ObjectMeta{Name: "default", UID: "class"}}
	c.Spec.AMISelectorTerms = []awsv1.AMISelectorTerm{{Alias: "al2023@latest"}}
	c.Spec.SubnetSelectorTerms = []awsv1.SubnetSelectorTerm{{Tags: discovery}}
	c.Spec.SecurityGroupSelectorTerms = []awsv1.SecurityGroupSelectorTerm{{Tags: discovery}}
	c.Spec.Role = o.Roles[0]
	return c
}

func onEC2() *v1.NodePool {
	p := general()
	p.Spec.Template.Spec.NodeClassRef = &v1.NodeClassReference{Group: awsv1.Group, Kind: awsv1.EC2NodeClassKind, Name: "default"}
	return p
}

// A pod gets an instance of EC2, whose kubelet joins; the class shows what it resolves
// to, the instance is tagged; and when all are deleted nothing is left.
func TestALifeOnEC2(t *testing.T) {
	c := newCluster(t, onEC2(), pod("web", "1"))
	server := c.inAWS()
	c.must(c.Create(t.Context(), class(server)))
	until := func(what string, done func() bool) {
		t.Helper()
		for range 300 { // look-ups are answered beside the passes, and drains take their time
			c.a.nextLook = time.Time{}
			c.pass(1)
			if done() {
				return
			}
			time.Sleep(50 * time.Millisecond)
		}
		t.Fatalf("not %s: %v", what, c.claims())
	}
	stored := &awsv1.EC2NodeClass{}
	until("launched", func() bool {
		claims := c.claims()
		return len(claims) == 1 && claims[0].Status.ProviderID != ""
	})
	c.must(c.Get(t.Context(), client.ObjectKey{Name: "default"}, stored))
	require.NotEmpty(t, stored.Status.Subnets)
	require.NotEmpty(t, stored.Status.AMIs)
	require.Contains(t, stored.Finalizers, awsv1.TerminationFinalizer)
	claim := c.claims()[0]
	require.NotEmpty(t, claim.Annotations[awsv1.EC2NodeClassHashAnnotationKey])
	server.Advance(2 * time.Minute)
	c.kubelet(claim)
	until("tagged", func() bool { return c.claims()[0].Annotations[awsv1.InstanceTaggedAnnotationKey] == "true" })
	until("initialized", func() bool {
		c.schedule()
		return meta.IsStatusConditionTrue(c.claims()[0].Status.Conditions, v1.ConditionTypeInitialized)
	})

	c.a.nextLook = time.Time{}
	c.pass(1)
	c.must(c.Get(t.Context(), client.ObjectKey{Name: "default"}, stored))
	again := stored.ResourceVersion
	c.a.nextLook = time.Time{}
	c.pass(1)
	c.must(c.Get(t.Context(), client.ObjectKey{Name: "default"}, stored))
	require.Equal(t, again, stored.ResourceVersion, "a look that found nothing new wrote the class")

	c.must(c.Delete(t.Context(), pod("web", "1")))
	c.must(c.Delete(t.Context(), &claim))
	c.must(c.Delete(t.Context(), stored))
	until("gone", func() bool {
		server.Advance(time.Minute)
		return len(c.claims()) == 0 && c.Get(t.Context(), client.ObjectKey{Name: "default"}, stored) != nil
	})
	for _, call := range []string{"TerminateInstances", "DeleteInstanceProfile"} {
		require.True(t, slices.ContainsFunc(server.Calls(), func(c awstest.Call) bool { return c.Action == call && c.Code == "" }), call)
	}
}

// kubelet has the machine of a claim join.
func (c *cluster) kubelet(claim v1.NodeClaim) {
	c.Helper()
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "ip-10-0-0-1", Labels: maps.Clone(claim.Labels)},
		Spec:   corev1.NodeSpec{ProviderID: claim.Status.ProviderID, Taints: append(slices.Clone(claim.Spec.StartupTaints), v1.UnregisteredNoExecuteTaint())},
		Status: corev1.NodeStatus{Capacity: claim.Status.Capacity, Allocatable: claim.Status.Allocatable}}
	c.must(c.Create(c.Context(), node))
	c.boot()
}

func TestBadFlags(t *testing.T) {
	for want, args := range map[string][]string{
		`-provider is "gcp"; it is kwok or aws`:              {"-provider=gcp"},
		"needs -aws-cluster":                                 {"-provider=aws"},
		`unexpected argument "now"`:                          {"now"},
		"one that is true or false is written -flag=false":   {"-leader-elect", "false"},
		"-aws-region is for -provider aws, and that is kwok": {"-aws-region=eu-west-1"},
		"-sold-out is for the kwok nodes":                    {"-provider=aws", "-aws-cluster=a", "-sold-out=a in (b)"},
		"-qps is 0; it is a number above zero":               {"-qps=0"},
		"-propose-every is -5s; it is a time above zero":     {"-propose-every=-5s"},
		"-halve-score-after -1m0s: Consolidation.HalveScoreAfter is -1m0s; use a time such as 10m, or 0 for never": {"-halve-score-after=-1m"},
		"-min-score NaN": {"-min-score=NaN"},
		"-confirm-after is -1s; it is zero or more":                   {"-confirm-after=-1s"},
		"-batch-idle 20s, -batch-max 10s: ":                           {"-batch-idle=20s"},
		"flag provided but not defined: -dry-run":                     {"-dry-run"},
		"-qps is -1; it is a number above zero\n-propose-every is 0s": {"-qps=-1", "-propose-every=0"},
	} {
		var help strings.Builder
		_, err := parse(args, &help)
		require.ErrorContains(t, err, want)
		require.Empty(t, help.String())
	}
	var help strings.Builder
	_, err := parse([]string{"-h"}, &help)
	require.ErrorIs(t, err, flag.ErrHelp)
	require.Contains(t, help.String(), "usage: controller [flags]")
	s, err := parse([]string{"-min-score=0"}, &help)
	require.NoError(t, err)
	require.Negative(t, s.consolidation().MinimumScore, "zero is the default of the library, and none of the flag")
	t.Setenv("KUBERNETES_SERVICE_HOST", "")
	_, err = (&settings{}).reach()
	require.ErrorContains(t, err, "there is no -kubeconfig")
	_, err = (&settings{kubeconfig: "none"}).reach()
	require.ErrorContains(t, err, "-kubeconfig none: ")
}
