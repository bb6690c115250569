package main

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const classAndPool = `
apiVersion: karpenter.k8s.aws/v1
kind: EC2NodeClass
metadata: {name: default}
spec: {amiSelectorTerms: [{alias: al2023@latest}], role: of-no-matter-here}
---
apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: general}
spec: {template: {spec: {nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}, requirements: []}}}
`

const oneImage = `{"Images": [{"ImageId": "ami-1", "Name": "a", "Architecture": "x86_64", "State": "available",
  "CreationDate": "2026-01-01T00:00:00.000Z", "OwnerId": "1"}]}`

func claim(name, pool, class, instanceType string) string {
	return "---\napiVersion: karpenter.sh/v1\nkind: NodeClaim\nmetadata: {name: " + name + ", creationTimestamp: \"2026-01-02T00:00:00Z\", labels: {karpenter.sh/nodepool: " + pool +
		", node.kubernetes.io/instance-type: " + instanceType + "}}\nspec: {requirements: [], nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: " + class + "}}\nstatus: {imageID: ami-1}\n"
}

// readTexts reads texts from files.
func readTexts(t *testing.T, class, images, nodes string) (*input, error) {
	t.Helper()
	t.Chdir(t.TempDir())
	for name, text := range map[string]string{"class": class, "images": images, "nodes": nodes} {
		require.NoError(t, os.WriteFile(name, []byte(text), 0o666))
	}
	return (&settings{manifest: "class", images: "images", nodes: "nodes"}).read(nil)
}

// Nodes of another class count for the percentages of their pool, and for nothing else.
func TestRead(t *testing.T) {
	in, err := readTexts(t, classAndPool, oneImage, claim("b", "general", "default", "m5.large")+claim("a", "general", "default", "m5.large")+claim("c", "general", "other", "m5.large"))
	require.NoError(t, err)
	require.Equal(t, "default", in.Class)
	require.Equal(t, 1, in.Others)
	require.Equal(t, 3, in.Counts["general"].Nodes)
	require.Len(t, in.Nodes, 2)
	require.Equal(t, "a", in.Nodes[0].Name, "sorted")
}

// Faults of all files come together, with where each is.
func TestFaults(t *testing.T) {
	_, err := readTexts(t, classAndPool, "{}", claim("a", "gone", "default", "m5.huge")+claim("a", "general", "default", "m5.large"))
	require.ErrorContains(t, err, "images: images: the object has no list Images")
	require.ErrorContains(t, err, "nodes:10 (document 2): NodeClaim a: metadata.name: stands twice in the input, first in nodes, document 1")
	_, err = readTexts(t, classAndPool, oneImage, claim("a", "gone", "default", "m5.huge"))
	require.ErrorContains(t, err, `nodes: NodeClaim a: metadata.labels[karpenter.sh/nodepool]: NodePool "gone" is not in the manifest`)
	require.ErrorContains(t, err, `nodes: NodeClaim a: metadata.labels[node.kubernetes.io/instance-type]: "m5.huge" is not an instance type of the catalog`)
	_, err = readTexts(t, strings.Replace(classAndPool, "karpenter.k8s.aws/v1", "karpenter.k8s.aws/v1beta1", 1), oneImage, claim("a", "gone", "x", "m5.large"))
	require.ErrorContains(t, err, `class:2 (document 1): EC2NodeClass default: apiVersion: karpenter.k8s.aws/v1beta1 is not read`)
	class, _, _ := strings.Cut(classAndPool, "---")
	_, err = readTexts(t, "---\n"+classAndPool+"---\n"+class, oneImage, claim("a", "general", "default", "m5.large"))
	require.ErrorContains(t, err, "EC2NodeClass default: metadata.name: stands twice in the input, first in class, document 1; remove one of them")
}
