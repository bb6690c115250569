package convert_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/dovetail-sdk/dovetail/api/convert"
)

// FuzzConvert looks for texts that make the conversion panic, that a second
// conversion changes, or that change without a note.
func FuzzConvert(f *testing.F) {
	for _, text := range []string{
		"# c\napiVersion: karpenter.sh/v1alpha5\nkind: Provisioner\nmetadata: {name: a}\nspec: {providerRef: {name: a}, consolidation: {enabled: true}, ttlSecondsUntilExpired: 9}\n",
		"kind: Provisioner\napiVersion: karpenter.sh/v1alpha5\nspec:\n  provider: # b\n    amiFamily: Ubuntu\n    securityGroupSelector: {a: b}\n    subnetSelector: {aws-ids: 'a, b'}\n",
		"kind: AWSNodeTemplate\napiVersion: karpenter.k8s.aws/v1alpha1\nspec:\n  subnetSelector: {a: ' '}\n  securityGroupSelector: {a: 'c,d', e: 'f,g'}\n  amiSelector: {aws::name: 'a,b', aws::owners: c}\n  userData: \"a \\n\\n b\"\n",
		"kind: NodePool\napiVersion: karpenter.sh/v1beta1\nspec: {template: {spec: {nodeClassRef: {name: c}, requirements: [], kubelet: {maxPods: 3}}}}\n---\n" +
			"kind: EC2NodeClass\napiVersion: karpenter.k8s.aws/v1beta1\nmetadata: {name: c}\nspec: {amiFamily: AL2, role: r, subnetSelectorTerms: [{id: subnet-1}], securityGroupSelectorTerms: [{id: sg-1}]}\n",
		"kind: NodeClaim\napiVersion: karpenter.sh/v1beta1\nspec: &a {nodeClassRef: {apiVersion: g/v1, name: {{ .c }}}, b: *a}\n",
		`{"kind":"List","apiVersion":"v1","items":[{"kind":"Machine","apiVersion":"karpenter.sh/v1alpha5","spec":{"requirements":[],"machineTemplateRef":{"name":"yes"}}}]}{"a":1}`,
		"kind: Node\napiVersion: v1\nmetadata: {annotations: {karpenter.sh/do-not-consolidate: 'true'}}\n...\n",
		"kind: Pod\napiVersion: v1\nmetadata:\n  annotations:\n    karpenter.sh/do-not-evict: !!str true\n    karpenter.sh/do-not-disrupt: a\nspec: {containers: []}\n",
		"kind: ConfigMap\napiVersion: v1\nmetadata: {name: karpenter-global-settings}\ndata: {aws.tags: '{}'}\n",
		"kind: AWSNodeTemplate\napiVersion: karpenter.k8s.aws/v1alpha1\nspec: {0\r\r0}", // a key of two lines
		"kind: NodePool\napiVersion: karpenter.sh/v1\nspec: {template: {spec: {nodeClassRef: {}}}}\nmetadata: {annotations: {compatibility.karpenter.sh/v1beta1-kubelet-conversion: '{\"a\":1}'}}\n",
		"kind: Kustomization\napiVersion: kustomize.config.k8s.io/v1beta1\npatches: [{target: {kind: Provisioner}}]\n",
		"apiVersion: 0\nkind: 0",
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		original := string(data)
		r := convert.Convert([]convert.Source{{Data: data}}, nil)
		require.Equal(t, original, string(data), "the input was changed")
		out := string(r.Outputs[0].Data)
		judged := convert.Convert([]convert.Source{{Data: data}}, &convert.Options{Check: true})
		require.Equal(t, r.Outputs, judged.Outputs)
		require.GreaterOrEqual(t, len(judged.Notes), len(r.Notes))
		for _, n := range judged.Notes {
			require.NotEmpty(t, n.Message)
			require.NotContains(t, n.String(), "\n")
		}
		if out == original {
			return
		}
		require.NotEmpty(t, r.Notes)
		again, _ := convertText(out, nil)
		require.Equal(t, out, again, "a second conversion changes the text")
		both := convert.Convert([]convert.Source{{Name: "a", Data: data}, {Name: "b", Data: data}}, nil)
		stream, _ := convertText(string(both.Stream()), nil)
		require.Equal(t, string(both.Stream()), stream, "converting the stream changes it")
	})
}

// FuzzDecode looks for texts that make decoding of what was converted panic.
func FuzzDecode(f *testing.F) {
	f.Add([]byte("apiVersion: karpenter.sh/v1beta1\nkind: NodePool\nmetadata: {name: a}\nspec: {template: {spec: {nodeClassRef: {name: a}, requirements: []}}}\n"))
	f.Add([]byte(`{"apiVersion":"karpenter.k8s.aws/v1alpha1","kind":"AWSNodeTemplate","spec":{"subnetSelector":{"a":"b"},"securityGroupSelector":{"aws::ids":"a,b"}}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		objects, _, err := decode(nil, string(data))
		require.NotNil(t, objects)
		if err != nil {
			require.NotEmpty(t, err.Error())
		}
	})
}
