package aws_test

import (
	"context"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/stretchr/testify/require"

	karpv1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/aws"
	awsv1 "github.com/dovetail-sdk/dovetail/aws/api/v1"
	"github.com/dovetail-sdk/dovetail/aws/awstest"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/cloudprovider/cloudprovidertest"
)

// The provider keeps the contract of package cloudprovider, over the wire, in a
// cloud in which everything takes time and pages are short.
func TestConformance(t *testing.T) {
	t.Parallel()
	cloudprovidertest.Run(t, func(tb testing.TB) *cloudprovidertest.Harness { return harness(tb.(*testing.T)) })
}

// The actions of EC2 and SQS that each method of a provider rests on.
func actionsOf(method string) []string {
	switch method {
	case "Create":
		return []string{"CreateFleet"}
	case "Delete":
		return []string{"TerminateInstances"}
	case "Interruptions":
		return []string{"ReceiveMessage"}
	case "Acknowledge":
		return []string{"DeleteMessage"}
	case "InstanceTypes":
		return []string{"DescribeInstanceTypes", "DescribeSubnets", "DescribeSecurityGroups", "DescribeImages"}
	}
	return []string{"DescribeInstances"}
}

func harness(t *testing.T) *cloudprovidertest.Harness {
	cloud := start(t, &awstest.Options{
		Boot: 30 * time.Second, Shutdown: 20 * time.Second, Lag: 5 * time.Second,
		PageSizes: map[string]int{"DescribeInstances": 2},
		Types:     some("c5.large", "g4dn.xlarge", "m5.large", "m5.metal", "m6g.large", "t3.small"),
	})
	s := newScene(t, func(s *scene) { s.cloud, s.config, s.opts.InterruptionQueue = cloud.Cloud, cloud.Config(), "demo" })
	s.settle(s.p)

	h := &cloudprovidertest.Harness{
		Provider: s.p, Pool: nodePool(), WellKnownLabels: awsv1.WellKnownLabels(), Patience: 90 * time.Second, Advance: cloud.Advance,
	}
	h.Claim = func(c *karpv1.NodeClaim) {
		annotations, err := s.p.ClaimAnnotations(t.Context(), "default")
		require.NoError(t, err)
		maps.Copy(c.Annotations, annotations)
	}
	h.Machines = func() int {
		n := 0
		for _, i := range cloud.Instances() {
			if i.Tags["eks:eks-cluster-name"] == "demo" && (i.State == "pending" || i.State == "running") {
				n++
			}
		}
		return n
	}
	h.Restart = func() cloudprovider.CloudProvider { return s.provider() }
	h.Neighbor = func() cloudprovider.CloudProvider { return s.neighbor() }
	s.faults(h)
	return h
}

// settle makes the instance profile of the class and waits until EC2 knows it.
func (s *scene) settle(p *aws.Provider) {
	var err error
	for range 5 {
		if _, err = p.InstanceTypes(s.Context(), nodePool()); err != nil {
			require.ErrorContains(s, err, "the instance profile is not known to EC2 yet")
		}
		s.cloud.Advance(max(10*time.Second, s.world.Lag))
		if err == nil {
			break
		}
		_ = p.Refresh(s.Context())
	}
	require.NoError(s, err)
}

// some are instance types of the double's catalog.
func some(names ...ec2types.InstanceType) (types []ec2types.InstanceTypeInfo) {
	for _, t := range awstest.InstanceTypes() {
		if slices.Contains(names, t.InstanceType) {
			types = append(types, t)
		}
	}
	return types
}

func start(t *testing.T, opts *awstest.Options) *awstest.Server {
	t.Helper()
	cloud, err := awstest.Start(opts)
	require.NoError(t, err)
	t.Cleanup(cloud.Close)
	return cloud
}

// neighbor returns the provider of another cluster. Its options have all the facts of that cluster, so
// that it does not ask EKS.
func (s *scene) neighbor() *aws.Provider {
	opts, all, k := s.opts, clients(s.config), s.cloud.Options().Cluster
	opts.Cluster = aws.Cluster{Name: "other", Endpoint: k.Endpoint, CABundle: k.CertificateAuthority, ServiceCIDR: k.ServiceCIDR, Version: k.Version}
	opts.InterruptionQueue, all.EKS = "", nil
	p, err := aws.New(all, &opts)
	require.NoError(s, err)
	s.Cleanup(func() { require.NoError(s, p.Close(context.Background())) })
	s.settle(p)
	return p
}

// faults are the hooks by which the suite makes the cloud misbehave.
func (s *scene) faults(h *cloudprovidertest.Harness) {
	h.RunDry = func(keys ...cloudprovider.OfferingKey) {
		for _, k := range keys {
			s.cloud.SetStock(k.Scope(), 0)
		}
	}
	h.Restock = func(keys ...cloudprovider.OfferingKey) {
		for _, k := range keys {
			s.cloud.SetStock(k.Scope(), -1)
		}
	}
	h.Fail = func(method string, kind cloudprovider.Kind) {
		// The client of the SDK asks three times.
		for _, action := range actionsOf(method) {
			f := awstest.Fault{Op: action, Times: 3, Err: awstest.ErrBroken}
			if kind == cloudprovider.KindThrottled {
				f.Err = awstest.ErrThrottled
			}
			s.script(f)
		}
	}
	h.Lose = func() { s.script(awstest.Fault{Op: "CreateFleet", Times: 3, Err: awstest.ErrLost}) }
	h.Hang = func(method string) (<-chan struct{}, func()) {
		reached, release, err := s.cloud.Hold(actionsOf(method)...)
		require.NoError(s, err)
		return reached, release
	}
	h.Unready = func() {
		s.class.Spec.SubnetSelectorTerms = []awsv1.SubnetSelectorTerm{{ID: "subnet-0123456789abcdef0"}}
	}
	h.Drift = func(string) { s.class.Spec.Tags = map[string]string{"team": "other"} }
	h.Terminate = func(id string) { require.NoError(s, s.cloud.Terminate(ec2ID(id))) }
	h.Interrupt = func(id string) cloudprovider.InterruptionKind {
		_, err := s.cloud.Interrupt(ec2ID(id))
		require.NoError(s, err)
		return cloudprovider.InterruptionSpot
	}
}

func (s *scene) script(faults ...awstest.Fault) {
	s.Helper()
	require.NoError(s, s.cloud.Script(faults...))
}

// ec2ID returns the last part of the ID of an instance.
func ec2ID(id string) string { return id[strings.LastIndexByte(id, '/')+1:] }
