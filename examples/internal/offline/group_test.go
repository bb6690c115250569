package offline_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/examples/internal/offline"
)

const groups = "../../consolidate/testdata/node-groups.yaml"

// Nodes of node groups cost what their instance types do.
func TestPricesOfNodeGroups(t *testing.T) {
	w := worldOf(t, offline.Files{Manifests: []string{groups}}, "")
	prices := w.Prices()
	require.Len(t, prices, 3)
	require.Equal(t, 0.096, prices["lone"])
	require.Less(t, prices["workers-1"], 0.05, "it is spot")
	require.Empty(t, w.Cluster.NodePools)
}

// A node group read as a NodePool is one that could launch its nodes.
func TestAsPools(t *testing.T) {
	w := worldOf(t, offline.Files{Manifests: []string{groups}, AsPools: true}, "")
	require.Equal(t, []string{"node group workers is read as NodePool workers with 2 nodes"}, w.Remarks())
	in := w.Input()
	require.Len(t, in.NodePools, 1)
	pool := in.NodePools[0]
	require.Empty(t, pool.Validate())
	require.Equal(t, map[string]string{"eks.amazonaws.com/nodegroup": "workers", "eks.amazonaws.com/capacityType": "SPOT", "team": "shop"}, pool.Spec.Template.Labels)
	require.Len(t, pool.Spec.Template.Spec.Taints, 1)
	require.Equal(t, "team", pool.Spec.Template.Spec.Taints[0].Key)
	var requires []string
	for _, r := range pool.Spec.Template.Spec.Requirements {
		requires = append(requires, r.Key+" "+strings.Join(r.Values, ","))
	}
	require.Equal(t, []string{"node.kubernetes.io/instance-type m5.large", "topology.kubernetes.io/zone us-east-1a", "karpenter.sh/capacity-type spot"}, requires)
	require.NotEmpty(t, in.InstanceTypes["workers"])
	for i := range in.Nodes {
		n := &in.Nodes[i]
		require.Equal(t, n.Name() == "lone", n.NodeClaim == nil)
		if n.NodeClaim != nil {
			require.Empty(t, n.NodeClaim.Validate())
			require.Equal(t, "workers", n.Node.Labels[v1.NodePoolLabelKey])
		}
	}
	require.Len(t, w.Prices(), 1, "a pool tells what the others cost")

	// Two groups of one name in other letters, and a NodePool of it.
	text := `{apiVersion: karpenter.sh/v1, kind: NodePool, metadata: {name: a-b}, spec: {template: {spec: {nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: a}, requirements: []}}}}
---
{apiVersion: v1, kind: Node, metadata: {name: n-1, labels: {cloud.google.com/gke-nodepool: A_b}}, status: {allocatable: {cpu: 1}}}
---
{apiVersion: v1, kind: Node, metadata: {name: n-2, labels: {kubernetes.azure.com/agentpool: a_b}}, status: {allocatable: {cpu: 1}}}
`
	w = worldOf(t, offline.Files{AsPools: true}, text)
	var names []string
	for _, p := range w.Cluster.NodePools {
		names = append(names, p.Name+" "+p.Spec.Template.Spec.NodeClassRef.Kind)
	}
	require.Equal(t, []string{"a-b EC2NodeClass", "a-b-2 GCENodeClass", "a-b-3 AKSNodeClass"}, names)
	require.Contains(t, strings.Join(w.Remarks(), "\n"), "NodePool a-b-2 launches nothing")
}
