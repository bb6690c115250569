package nodeclaim_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/provisioning"
	"github.com/dovetail-sdk/dovetail/provisioning/nodeclaim"
)

func TestOverdue(t *testing.T) {
	unlaunched := withCondition(v1.ConditionTypeLaunched, metav1.ConditionUnknown, -4*time.Minute)
	unregistered := withCondition(v1.ConditionTypeRegistered, metav1.ConditionUnknown, -20*time.Minute)
	joining := func(n *provisioning.Node) { n.Node = nil }
	uninitialized := func(n *provisioning.Node) {
		delete(n.Node.Labels, v1.NodeInitializedLabelKey)
		setCondition(n.NodeClaim, v1.ConditionTypeInitialized, metav1.ConditionUnknown, noon.Add(-time.Hour))
	}
	for _, tt := range []struct {
		name     string
		edits    []func(*provisioning.Node)
		timeouts nodeclaim.Timeouts
		want     v1.DisruptionReason // empty if none
		next     time.Duration
	}{
		{"a node that is up", nil, nodeclaim.Timeouts{}, "", 0},
		{"no machine yet", []func(*provisioning.Node){unlaunched, withCondition(v1.ConditionTypeRegistered, metav1.ConditionUnknown, -4*time.Minute), joining}, nodeclaim.Timeouts{}, "", time.Minute},
		{"no machine in time", []func(*provisioning.Node){unlaunched, unregistered, joining}, nodeclaim.Timeouts{Launch: 4 * time.Minute}, nodeclaim.LaunchTimeout, 0},
		{"not joined in time", []func(*provisioning.Node){unregistered, joining}, nodeclaim.Timeouts{}, nodeclaim.RegistrationTimeout, 0},
		{"the Node says that it joined", []func(*provisioning.Node){unregistered}, nodeclaim.Timeouts{}, "", 0},
		{"waits for ever", []func(*provisioning.Node){unlaunched, unregistered, joining}, nodeclaim.Timeouts{Launch: -1, Registration: -1}, "", 0},
		{"not ready, for ever by default", []func(*provisioning.Node){uninitialized}, nodeclaim.Timeouts{}, "", 0},
		{"not ready in time", []func(*provisioning.Node){uninitialized}, nodeclaim.Timeouts{Initialization: time.Hour}, nodeclaim.InitializationTimeout, 0},
		{"it reboots", []func(*provisioning.Node){uninitialized, withCondition(v1.ConditionTypeRebooting, metav1.ConditionTrue, 0)}, nodeclaim.Timeouts{Initialization: time.Hour}, "", 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			n := newNode("n", "web", tt.edits...)
			late, next, overdue := nodeclaim.Overdue(noon, n.NodeClaim, n.Node, &tt.timeouts)
			require.Equal(t, tt.want != "", overdue)
			require.Equal(t, tt.want, late.Reason)
			if tt.next > 0 {
				require.Equal(t, noon.Add(tt.next), next)
			}
			if overdue {
				require.False(t, late.At().After(noon))
			}
		})
	}
	_, _, overdue := nodeclaim.Overdue(noon, nil, nil, nil)
	require.False(t, overdue)
	n := newNode("n", "web", unregistered, joining, withoutCondition(v1.ConditionTypeRegistered), func(n *provisioning.Node) { n.NodeClaim.CreationTimestamp = metav1.Time{} })
	_, _, overdue = nodeclaim.Overdue(noon, n.NodeClaim, nil, nil)
	require.False(t, overdue, "the time does not run for a claim of unknown age")
}
