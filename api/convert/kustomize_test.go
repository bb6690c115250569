package convert_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/dovetail-sdk/dovetail/api/convert"
)

// What lacks a field that its version requires is a patch: it stays byte for byte, and is no
// second object of its name.
func TestPatches(t *testing.T) {
	without := func(text string, parts ...string) string {
		for _, part := range parts {
			require.Contains(t, text, part)
			text = strings.Replace(text, part, "", 1)
		}
		return text
	}
	for text, missing := range map[string]string{
		provisioner(""): "",
		without(provisioner("weight: 1"), "providerRef: {name: a}, "):                                                                         "spec.providerRef",
		without(provisioner("requirements: []"), "providerRef: {name: a}, "):                                                                  "spec.providerRef",
		without(provisioner("provider: {amiFamily: AL2, subnetSelector: {a: b}, securityGroupSelector: {a: b}}"), "providerRef: {name: a}, "): "",
		without(provisioner("provider: {subnetSelector: {a: b}}"), "providerRef: {name: a}, "):                                                "spec.provider.securityGroupSelector",
		nodeTemplate("userData: a"):                                           "spec.securityGroupSelector",
		nodeTemplate("subnetSelector: null, securityGroupSelector: {}"):       "spec.subnetSelector",
		nodeTemplate("subnetSelector: {a: b}, securityGroupSelector: {a: b}"): "",
		betaPool(""): "",
		without(betaPool(""), "nodeClassRef: {name: a}, "): "spec.template.spec.nodeClassRef",
		without(betaPool(""), ", requirements: []"):        "spec.template.spec.requirements",
		betaClass("amiFamily: AL2023"):                     "",
		"apiVersion: karpenter.k8s.aws/v1beta1\nkind: EC2NodeClass\nmetadata: {name: a}\nspec: {tags: {a: b}}\n":                           "spec.amiFamily",
		"apiVersion: karpenter.sh/v1beta1\nkind: NodeClaim\nmetadata: {name: a}\nspec: {taints: []}\n":                                     "spec.nodeClassRef",
		"apiVersion: karpenter.sh/v1alpha5\nkind: Machine\nmetadata: {name: a}\nspec: {requirements: [], machineTemplateRef: {name: a}}\n": "",
		"apiVersion: karpenter.sh/v1alpha5\nkind: Machine\nmetadata: {name: a}\n":                                                          "spec",
	} {
		out, notes := convertText(text, nil)
		require.Equal(t, missing != "", out == text, text)
		require.Equal(t, missing != "", has(notes, convert.Error, "", "left as it is: it has no "+missing+", which every "), "%s\n%v", text, notes)
	}
	out, notes := convertText(strings.Replace(betaPool(""), "template", "$patch: replace, template", 1), nil)
	require.Contains(t, out, "v1beta1")
	require.True(t, has(notes, convert.Error, "", "it is a Kustomize patch; convert what kustomize build prints"))
	_, notes = convertText(betaPool("")+"---\n"+without(betaPool(""), "nodeClassRef: {name: a}, "), nil)
	require.False(t, has(notes, convert.Error, "metadata.name", ""))
}

// A Kustomization is refused if a patch of it has no target once that is converted.
func TestKustomizations(t *testing.T) {
	for patches, field := range map[string]string{
		"patches: [{target: {kind: Provisioner}}]":                                "patches[0].target",
		"patches: [{target: {kind: Job}}, {target: {kind: AWSNodeTemplate}}]":     "patches[1].target",
		"patches: [{target: {kind: NodePool, version: v1beta1}}]":                 "patches[0].target",
		"patches: [{target: {group: karpenter.k8s.aws, version: v1beta1}}]":       "patches[0].target",
		"patches: [{target: {group: karpenter.sh, version: v1, kind: NodePool}}]": "",
		"patches: [{target: {kind: NodePool}}]":                                   "",
		"patches: [{target: {group: example.com, kind: Machine}}]":                "",
		"patches: [{target: {version: v1beta1}}]":                                 "",
		"resources: [a.yaml]": "",
		"patches: a":          "",
	} {
		text := "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\n" + patches + "\n"
		out, notes := convertText(text, nil)
		require.Equal(t, text, out)
		if field == "" {
			require.Empty(t, notes, patches)
			continue
		}
		require.Len(t, notes, 1, patches)
		require.Equal(t, field, notes[0].Field, patches)
		require.Equal(t, convert.Error, notes[0].Severity, patches)
	}
}
