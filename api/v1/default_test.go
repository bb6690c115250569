package v1_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
)

func TestDefaultKeepsWhatIsSet(t *testing.T) {
	p, c := pool(), claim()
	p.Spec.Template.Spec.ExpireAfter, c.Spec.ExpireAfter = v1.NeverDuration(), v1.NewDuration(time.Hour)
	p.Spec.Disruption = v1.Disruption{
		ConsolidateAfter: v1.NeverDuration(), ConsolidationPolicy: v1.ConsolidationPolicyBalanced, Budgets: []v1.Budget{{Nodes: "5"}},
	}
	poolBefore, claimBefore := p.DeepCopy(), c.DeepCopy()
	p.Default()
	c.Default()
	require.Equal(t, poolBefore, p)
	require.Equal(t, claimBefore, c)
}

func TestNodePoolDefaultCompletesAStatus(t *testing.T) {
	p := pool()
	p.Default()
	require.Nil(t, p.Status.Nodes, "without a status there is nothing to count")
	p.Status.Resources = corev1.ResourceList{}
	p.Default()
	require.Equal(t, int64(0), *p.Status.Nodes)
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
