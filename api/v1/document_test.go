package v1_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
)

func TestDecodeAll(t *testing.T) {
	objects, err := v1.DecodeAll(readFile(t, "manifests", "stored.yaml"))
	require.NoError(t, err)
	require.Len(t, objects, 2)
	p, c := objects[0].(*v1.NodePool), objects[1].(*v1.NodeClaim)
	require.Equal(t, "stored", p.Name)
	require.Equal(t, int64(2), *p.Status.Nodes)
	require.Equal(t, p.Annotations[v1.NodePoolHashAnnotationKey], p.Hash())
	require.Equal(t, "stored-x7k2p", c.Name)
	require.Equal(t, "i-0123456789abcdef0", c.Status.ProviderID[strings.LastIndex(c.Status.ProviderID, "/")+1:])

	_, err = v1.DecodeAll([]byte(`
apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: a}
spec: {wieght: 1}
...
---
apiVersion: karpenter.sh/v1
kind: NodeClaim
metadata: {name: b}
spec: {taint: []}
--- # the end
`))
	require.EqualError(t, err, `document 1, NodePool "a": spec.wieght: Forbidden: unknown field; did you mean "weight"?`+"\n"+
		`document 2, NodeClaim "b": spec.taint: Forbidden: unknown field; did you mean "taints"?`)

	objects, err = v1.DecodeAll(nil)
	require.NoError(t, err)
	require.Empty(t, objects)
}

func TestDecodeLists(t *testing.T) {
	text := []byte(`{"apiVersion":"karpenter.sh/v1","kind":"NodePoolList","metadata":{"resourceVersion":"5"},"items":[` +
		`{"metadata":{"name":"a"},"spec":{"template":{"spec":{"requirements":[],"nodeClassRef":{"group":"g","kind":"k","name":"n"}}}}},{}]}`)
	list, err := v1.Decode(text)
	require.NoError(t, err)
	require.Equal(t, "a", list.(*v1.NodePoolList).Items[0].Name)
	require.Empty(t, list.(*v1.NodePoolList).Items[0].Kind)

	objects, err := v1.DecodeAll(text)
	require.NoError(t, err)
	require.Len(t, objects, 2)
	require.Equal(t, "NodePool", objects[0].(*v1.NodePool).Kind)
	require.Equal(t, "karpenter.sh/v1", objects[1].(*v1.NodePool).APIVersion)

	_, err = v1.DecodeAll([]byte("kind: NodePoolList\napiVersion: karpenter.sh/v1\nitmes: []\n"))
	require.EqualError(t, err, `NodePoolList: itmes: Forbidden: unknown field; did you mean "items"?`)
	_, err = v1.DecodeAll([]byte("kind: List\napiVersion: v1\nitem: []\nitems: []\n"))
	require.EqualError(t, err, `List: item: Forbidden: unknown field; did you mean "items"?`)
	_, err = v1.DecodeAll([]byte("kind: List\napiVersion: v1\nitems:\n- {kind: NodeClaim, apiVersion: karpenter.sh/v1, spec: {taints: [], taints: []}}\n- []\n- {kind: NodeClaim, kind: NodeClaim, apiVersion: karpenter.sh/v1}\n"))
	require.EqualError(t, err, `List: items[1]: decode: want an object with apiVersion and kind, got a list`+"\n"+
		`document 1, NodeClaim: spec.taints: Duplicate value: "taints": the key appears more than once in this object; keep one`+"\n"+
		`document 2, NodeClaim: kind: Duplicate value: "kind": the key appears more than once in this object; keep one`)
	for _, kind := range []string{"NodePoolList", "NodeClaimList"} {
		obj, err := v1.Decode([]byte("kind: " + kind + "\napiVersion: karpenter.sh/v1\nitems: []\n"))
		require.NoError(t, err)
		requireRoundTrip(t, obj)
	}
	obj, err := v1.Decode([]byte("kind: NodeOverlayList\napiVersion: karpenter.sh/v1alpha1\nitems: []\n"))
	require.NoError(t, err)
	requireRoundTrip(t, obj)
}

func TestDocuments(t *testing.T) {
	docs, err := v1.Documents(readFile(t, "manifests", "gpu.yaml"))
	require.NoError(t, err)
	require.Len(t, docs, 2)
	require.Equal(t, "karpenter.k8s.aws/v1, Kind=EC2NodeClass", docs[0].GroupVersionKind().String())
	require.Equal(t, "gpu", docs[0].Name())
	require.Contains(t, string(docs[0].JSON()), "al2023@latest")
	docs[0].JSON()[0] = 'x'
	require.Equal(t, byte('{'), docs[0].JSON()[0], "the bytes are the caller's")

	var p v1.NodePool
	require.NoError(t, docs[1].Into(v1.GroupVersion.WithKind("NodePool"), &p))
	require.Equal(t, "gpu", p.Name)
	require.EqualError(t, docs[0].Into(v1.GroupVersion.WithKind("NodePool"), &p),
		`document 1, EC2NodeClass "gpu": apiVersion: Invalid value: "karpenter.k8s.aws/v1": want karpenter.sh/v1 for a NodePool; kind: Invalid value: "EC2NodeClass": want NodePool`)

	docs, err = v1.Documents([]byte("a: [\n---\nkind: x\n"))
	require.Error(t, err)
	require.Len(t, docs, 1, "what can be read is returned beside the error")
}
