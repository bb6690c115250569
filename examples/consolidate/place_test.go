package main

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/dovetail-sdk/dovetail/examples/internal/command"
	"github.com/dovetail-sdk/dovetail/report"
)

// smallAs returns the small cluster with its text changed, each word for the next.
func smallAs(t *testing.T, changes ...string) string {
	t.Helper()
	text, err := os.ReadFile(small)
	require.NoError(t, err)
	changed := strings.NewReplacer(changes...).Replace(string(text))
	require.NotEqual(t, string(text), changed)
	return changed
}

// proposed runs the program on manifests.
func proposed(t *testing.T, manifests string, args ...string) (r report.Proposal, stdout, stderr string) {
	t.Helper()
	code, stdout, stderr := call(manifests, append([]string{"-o", "json", "-now", smallNow[1], "-f", "-"}, args...)...)
	require.Equal(t, command.OK, code, stderr)
	require.NoError(t, json.Unmarshal([]byte(stdout), &r))
	return r, stdout, stderr
}

// Each account has IDs of its own for the zones of a region.
func TestZoneIDsOfAnyAccount(t *testing.T) {
	_, want, _ := proposed(t, smallAs(t, "# Two", "# 2"))
	_, got, _ := proposed(t, smallAs(t, "zone: us-east-1a", "zone: us-east-1a, topology.k8s.aws/zone-id: use1-az4"))
	require.Equal(t, want, got)
}

func TestAClusterElsewhere(t *testing.T) {
	plain, _, _ := proposed(t, smallAs(t, "# Two", "# 2"))
	r, _, notes := proposed(t, smallAs(t, "zone: us-east-1a", "zone: eu-west-1b, topology.k8s.aws/zone-id: euw1-az1"))
	require.Contains(t, notes, "consolidate: prices are those of us-east-1, as those of eu-west-1 are not known here")
	require.Zero(t, r.Unknown)
	require.Equal(t, plain.Before, r.Before, "its on-demand prices are those of us-east-1")
	require.Equal(t, plain.After, r.After)
	require.Len(t, r.Actions, len(plain.Actions))

	r, _, _ = proposed(t, smallAs(t, "zone: us-east-1a", "zone: eu-west-1b"), "-region", "us-east-1", "-zones", "us-east-1a")
	require.Positive(t, r.Unknown, "asked for, whatever the nodes say")
}

// The template of the pool was edited, and nobody has written down its new hash: each
// node from before is replaced once, and none that was launched since.
func TestATemplateEditComesToRest(t *testing.T) {
	const hashes = `annotations: {karpenter.sh/nodepool-hash: "1", karpenter.sh/nodepool-hash-version: v3}, `
	r, _, _ := proposed(t, smallAs(t, "metadata: {name: web}", "metadata: {"+hashes+"name: web}",
		"kind: NodeClaim, metadata: {", "kind: NodeClaim, metadata: {"+hashes), "-converge")
	require.True(t, r.Converged, r.Stopped)
	require.LessOrEqual(t, len(r.Rounds), 3)
	drifted := 0
	for _, round := range r.Rounds {
		for _, a := range round.Actions {
			for _, n := range a.Nodes {
				require.Len(t, n.Node, len("n1"), "no new node drifts")
				if a.Reason == "Drifted" {
					drifted++
				}
			}
		}
	}
	require.Positive(t, drifted)
}

// A node of EKS Auto Mode is not replaced by one that its pool does not admit.
func TestAutoMode(t *testing.T) {
	code, stdout, stderr := call("", "-f", "../whatif/testdata/eks-auto-mode.yaml", "-now", "2026-11-20T12:00:00Z")
	require.Equal(t, command.OK, code, stderr)
	require.Contains(t, stdout, "Nothing is to be done now.")
	require.Contains(t, stdout, "the cheapest that holds what finds no room\n      elsewhere is c6a.large")
}

// Nodes of a node group have a price, and -as-pools says which of them could go.
func TestNodeGroups(t *testing.T) {
	args := []string{"-f", "testdata/node-groups.yaml", "-now", "2026-03-02T12:00:00Z"}
	code, stdout, stderr := call("", args...)
	require.Equal(t, command.OK, code, stderr)
	require.Contains(t, stdout, "3 nodes at 0.1542 USD/h")
	require.NotContains(t, stdout, "counts as 0")
	code, stdout, stderr = call("", append(args, "-as-pools")...)
	require.Equal(t, command.OK, code, stderr)
	require.Contains(t, stdout, "3 nodes at 0.1542 USD/h")
	require.Contains(t, stdout, "1  Remove 1 node: Underutilized")
	require.NotContains(t, stdout, "Expired")
}
