package main

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/dovetail-sdk/dovetail/examples/internal/command"
	"github.com/dovetail-sdk/dovetail/report"
)

// A cluster of three zones never gets a node in a fourth, and in no other region.
func TestNodesAreLaunchedWhereTheClusterIs(t *testing.T) {
	manifests := `{apiVersion: karpenter.sh/v1, kind: NodePool, metadata: {name: web}, spec: {template: {spec: {
  nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: web}, requirements: []}}}}
`
	for _, zone := range []string{"eu-west-1a", "eu-west-1b", "eu-west-1c"} {
		manifests += "---\n{apiVersion: v1, kind: Node, metadata: {name: n-" + zone + ", labels: {topology.kubernetes.io/zone: " + zone +
			"}}, status: {allocatable: {cpu: 100m, memory: 1Gi, pods: 5}}}\n"
	}
	manifests += `---
{apiVersion: apps/v1, kind: Deployment, metadata: {name: web}, spec: {replicas: 8, selector: {matchLabels: {app: web}}, template: {
  metadata: {labels: {app: web}}, spec: {containers: [{name: web, image: web, resources: {requests: {cpu: 3}}}],
  topologySpreadConstraints: [{topologyKey: topology.kubernetes.io/zone, maxSkew: 1, whenUnsatisfiable: DoNotSchedule, labelSelector: {matchLabels: {app: web}}}]}}}}
`
	code, stdout, stderr := call(manifests, "-f", "-", "-o", "json", "-options", "0")
	require.Equal(t, command.OK, code, stderr)
	var r report.Plan
	require.NoError(t, json.Unmarshal([]byte(stdout), &r))
	require.Empty(t, r.Unplaced)
	zones := map[string]bool{}
	for _, n := range r.NewNodes {
		for _, o := range n.Options {
			zones[o.Zone] = true
		}
	}
	require.Equal(t, map[string]bool{"eu-west-1a": true, "eu-west-1b": true, "eu-west-1c": true}, zones)
	require.Contains(t, r.Input.Notes, "prices are those of us-east-1, as those of eu-west-1 are not known here; -instance-types takes others")
}
