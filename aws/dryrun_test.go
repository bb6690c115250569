package aws_test

import (
	"context"
	"slices"
	"sync"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/smithy-go"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	karpv1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/aws"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
)

// policy lets RunInstances have some instance types only, as a service control policy does.
type policy struct {
	aws.EC2API
	mu      sync.Mutex
	allowed []string
	asked   []string
}

func (p *policy) RunInstances(ctx context.Context, in *ec2.RunInstancesInput, opts ...func(*ec2.Options)) (*ec2.RunInstancesOutput, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	name := string(in.InstanceType)
	if in.InstanceMarketOptions != nil {
		name += " " + string(in.InstanceMarketOptions.MarketType)
	}
	p.asked = append(p.asked, name)
	if slices.Contains(p.allowed, name) {
		return p.EC2API.RunInstances(ctx, in, opts...)
	}
	return nil, &smithy.OperationError{ServiceID: "EC2", OperationName: "RunInstances", Err: &smithy.GenericAPIError{Code: "UnauthorizedOperation",
		Message: "You are not authorized to perform this operation, with an explicit deny in a service control policy."}}
}

// underPolicy returns a scene in which only some instance types may be launched.
func underPolicy(t *testing.T, allowed []string, change ...func(*scene)) (*scene, *policy) {
	scp := &policy{allowed: allowed}
	return newScene(t, append(change, func(s *scene) {
		s.wrap = func(c aws.Clients) aws.Clients {
			scp.EC2API, c.EC2 = c.EC2, scp
			return c
		}
	})...), scp
}

const typeLabel = corev1.LabelInstanceTypeStable

// poolFor returns a NodePool that asks for labels with values.
func poolFor(name, key string, values ...string) *karpv1.NodePool {
	p := nodePool()
	p.Name = name
	p.Spec.Template.Spec.Requirements = []karpv1.NodeSelectorRequirementWithMinValues{{Key: key, Operator: corev1.NodeSelectorOpIn, Values: values}}
	return p
}

// A service control policy may allow only the instance types that the pools ask for. It is
// enough that one of these can be launched.
func TestADryRunTriesWhatThePoolsAskFor(t *testing.T) {
	with := func(p *karpv1.NodePool, more *karpv1.NodePool) *karpv1.NodePool {
		p.Spec.Template.Spec.Requirements = append(p.Spec.Template.Spec.Requirements, more.Spec.Template.Spec.Requirements...)
		return p
	}
	elsewhere := poolFor("elsewhere", typeLabel, "c5.large")
	elsewhere.Spec.Template.Spec.NodeClassRef.Name = "other"
	large := poolFor("a", typeLabel, "m5.large")
	for name, c := range map[string]struct {
		pools          []*karpv1.NodePool
		allowed, asked []string
	}{
		"one type":            {[]*karpv1.NodePool{large}, []string{"m5.large"}, []string{"m5.large"}},
		"of the second pool":  {[]*karpv1.NodePool{poolFor("b", typeLabel, "m5.large"), poolFor("a", typeLabel, "g4dn.xlarge")}, []string{"m5.large"}, []string{"g4dn.xlarge", "m5.large"}},
		"of another category": {[]*karpv1.NodePool{poolFor("a", typeLabel, "c5.large", "m5.large", "m5.xlarge")}, []string{"m5.large"}, []string{"c5.large", "m5.large"}},
		"spot alone":          {[]*karpv1.NodePool{with(poolFor("a", typeLabel, "m5.large"), poolFor("", karpv1.CapacityTypeLabelKey, "spot"))}, []string{"m5.large spot"}, []string{"m5.large spot"}},
		"a label of the pool": {[]*karpv1.NodePool{with(poolFor("a", typeLabel, "m5.large"), poolFor("", "team", "web"))}, []string{"m5.large"}, []string{"m5.large"}},
		"another class":       {[]*karpv1.NodePool{elsewhere, large}, []string{"m5.large"}, []string{"m5.large"}},
	} {
		t.Run(name, func(t *testing.T) {
			s, scp := underPolicy(t, c.allowed, func(s *scene) {
				s.opts.NodePools = func(context.Context) ([]*karpv1.NodePool, error) { return c.pools, nil }
			})
			require.NoError(t, s.p.NodeClassReady(t.Context(), *large.Spec.Template.Spec.NodeClassRef))
			require.Equal(t, c.asked, slices.Compact(scp.asked))
		})
	}
}

// The message names what was tried, and who can mend it.
func TestADryRunThatNoPolicyAllows(t *testing.T) {
	pools := []*karpv1.NodePool{poolFor("a", typeLabel, "m5.large"), poolFor("b", typeLabel, "g4dn.xlarge")}
	s, scp := underPolicy(t, nil, func(s *scene) {
		s.opts.NodePools = func(context.Context) ([]*karpv1.NodePool, error) { return pools, nil }
	})
	for range 3 {
		err := s.p.NodeClassReady(t.Context(), *pools[0].Spec.Template.Spec.NodeClassRef)
		require.ErrorIs(t, err, cloudprovider.ErrNotReady)
		require.ErrorContains(t, err, "no launch of m5.large, g4dn.xlarge is allowed: You are not authorized to perform this operation, "+
			"with an explicit deny in a service control policy.; have the service control policy of the organization allow it")
		require.NotContains(t, err.Error(), "aws/iam")
	}
	require.Len(t, scp.asked, 6, "two types in three subnets, once")
}

// Without Options.NodePools a class learns of its pools when their types are asked for. A
// refusal holds for the pools that there were; what is allowed stays allowed.
func TestADryRunLearnsOfPools(t *testing.T) {
	s, scp := underPolicy(t, []string{"m5.large"})
	ref := *nodePool().Spec.Template.Spec.NodeClassRef
	require.ErrorIs(t, s.p.NodeClassReady(t.Context(), ref), cloudprovider.ErrNotReady)
	_, err := s.p.InstanceTypes(t.Context(), poolFor("a", typeLabel, "m5.large"))
	require.NoError(t, err)
	require.NoError(t, s.p.NodeClassReady(t.Context(), ref))
	asked := len(scp.asked)
	_, err = s.p.InstanceTypes(t.Context(), poolFor("b", typeLabel, "c5.large"))
	require.NoError(t, err)
	require.Len(t, scp.asked, asked, "one success is enough")
}
