package compile

import (
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/dovetail-sdk/dovetail/internal/engine/bitset"
	"github.com/dovetail-sdk/dovetail/internal/engine/constraint/kinds"
	"github.com/dovetail-sdk/dovetail/internal/engine/model"
	"github.com/dovetail-sdk/dovetail/internal/engine/pack"
	"github.com/dovetail-sdk/dovetail/internal/engine/workload"
)

// TestLimitsCountAllPods: a limit counts pods that wait whenever they have their turn, and
// pods that run even if they are being deleted, but no pods of DaemonSets.
func TestLimitsCountAllPods(t *testing.T) {
	counted, limit := bitset.New(1), workload.Limit{Kind: 1, Pods: 0, Most: 2}
	counted.Add(0)
	p := &Problem{Workload: Workload{Classes: []workload.Class{
		{Selected: counted, Limits: []workload.Limit{limit}}, {Selected: counted}, {Selected: bitset.New(1), Limits: []workload.Limit{limit}},
	}}}
	p.Rules = newRules(p, make([]workload.Selection, 1))
	p.Rules.join(p)
	require.Len(t, p.Rules.Node, 1)
	require.False(t, p.Rules.Node[0].Spread)
	require.Equal(t, pack.Rule{Kind: pack.AtMost, Limit: 2}, p.Rules.Node[0].Rule)
	require.Equal(t, []pack.Membership{{Owners: 1, Members: 1, Both: 1}}, p.Rules.ByClass[0].Parts)
	require.Equal(t, []pack.Membership{{Members: 1}}, p.Rules.ByClass[1].Parts)
	require.Equal(t, []pack.Membership{{Owners: 1}}, p.Rules.ByClass[2].Parts)

	x := &baseline{p: p, r: p.Rules}
	now := metav1.Now()
	leaving := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{DeletionTimestamp: &now}}
	require.Equal(t, []pack.Membership{{Members: 1}}, x.addPod(nil, leaving, counted, nil, false))
	require.Empty(t, x.addPod(nil, leaving, counted, nil, true))
	require.Equal(t, []pack.Membership{{Owners: 1, Members: 1}}, x.limitParts([]pack.Membership{{Members: 1}}, []workload.Limit{limit}))
	require.Empty(t, x.limitParts(nil, []workload.Limit{{Kind: 0, Pods: 0, Most: 2}}), "of another kind")

	p.NodeParts, p.position = [][]pack.Membership{{{Members: 1}}, {{Members: 2}}, {{Owners: 1, Members: 2}}}, []int{0, 1, 2}
	held := func(c int, node int32) model.Cause { return heldOnNode(p, c, &model.Existing{Index: node}) }
	for c := range p.Rules.ByClass {
		p.Rules.ByClass[c].All = p.Rules.ByClass[c].Parts
	}
	cause := kinds.Of(1).Cause
	require.Empty(t, held(0, 0))
	require.Equal(t, cause, held(0, 1))
	require.Empty(t, held(1, 1), "nobody there has the limit")
	require.Equal(t, cause, held(1, 2))
	require.Empty(t, held(2, 2), "it does not count itself")
}
