package v1_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
)

func TestNodePoolDefault(t *testing.T) {
	p := pool()
	p.Default()
	text, err := yaml.Marshal(p.Spec)
	require.NoError(t, err)
	require.Equal(t, `disruption:
  budgets:
  - nodes: 10%
  consolidateAfter: 0s
  consolidationPolicy: WhenEmptyOrUnderutilized
template:
  spec:
    expireAfter: 720h
    nodeClassRef:
      group: karpenter.k8s.aws
      kind: EC2NodeClass
      name: default
    requirements: []
`, string(text))
	require.Nil(t, p.Status.Nodes, "without a status there is nothing to count")

	again := p.DeepCopy()
	again.Default()
	require.Equal(t, p, again, "idempotent")
}

func TestNodePoolDefaultKeepsWhatIsSet(t *testing.T) {
	p := pool()
	p.Spec.Template.Spec.ExpireAfter = v1.NeverDuration()
	p.Spec.Disruption = v1.Disruption{
		ConsolidateAfter:    v1.NeverDuration(),
		ConsolidationPolicy: v1.ConsolidationPolicyBalanced,
		Budgets:             []v1.Budget{},
	}
	want := p.DeepCopy()
	p.Default()
	require.Equal(t, want, p)

	p.Spec.Disruption.Budgets = []v1.Budget{{Nodes: "5"}, {Reasons: []v1.DisruptionReason{v1.DisruptionReasonUnhealthy}}}
	p.Default()
	require.Equal(t, "5", p.Spec.Disruption.Budgets[0].Nodes)
	require.Equal(t, "10%", p.Spec.Disruption.Budgets[1].Nodes)
}

func TestNodePoolDefaultCompletesAStatus(t *testing.T) {
	p := pool()
	p.Status.Resources = corev1.ResourceList{}
	p.Default()
	require.Equal(t, int64(0), *p.Status.Nodes)
}

func TestNodeClaimDefault(t *testing.T) {
	c := claim()
	c.Default()
	require.Equal(t, v1.DefaultExpireAfter, *c.Spec.ExpireAfter.Duration)
	require.Equal(t, "720h", c.Spec.ExpireAfter.String())
	c.Spec.ExpireAfter = v1.NewDuration(time.Hour)
	c.Default()
	require.Equal(t, time.Hour, *c.Spec.ExpireAfter.Duration)
}

func TestDefaultOfNothing(t *testing.T) {
	require.NotPanics(t, func() {
		(*v1.NodePool)(nil).Default()
		(*v1.NodeClaim)(nil).Default()
		(*v1.NodeOverlay)(nil).Default()
		(*v1.Disruption)(nil).Default()
		(*v1.Budget)(nil).Default()
	})
	o := overlay()
	o.Default()
	require.Equal(t, overlay(), o)
}
