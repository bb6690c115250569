package convert_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/dovetail-sdk/dovetail/api/convert"
)

// FuzzConvert looks for texts that make the conversion panic, that a second
// conversion changes, or that change without a note.
func FuzzConvert(f *testing.F) {
	for _, text := range []string{
		"# c\napiVersion: karpenter.sh/v1alpha5\nkind: Provisioner\nmetadata: {name: a}\nspec: {consolidation: {enabled: true}, ttlSecondsUntilExpired: 9}\n",
		"kind: Provisioner\napiVersion: karpenter.sh/v1alpha5\nspec:\n  provider: # b\n    amiFamily: Ubuntu\n    subnetSelector: {aws-ids: 'a, b'}\n",
		"kind: AWSNodeTemplate\napiVersion: karpenter.k8s.aws/v1alpha1\nspec:\n  amiSelector: {aws::name: 'a,b', aws::owners: c}\n",
		"kind: NodePool\napiVersion: karpenter.sh/v1beta1\nspec: {template: {spec: {nodeClassRef: {name: c}, kubelet: {maxPods: ${P}}}}}\n---\n" +
			"kind: EC2NodeClass\napiVersion: karpenter.k8s.aws/v1beta1\nmetadata: {name: c}\nspec: {amiFamily: AL2}\n",
		"kind: NodeClaim\napiVersion: karpenter.sh/v1beta1\nspec: &a {nodeClassRef: {apiVersion: g/v1, name: {{ .c }}}, b: *a}\n",
		`{"kind":"List","apiVersion":"v1","items":[{"kind":"Machine","apiVersion":"karpenter.sh/v1alpha5","spec":{"kubelet":1}}]}{"a":1}`,
		"kind: Node\napiVersion: v1\nmetadata: {annotations: {karpenter.sh/do-not-consolidate: 'true'}}\n...\n",
		"kind: Pod\napiVersion: v1\nmetadata:\n  annotations:\n    karpenter.sh/do-not-evict: !!str true\nspec: {containers: []}\n",
		"kind: ConfigMap\napiVersion: v1\nmetadata: {name: karpenter-global-settings}\ndata: {aws.tags: '{}'}\n",
		"kind: AWSNodeTemplate\napiVersion: karpenter.k8s.aws/v1alpha1\nspec: {0\r\r0}", // a key of two lines
		"kind: NodePool\napiVersion: karpenter.sh/v1\nmetadata: {annotations: {compatibility.karpenter.sh/v1beta1-kubelet-conversion: '{\"a\":1}'}}\n",
		"apiVersion: 0\nkind: 0", // nothing of ours, which a check does not mention
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		original := string(data)
		r := convert.Convert(nil, convert.Source{Data: data})
		require.Equal(t, original, string(data), "the input was changed")
		out := r.Outputs[0]
		judged := convert.Convert(&convert.Options{Check: true}, convert.Source{Data: data})
		require.Equal(t, r.Outputs, judged.Outputs)
		require.GreaterOrEqual(t, len(judged.Notes), len(r.Notes)-leftAsItIs(r.Notes))
		if !out.Changed {
			require.Equal(t, original, string(out.Data))
			return
		}
		require.NotEmpty(t, r.Notes)
		again := convert.Convert(nil, convert.Source{Data: out.Data})
		require.Equal(t, string(out.Data), string(again.Outputs[0].Data), "a second conversion changes the text")
		require.False(t, again.Changed())
		both := convert.Convert(nil, convert.Source{Name: "a", Data: data}, convert.Source{Name: "b", Data: data})
		require.Equal(t, both.Outputs[0].Changed, both.Changed())
		stream := convert.Convert(nil, convert.Source{Data: both.Stream()})
		require.False(t, stream.Changed(), "converting the stream changes it")
		for _, n := range r.Notes {
			require.NotEmpty(t, n.Message)
			require.NotContains(t, n.String(), "\n")
			_ = n.String()
		}
	})
}

// leftAsItIs counts the notes about objects that are none of the conversion's business.
// A check says nothing of those.
func leftAsItIs(notes []convert.Note) int {
	n := 0
	for _, note := range notes {
		if strings.HasPrefix(note.Message, "left as it is: ") || strings.HasPrefix(note.Message, "left as it is, like ") {
			n++
		}
	}
	return n
}

// FuzzDecode looks for texts that make decoding of what was converted panic.
func FuzzDecode(f *testing.F) {
	f.Add([]byte("apiVersion: karpenter.sh/v1beta1\nkind: NodePool\nmetadata: {name: a}\nspec: {}\n"))
	f.Add([]byte(`{"apiVersion":"karpenter.k8s.aws/v1alpha1","kind":"AWSNodeTemplate","spec":{"amiSelector":{"aws::ids":"a,b"}}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		objects, _, err := decode(nil, string(data))
		require.NotNil(t, objects)
		if err != nil {
			require.NotEmpty(t, err.Error())
		}
	})
}
