package manifest_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

const claimSpec = `
spec:
  requirements: []
  nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}
`

func node(name, spec string) string {
	return "apiVersion: v1\nkind: Node\nmetadata: {name: " + name + "}\n" + spec
}

func claim(name, status string) string {
	return "apiVersion: karpenter.sh/v1\nkind: NodeClaim\nmetadata: {name: " + name + "}" + claimSpec + status
}

func TestJoinsNodesAndClaims(t *testing.T) {
	c := mustRead(t, docs(
		node("node-a", ""),
		node("node-b", "spec: {providerID: aws:///b}"),
		node("node-c", "spec: {providerID: aws:///c}"),
		claim("by-name", "status: {nodeName: node-a}"),
		claim("by-id", "status: {providerID: aws:///b}"),
		claim("on-its-way", "status: {providerID: aws:///d}"),
		pod("p2", "spec: {nodeName: node-a, containers: [{name: a}]}"),
		pod("p1", "spec: {nodeName: node-a, containers: [{name: a}]}"),
	))
	got := map[string]string{}
	for _, n := range c.Nodes {
		claim := "-"
		if n.NodeClaim != nil {
			claim = n.NodeClaim.Name
		}
		got[n.Name()] = claim
	}
	require.Equal(t, map[string]string{"node-a": "by-name", "node-b": "by-id", "node-c": "-", "on-its-way": "on-its-way"}, got)
	require.Equal(t, []string{"shop/p1", "shop/p2"}, names(c.Nodes[0].Pods))
}

func TestTwoClaimsOfOneNode(t *testing.T) {
	_, err := read(docs(node("node-a", ""), claim("one", "status: {nodeName: node-a}"), claim("two", "status: {nodeName: node-a}")))
	require.EqualError(t, err, "a.yaml:20 (document 3): NodeClaim two: status.nodeName: "+
		`is that of Node "node-a", which NodeClaim "one" has already; leave one of the two out`)
}

func TestNodesThatAreBeingDeleted(t *testing.T) {
	const deleted = `{"apiVersion":"v1","kind":"Node","metadata":{"name":"node-a","deletionTimestamp":"2026-01-02T03:04:05Z"}}`
	bound := func(name, owner string) string {
		return `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"` + name + `","namespace":"shop","ownerReferences":[{"apiVersion":"apps/v1","kind":"` + owner +
			`","name":"x","uid":"1","controller":true}]},"spec":{"nodeName":"node-a","containers":[{"name":"a"}]}}`
	}
	ending := func(name, owner string) string {
		return strings.Replace(bound(name, owner), `"namespace"`, `"deletionTimestamp":"2026-01-02T03:04:05Z","namespace"`, 1)
	}
	c := mustRead(t, docs(deleted, bound("web", "ReplicaSet"), bound("agent", "DaemonSet"), bound("mirror", "Node"), ending("db", "StatefulSet"), ending("old", "ReplicaSet")))
	require.Len(t, c.Nodes, 1, "it counts until it is gone")
	require.Equal(t, []string{"shop/agent", "shop/db", "shop/mirror", "shop/old", "shop/web"}, names(c.Nodes[0].Pods))
	require.Empty(t, c.Pods)
	require.Equal(t, []string{"node node-a: it is being deleted; its pods (2) are planned for elsewhere"}, c.Depart(now))
	require.Equal(t, []string{"shop/agent", "shop/mirror", "shop/old"}, names(c.Nodes[0].Pods), "no pod is in two places")
	require.Equal(t, []string{"shop/db", "shop/web"}, names(c.Pods))
	require.Empty(t, c.Pods[0].Spec.NodeName)
	require.Nil(t, c.Pods[0].DeletionTimestamp, "it comes back")
}

// now is when the nodes of the tests have begun to go.
var now = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

// A pod that nothing may evict waits on a node that is being deleted.
func TestPodsThatNothingMayEvict(t *testing.T) {
	c := mustRead(t, docs(`
apiVersion: v1
kind: Node
metadata: {name: node-a}
`, `
apiVersion: karpenter.sh/v1
kind: NodeClaim
metadata: {name: a, deletionTimestamp: "2026-01-02T03:04:05Z"}`+claimSpec+`status: {nodeName: node-a}
`, pod("web", "spec: {nodeName: node-a, containers: [{name: a}]}"), `
apiVersion: v1
kind: Pod
metadata: {name: job, namespace: shop, annotations: {karpenter.sh/do-not-disrupt: "true"}}
spec: {nodeName: node-a, containers: [{name: a}]}
`))
	require.Equal(t, []string{`node node-a: it is being deleted; nothing may evict Pod "shop/job", and nothing bounds the drain, ` +
		"so that the node stays until the pod ends; its pods (1) are planned for elsewhere"}, c.Depart(now))
	require.Equal(t, []string{"shop/web"}, names(c.Pods))
	require.Equal(t, []string{"shop/job"}, names(c.Nodes[0].Pods))
}

// Nodes come and go while a dump is written, list after list.
func TestPodsOfADumpWhoseNodeIsGone(t *testing.T) {
	const node = `{"apiVersion":"v1","kind":"Node","metadata":{"name":"node-a"}}`
	bound := func(name, uid string) string {
		return `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"` + name + `","namespace":"shop"` + uid + `},"spec":{"nodeName":"gone","containers":[{"name":"a"}]}}`
	}
	a, b := bound("a", `,"uid":"1"`), bound("b", `,"uid":"2"`)
	c := mustRead(t, docs(node, a, b))
	require.Empty(t, c.Nodes[0].Pods)
	require.Empty(t, c.Pods)
	require.Equal(t, []string{"node gone is not in the input; its pods (2) count nowhere"}, c.Notes)
	_, err := read(docs(a, b))
	require.ErrorContains(t, err, "is bound to Node gone", "the nodes were left out")
	_, err = read(docs(node, a, bound("c", "")))
	require.ErrorContains(t, err, "is bound to Node gone", "c is written by hand")
}

func TestNodePoolsAreStrictDefaultedAndValidated(t *testing.T) {
	const good = `
apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: general}
spec:
  template:
    spec:
      nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}
      requirements: []
`
	c := mustRead(t, good)
	require.Equal(t, "720h0m0s", c.NodePools[0].Spec.Template.Spec.ExpireAfter.Duration.String())

	const misspelt = `
apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: general}
spec:
  wieght: 3
  template:
    spec:
      nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}
      requirements: []
`
	_, err := read(misspelt)
	require.EqualError(t, err, `a.yaml:6 (document 1): NodePool general: spec.wieght: Forbidden: unknown field; did you mean "weight"?`)

	c = mustRead(t, strings.Replace(misspelt, "general", "general, uid: accepted-by-a-server", 1))
	require.Equal(t, []string{"NodePool general: spec.wieght is newer than this program and was ignored"}, c.Notes)

	_, err = read(good + "        \n  weight: 101\n")
	require.ErrorContains(t, err, "a.yaml:11 (document 1): NodePool general: spec.weight: Invalid value: 101")
}
