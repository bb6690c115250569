package v1_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/runtime"

	karpv1 "github.com/dovetail-sdk/dovetail/api/v1"
	v1 "github.com/dovetail-sdk/dovetail/aws/api/v1"
)

// TestManifests reads manifests as users have them, and writes them back in the
// same words.
func TestManifests(t *testing.T) {
	for _, name := range manifests(t) {
		t.Run(name, func(t *testing.T) {
			text := readFile(t, "manifests", name)
			c, err := v1.DecodeEC2NodeClass(text)
			require.NoError(t, err)
			require.Empty(t, c.Validate())
			require.Empty(t, c.ValidateUpdate(class()))
			written, err := json.Marshal(c)
			require.NoError(t, err)
			docs, err := karpv1.Documents(text)
			require.NoError(t, err)
			require.JSONEq(t, string(docs[0].JSON()), string(written))
		})
	}
}

func TestDecodeNamesEveryFault(t *testing.T) {
	_, err := v1.DecodeEC2NodeClass([]byte(`
apiVersion: karpenter.k8s.aws/v1
kind: EC2NodeClass
metadata: {name: default}
spec:
  amiSelector: {a: b}
  subnetSelector: {}
  securityGroupSelector: {}
  launchTemplate: mine
  amiSelectorTerms: [{alais: al2023@latest}]
  httpTokens: required
  kubelet: {maxPod: 5, maxPods: [5], registryPullQPS: 5, registerWithTaints: []}
  role: a
  role: b
  blockDeviceMappings: [null, {ebs: {volumeSize: large}}]
  tags: {a: null}
`))
	require.EqualError(t, err, `EC2NodeClass "default": `+
		`spec.amiSelector: Forbidden: unknown field; write spec.amiSelectorTerms, a list of terms; `+
		`spec.amiSelectorTerms[0].alais: Forbidden: unknown field; did you mean "alias"?; `+
		`spec.blockDeviceMappings[0]: Invalid value: "null": want a value, got null; remove the item; `+
		`spec.blockDeviceMappings[1].ebs.volumeSize: Invalid value: "large": want 1Gi to 59000Gi, 1G to 64000G, 1T to 64T or 1Ti to 58Ti; `+
		`of the last the API server refuses 18, 19, 28 and so on, write those in Gi; `+
		`spec.httpTokens: Forbidden: unknown field; it belongs at spec.metadataOptions.httpTokens; `+
		`spec.kubelet.maxPod: Forbidden: unknown field; did you mean "maxPods"?; `+
		`spec.kubelet.maxPods: Invalid value: "[...]": want a whole number of 32 bits, or a string, got a list; `+
		`spec.kubelet.registerWithTaints: Forbidden: unknown field; taints come from the NodePool; write them there; `+
		`spec.launchTemplate: Forbidden: unknown field; launch templates are made from this object; write what yours has into its fields; `+
		`spec.role: Duplicate value: "role": the key appears more than once in this object; keep one; `+
		`spec.securityGroupSelector: Forbidden: unknown field; write spec.securityGroupSelectorTerms, a list of terms; `+
		`spec.subnetSelector: Forbidden: unknown field; write spec.subnetSelectorTerms, a list of terms; `+
		`spec.tags[a]: Invalid value: "null": want a value, got null; remove the key`)
}

func TestDecodeOfOtherKinds(t *testing.T) {
	for text, want := range map[string]string{
		"{}": `decode: apiVersion: Required value: write apiVersion: karpenter.k8s.aws/v1; kind: Required value: write kind: EC2NodeClass`,
		"{apiVersion: karpenter.k8s.aws/v1beta1, kind: EC2NodeClass}": `EC2NodeClass: apiVersion: Invalid value: "karpenter.k8s.aws/v1beta1": ` +
			`only karpenter.k8s.aws/v1 is read; convert the manifest, the fields of other versions differ`,
		"{apiVersion: karpenter.sh/v1, kind: NodePool}": `NodePool: apiVersion: Invalid value: "karpenter.sh/v1": ` +
			`want karpenter.k8s.aws/v1 for a EC2NodeClass; kind: Invalid value: "NodePool": want EC2NodeClass`,
		"": "decode: the text holds no object",
	} {
		_, err := v1.DecodeEC2NodeClass([]byte(text))
		require.EqualError(t, err, want, text)
	}
}

func TestDecodeEC2NodeClasses(t *testing.T) {
	classes, err := v1.DecodeEC2NodeClasses([]byte(`
apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: other}
---
apiVersion: karpenter.k8s.aws/v1
kind: EC2NodeClassList
items:
  - metadata: {name: a}
  - metadata: {name: b}
---
apiVersion: karpenter.k8s.aws/v1
kind: EC2NodeClass
metadata: {name: c}
`))
	require.NoError(t, err)
	require.Len(t, classes, 3)
	for i, name := range []string{"a", "b", "c"} {
		require.Equal(t, name, classes[i].Name)
		require.Equal(t, "EC2NodeClass", classes[i].Kind)
	}
	_, err = v1.DecodeEC2NodeClasses([]byte(`
apiVersion: karpenter.k8s.aws/v1alpha1
kind: AWSNodeTemplate
metadata: {name: a}
---
apiVersion: karpenter.k8s.aws/v1
kind: EC2NodeClass
metadata: {name: b}
spec: {subnetSelector: {}}
---
[
`))
	require.ErrorContains(t, err, "not valid YAML")
	require.ErrorContains(t, err, `document 1, AWSNodeTemplate "a": apiVersion: Invalid value`)
	require.ErrorContains(t, err, `document 2, EC2NodeClass "b": spec.subnetSelector: Forbidden: unknown field; write spec.subnetSelectorTerms`)
}

func TestAddToScheme(t *testing.T) {
	scheme := runtime.NewScheme()
	require.NoError(t, v1.AddToScheme(scheme))
	require.NoError(t, v1.AddToScheme(scheme), "twice is harmless")
	for kind, want := range map[string]runtime.Object{
		"karpenter.k8s.aws/v1, Kind=EC2NodeClass":     &v1.EC2NodeClass{},
		"karpenter.k8s.aws/v1, Kind=EC2NodeClassList": &v1.EC2NodeClassList{},
	} {
		gvks, _, err := scheme.ObjectKinds(want)
		require.NoError(t, err)
		require.Len(t, gvks, 1)
		require.Equal(t, kind, gvks[0].String())
	}
	require.Equal(t, "EC2NodeClass.karpenter.k8s.aws", v1.Kind(v1.EC2NodeClassKind).String())
	require.Equal(t, "ec2nodeclasses.karpenter.k8s.aws", v1.Resource("ec2nodeclasses").String())
}

func TestDecodeOfQuantitiesThatTakeForEver(t *testing.T) {
	for _, size := range []string{"1e9999999", "1e-99999999"} {
		_, err := v1.DecodeEC2NodeClass([]byte("apiVersion: karpenter.k8s.aws/v1\nkind: EC2NodeClass\nmetadata: {name: a}\n" +
			"spec: {blockDeviceMappings: [{ebs: {volumeSize: \"" + size + "\"}}]}\n"))
		require.ErrorContains(t, err, "spec.blockDeviceMappings[0].ebs.volumeSize: Invalid value: ")
		require.ErrorContains(t, err, "want 1Gi to 59000Gi")
	}
}
