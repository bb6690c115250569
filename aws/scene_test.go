package aws_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/arczonalshift"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	karpv1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/aws"
	awsv1 "github.com/dovetail-sdk/dovetail/aws/api/v1"
	"github.com/dovetail-sdk/dovetail/aws/awstest"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
)

// scene is a provider and the cloud that it talks to.
type scene struct {
	*testing.T
	cloud  *awstest.Cloud
	config awssdk.Config // for clients of the cloud
	class  *awsv1.EC2NodeClass
	opts   aws.Options
	p      *aws.Provider

	world awstest.Options                       // of the cloud; set it before it starts
	wrap  func(clients aws.Clients) aws.Clients // around the clients of all providers
	lazy  bool                                  // no provider has prices to begin with
}

func clients(cfg awssdk.Config) aws.Clients {
	c := aws.Connect(cfg)
	c.ZonalShift = arczonalshift.NewFromConfig(cfg)
	return c
}

func newScene(t *testing.T, change ...func(*scene)) *scene {
	t.Helper()
	s := &scene{T: t, class: nodeClass(), wrap: func(c aws.Clients) aws.Clients { return c }}
	s.opts = aws.Options{
		Region: "us-east-1", Cluster: aws.Cluster{Name: "demo", DNSIP: "10.100.0.10"},
		Batch: aws.Batch{Idle: 2 * time.Millisecond, Max: 50 * time.Millisecond},
		NodeClasses: func(_ context.Context, name string) (*awsv1.EC2NodeClass, error) {
			if name != s.class.Name {
				return nil, cloudprovider.ErrNotFound
			}
			return s.class, nil
		},
	}
	for _, f := range change {
		f(s)
	}
	if s.cloud == nil {
		cloud, err := awstest.New(&s.world)
		require.NoError(t, err)
		s.cloud, s.config = cloud, inMemory{cloud}.config()
	}
	s.opts.Now = s.cloud.Now
	s.p = s.provider()
	if s.world.Lag > 0 {
		s.settle(s.p)
	}
	return s
}

// provider is another process for the same cluster.
func (s *scene) provider() *aws.Provider {
	p, err := aws.New(s.wrap(clients(s.config)), &s.opts)
	require.NoError(s, err)
	s.Cleanup(func() { require.NoError(s, p.Close(context.Background())) })
	if !s.lazy {
		_ = p.Refresh(s.Context())
	}
	return p
}

// pass lets time pass, and AWS be asked again for what is due.
func (s *scene) pass(d time.Duration) {
	s.Helper()
	s.cloud.Advance(d)
	require.NoError(s, s.p.Refresh(s.Context()))
}

func nodeClass() *awsv1.EC2NodeClass {
	return &awsv1.EC2NodeClass{
		ObjectMeta: metav1.ObjectMeta{Name: "default", UID: "11111111-2222-4333-8444-555555555555", Generation: 1},
		Spec: awsv1.EC2NodeClassSpec{
			AMISelectorTerms:           []awsv1.AMISelectorTerm{{Alias: "al2023@latest"}},
			SubnetSelectorTerms:        []awsv1.SubnetSelectorTerm{{Tags: map[string]string{"karpenter.sh/discovery": "demo"}}},
			SecurityGroupSelectorTerms: []awsv1.SecurityGroupSelectorTerm{{Tags: map[string]string{"karpenter.sh/discovery": "demo"}}},
			Role:                       "KarpenterNodeRole-demo",
		},
	}
}

func nodePool() *karpv1.NodePool {
	p := &karpv1.NodePool{ObjectMeta: metav1.ObjectMeta{Name: "general"}}
	p.Spec.Template.Spec.NodeClassRef = &karpv1.NodeClassReference{Group: awsv1.Group, Kind: awsv1.EC2NodeClassKind, Name: "default"}
	return p
}

// read returns the node class, as it resolves now.
func (s *scene) read() aws.NodeClass {
	s.Helper()
	class, err := s.p.NodeClass(s.Context(), "default")
	require.NoError(s, err)
	return class
}

func (s *scene) types() []*cloudprovider.InstanceType {
	s.Helper()
	types, err := s.p.InstanceTypes(s.Context(), nodePool())
	require.NoError(s, err)
	return types
}

// request asks for one machine by the available options that want is true for.
func (s *scene) request(token string, want func(cloudprovider.LaunchOption) bool) cloudprovider.LaunchRequest {
	s.Helper()
	req := cloudprovider.LaunchRequest{
		Token: token, Name: "general-" + token, NodePool: "general", NodeClassRef: *nodePool().Spec.Template.Spec.NodeClassRef,
		Requirements: requirements.NewSet(requirements.In(karpv1.CapacityTypeLabelKey, "on-demand", "spot", "reserved")),
	}
	for _, t := range s.types() {
		for i := range t.Offerings {
			o := cloudprovider.LaunchOption{InstanceType: t, Offering: &t.Offerings[i]}
			if o.Offering.Launchable() && (want == nil || want(o)) {
				req.Options = append(req.Options, o)
			}
		}
	}
	require.NotEmpty(s, req.Options)
	return req
}

func onDemand(o cloudprovider.LaunchOption) bool {
	return o.Offering.CapacityType == karpv1.CapacityTypeOnDemand
}

func large(o cloudprovider.LaunchOption) bool {
	return onDemand(o) && o.InstanceType.Name == "m5.large"
}

func (s *scene) create(token string, want func(cloudprovider.LaunchOption) bool) *cloudprovider.Instance {
	s.Helper()
	return s.launch(s.request(token, want))
}

func (s *scene) launch(req cloudprovider.LaunchRequest) *cloudprovider.Instance {
	s.Helper()
	i, err := s.p.Create(s.Context(), req)
	require.NoError(s, err)
	return i
}

func tokens(n int) []string {
	out := make([]string, n)
	for i := range out {
		out[i] = fmt.Sprintf("t%04d", i)
	}
	return out
}
