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
	require.EqualError(t, err, `List: line 5: items[1]: want an object with apiVersion and kind, got a list`+"\n"+
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

// Lists are opened wherever they are, and an array of objects is one document.
func TestDocumentsOfListsInLists(t *testing.T) {
	const pool = `{"apiVersion":"karpenter.sh/v1","kind":"NodePool","metadata":{"name":"NAME"}}`
	named := func(name string) string { return strings.Replace(pool, "NAME", name, 1) }
	list := func(items string) string { return `{"apiVersion":"v1","kind":"List","items":[` + items + `]}` }
	for text, want := range map[string][]string{
		"[" + named("a") + "," + named("b") + "]":                             {"a", "b"},
		list(named("a") + "," + list(named("b")) + "," + list("")):            {"a", "b"},
		"[" + list(named("a")) + "]":                                          {"a"},
		list(named("a")) + "\n---\n- {kind: NodePool, metadata: {name: b}}\n": {"a", "b"},
		`[]`: {},
	} {
		docs, err := v1.Documents([]byte(text))
		require.NoError(t, err, text)
		names := []string{}
		for _, d := range docs {
			names = append(names, d.Name())
		}
		require.Equal(t, want, names, text)
	}
	for text, want := range map[string]string{
		"\n[[]]":                          "decode: line 2: [0]: want an object with apiVersion and kind, got a list",
		"- 5\n":                           "decode: line 1: [0]: want an object with apiVersion and kind, got a number: 5",
		"- kind: List\n  items:\n  - a\n": `List: line 3: [0].items[0]: want an object with apiVersion and kind, got a string: "a"`,
		"kind: List\nitems:\n-\n":         "List: line 3: items[0]: want an object with apiVersion and kind, got null",
		strings.Repeat(`{"kind":"List","items":[`, 5000) + strings.Repeat("]}", 5000):             "List: line 1: lists are nested more than 8 deep; unfold them",
		"- {kind: NodePool, apiVersion: karpenter.sh/v1, metadata: {name: a, name: b}}\n":         `NodePool "b": metadata.name: Duplicate value: "name": the key appears more than once in this object; keep one`,
		`[{"kind":"NodePool","apiVersion":"karpenter.sh/v1","metadata":{"name":"a","name":"b"}}]`: `NodePool "b": metadata.name: Duplicate value: "name": the key appears more than once in this object; keep one`,
	} {
		_, err := v1.DecodeAll([]byte(text))
		require.EqualError(t, err, want, text)
	}
	// YAML has no surrogates.
	_, err := v1.DecodeAll([]byte(`{"kind":"NodePool","apiVersion":"karpenter.sh/v1","metadata":{"name":"\ud83d\ude00","name":"b"}}`))
	require.EqualError(t, err, `NodePool "b": metadata.name: Duplicate value: "metadata.name": the key appears more than once in this object; keep one`)
}

// Lines count from the start of the text, and that of a field that is not there is that of its parent.
func TestLinesOfFields(t *testing.T) {
	text := "# pools\n---\nkind: List\nitems:\n- kind: A\n  metadata:\n    name: a\n    labels: {a.b/c: d}\n    name: b\n- &x\n  kind: B\n  spec:\n  - k: v\n- *x\n---\n{\"kind\": \"C\",\n\"spec\": 1}\n"
	docs, err := v1.Documents([]byte(text))
	require.NoError(t, err)
	for _, tt := range []struct {
		document int
		field    string
		want     int
	}{
		{0, "", 5}, {0, "kind", 5}, {0, "metadata.labels[a.b/c]", 8}, {0, "metadata.name", 9}, {0, "metadata.uid", 6}, {0, "spec.x", 5},
		{1, "spec[0].k", 13}, {1, "spec[1].k", 12}, {2, "", 14}, {2, "spec[0].k", 13}, {3, "spec", 17}, {3, "[0]", 16},
	} {
		require.Equal(t, tt.want, docs[tt.document].Line(tt.field), "%v", tt)
	}
	require.Zero(t, v1.Document{}.Line(""))
	_, err = v1.Documents([]byte("a: b\n---\nx: [1, 2\ny: 3\n"))
	var broken *v1.DecodeError
	require.ErrorAs(t, err, &broken)
	require.Equal(t, 3, broken.Line)
	require.ErrorIs(t, err, broken.Err)
}

// Some short texts are numbers that nobody can work out. They are faults, and found
// at once.
func TestQuantitiesThatTakeForEver(t *testing.T) {
	const pool = `{"apiVersion":"karpenter.sh/v1","kind":"NodePool","metadata":{"name":"a"},"spec":{"limits":{"cpu":QUANTITY},
		"template":{"spec":{"nodeClassRef":{"group":"g.k","kind":"C","name":"d"},"requirements":[]}}}}`
	for _, quantity := range []string{`"1e-99999999"`, `"1E-2147483647"`, `"0.1e-2000000000"`, `"` + strings.Repeat("1", 101) + `"`} {
		_, err := v1.DecodeNodePool([]byte(strings.Replace(pool, "QUANTITY", quantity, 1)))
		require.ErrorContains(t, err, "spec.limits[cpu]: Invalid value: ", quantity)
		require.ErrorContains(t, err, "want a quantity of ordinary size", quantity)
		require.Less(t, len(err.Error()), 300)
	}
	for _, quantity := range []string{`"1e3"`, `1e3`, `1e-99999999`, `"1e-3"`, `0`, `0.0`, `"1Ei"`, `"5E"`, `"12.5E"`, `"100m"`, `"1e-100"`} {
		_, err := v1.DecodeNodePool([]byte(strings.Replace(pool, "QUANTITY", quantity, 1)))
		require.NoError(t, err, quantity)
	}
}
