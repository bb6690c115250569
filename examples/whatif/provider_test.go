package main

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/dovetail-sdk/dovetail/examples/internal/command"
	"github.com/dovetail-sdk/dovetail/report"
)

// A pool whose machines are not of EC2 gets none of EC2, unless a file says what it can launch.
func TestPoolsOfOtherClouds(t *testing.T) {
	code, stdout, stderr := call("", "-f", "testdata/aks-pool.yaml")
	require.Equal(t, command.OK, code)
	require.Contains(t, stderr, "whatif: NodePool general-purpose launches nothing: its nodeClassRef names the AKSNodeClass default of karpenter.azure.com, "+
		"and the instance types known here are those of EC2; name a file of the instance types of its cloud with -instance-types\n")
	require.Contains(t, stdout, "1 pod stays pending.")

	code, stdout, stderr = call("", "-f", "testdata/aks-pool.yaml", "-instance-types", "testdata/types.yaml")
	require.Equal(t, command.OK, code)
	require.NotContains(t, stderr, "launches nothing")
	require.Contains(t, stdout, "1 pod needs 1 new node.")
}

// A requirement on a label that only another cloud sets is not one that a node of EC2 meets.
func TestRequirementsOfOtherClouds(t *testing.T) {
	for old, label := range map[string]string{
		"karpenter.azure.com, kind: AKSNodeClass": "karpenter.azure.com/sku-family",
		"eks.amazonaws.com, kind: NodeClass":      "eks.amazonaws.com/instance-colour",
	} {
		manifests := strings.ReplaceAll(read(t, "testdata/aks-pool.yaml"), "karpenter.azure.com/sku-family", label)
		ref := "karpenter.k8s.aws, kind: EC2NodeClass"
		if strings.HasPrefix(old, "eks") {
			ref = old
		}
		manifests = strings.Replace(manifests, "karpenter.azure.com, kind: AKSNodeClass", ref, 1)
		code, stdout, stderr := call(manifests, "-f", "-")
		require.Equal(t, command.OK, code)
		require.Contains(t, stderr, "NodePool general-purpose launches nothing: it requires something of the label "+label)
		require.Contains(t, stdout, "1 pod stays pending.")
	}
}

// EKS Auto Mode labels nodes in its own domain, and launches no small types.
func TestAutoMode(t *testing.T) {
	code, stdout, stderr := call("", "-f", "testdata/eks-auto-mode.yaml", "-o", "json", "-options", "0")
	require.Equal(t, command.OK, code)
	require.Contains(t, stderr, "without the fee of Auto Mode")
	var r report.Plan
	require.NoError(t, json.Unmarshal([]byte(stdout), &r))
	require.Len(t, r.NewNodes, 1)
	n := r.NewNodes[0]
	for _, o := range n.Options {
		require.Contains(t, "cmr", o.InstanceType[:1])
		require.Greater(t, o.InstanceType[1:2], "4")
	}

	// A pod may select by them, and no pool of Karpenter's own class gets them.
	const own = `---
{apiVersion: karpenter.sh/v1, kind: NodePool, metadata: {name: own}, spec: {template: {spec: {
  nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}, requirements: []}}}}
---
{apiVersion: v1, kind: Pod, metadata: {name: picky, namespace: shop}, spec: {
  nodeSelector: {eks.amazonaws.com/instance-family: m7i, eks.amazonaws.com/compute-type: auto}, containers: [{name: a, image: a, resources: {requests: {cpu: 4}}}]}}
---
{apiVersion: v1, kind: Pod, metadata: {name: plain, namespace: shop}, spec: {
  nodeSelector: {karpenter.k8s.aws/instance-family: m7i}, containers: [{name: a, image: a, resources: {requests: {cpu: 4}}}]}}
`
	code, stdout, stderr = call(read(t, "testdata/eks-auto-mode.yaml")+own, "-f", "-", "-explain", "shop/picky")
	require.Equal(t, command.OK, code, stderr)
	require.Contains(t, stdout, "goes to new node general-purpose-0001 of")
	require.Contains(t, stdout, "m7i.")
	code, stdout, stderr = call(read(t, "testdata/eks-auto-mode.yaml")+own, "-f", "-", "-explain", "shop/plain")
	require.Equal(t, command.OK, code, stderr)
	require.Contains(t, stdout, "goes to new node own-0001 of")
	require.Contains(t, stdout, "m7i.")
}

// A pool that can launch nothing says which of its requirements leaves nothing.
func TestRequirementsThatRuleOut(t *testing.T) {
	code, stdout, stderr := call("", "-f", "testdata/requirements-rule-out.yaml")
	require.Equal(t, command.OK, code, stderr)
	require.Contains(t, strings.Join(strings.Fields(stdout), " "),
		"its requirements rule out all 989 instance types: none meets karpenter.k8s.aws/instance-family = c7gg")
	code, stdout, stderr = call("", "-f", "testdata/requirements-rule-out.yaml", "-explain", "shop/web")
	require.Equal(t, command.OK, code, stderr)
	told := strings.Join(strings.Fields(stdout), " ")
	require.Regexp(t, `-\d+ kubernetes.io/arch = arm64; \d\d\d of 989 instance types are left -\d+ karpenter.k8s.aws/instance-family = c7gg; 0 of 989 instance types are left`, told)
}

// A name after -explain that nothing resembles gets an example of one.
func TestExplainHasAHint(t *testing.T) {
	stderr := program.Refuses(t, "", []string{"-f", "testdata/requirements-rule-out.yaml", "-explain", "payments/ledger"})
	require.Equal(t, "whatif: -explain payments/ledger: neither a pod to place nor a workload of one has this name; the first is shop/web\n", stderr)
}
