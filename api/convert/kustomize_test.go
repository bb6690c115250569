package convert_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/dovetail-sdk/dovetail/api/convert"
)

// What has a field that every whole object of its kind has is converted, as is what may have
// one in a variable; a patch stays byte for byte, and is no second object of its name.
func TestPatches(t *testing.T) {
	for text, patch := range map[string]bool{
		provisioner(""): false,
		strings.Replace(provisioner("weight: 1"), "providerRef: {name: a}, ", "", 1):          true,
		strings.Replace(provisioner("requirements: []"), "providerRef: {name: a}, ", "", 1):   false,
		strings.Replace(provisioner("provider: {a: b}"), "providerRef: {name: a}, ", "", 1):   false,
		strings.Replace(provisioner("requirements: null"), "providerRef: {name: a}, ", "", 1): true,
		nodeTemplate("userData: a"):            true,
		nodeTemplate("subnetSelector: {a: b}"): false,
		betaPool(""):                           false,
		strings.Replace(betaPool(""), "nodeClassRef: {name: a}, ", "", 1):                                        true,
		strings.Replace(betaPool(""), "{spec: {nodeClassRef: {name: a}, requirements: []}}", `"${TEMPLATE}"`, 1): false,
		betaClass("amiFamily: AL2023"): false,
		"apiVersion: karpenter.k8s.aws/v1beta1\nkind: EC2NodeClass\nmetadata: {name: a}\nspec: {tags: {a: b}}\n": true,
		"apiVersion: karpenter.sh/v1beta1\nkind: NodeClaim\nmetadata: {name: a}\nspec: {taints: []}\n":           true,
		"apiVersion: karpenter.sh/v1alpha5\nkind: Machine\nmetadata: {name: a}\nspec: {requirements: []}\n":      false,
	} {
		out, notes := convert.Bytes([]byte(text), nil)
		require.Equal(t, patch, string(out) == text, text)
		require.Equal(t, patch, has(notes, convert.Error, "", "so it is a patch of a "), text)
	}
	_, notes := convert.Bytes([]byte(betaPool("")+"---\n"+strings.Replace(betaPool(""), "nodeClassRef: {name: a}, ", "", 1)), nil)
	require.False(t, has(notes, convert.Error, "metadata.name", ""))
}

// A Kustomization is for hand-work if a patch of it is of what is converted.
func TestKustomizations(t *testing.T) {
	const patch = "{apiVersion: karpenter.sh/v1beta1, kind: NodePool}"
	for patches, field := range map[string]string{
		"patches: [{target: {kind: Provisioner}}]":                                             "patches[0].target",
		"patches: [{target: {kind: Job}}, {target: {kind: AWSNodeTemplate}}]":                  "patches[1].target",
		"patches: [{target: {kind: NodePool, version: v1beta1}}]":                              "patches[0].target",
		"patches: [{target: {group: karpenter.k8s.aws, version: v1beta1}}]":                    "patches[0].target",
		"patches: [{target: {group: karpenter.sh, version: v1, kind: NodePool}}]":              "",
		"patches: [{target: {kind: NodePool}}]":                                                "",
		"patches: [{target: {group: example.com, kind: Machine}}]":                             "",
		"patches: [{target: {version: v1beta1}}]":                                              "",
		"patches: [{patch: '" + patch + "'}]":                                                  "patches[0].patch",
		"patchesJson6902: [{target: {group: karpenter.sh, version: v1alpha5, kind: Machine}}]": "patchesJson6902[0].target",
		"patchesStrategicMerge: [a.yaml, '" + patch + "']":                                     "patchesStrategicMerge[1]",
		"resources: [a.yaml]": "",
	} {
		text := "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\n" + patches + "\n"
		out, notes := convert.Bytes([]byte(text), nil)
		require.Equal(t, text, string(out))
		require.Len(t, notes, 1, patches)
		require.Equal(t, field, notes[0].Field, patches)
		require.Equal(t, field != "", notes[0].Severity == convert.Error, patches)
	}
}
