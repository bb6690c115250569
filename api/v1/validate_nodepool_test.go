package v1_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
)

// TestNodePoolValidate has fields of a spec, and what is said of a pool with them.
func TestNodePoolValidate(t *testing.T) {
	for fields, want := range map[string][]string{
		`{}`: nil,
		`{template: {spec: {requirements: null}}}`: {`spec.template.spec.requirements: Required value: write an empty list, [], to admit every node`},
		`{template: {spec: {nodeClassRef: null}}}`: {`spec.template.spec.nodeClassRef: Required value: name the provider's NodeClass by group, kind and name`},
		`{template: {spec: {nodeClassRef: {group: "", kind: "", name: ""}}}}`: {
			`spec.template.spec.nodeClassRef.group: Required value: the API group of the NodeClass, without its version`,
			`spec.template.spec.nodeClassRef.kind: Required value: the kind of the NodeClass`,
			`spec.template.spec.nodeClassRef.name: Required value: the name of the NodeClass`,
		},
		`{template: {spec: {nodeClassRef: {group: karpenter.k8s.aws/v1}}}}`: {
			`spec.template.spec.nodeClassRef.group: Invalid value: "karpenter.k8s.aws/v1": a group has no version; write "karpenter.k8s.aws"`},
		`{weight: 0}`:                       {`spec.weight: Invalid value: 0: want 1 to 100; leave it out for the lowest weight, 0`},
		`{weight: 101}`:                     {`spec.weight: Invalid value: 101: want 1 to 100; leave it out for the lowest weight, 0`},
		`{weight: 100}`:                     nil,
		`{replicas: 0, limits: {nodes: 3}}`: nil,
		`{replicas: -1, weight: 10, limits: {nodes: 0, memory: 0, cpu: 0}}`: {
			`spec.limits[cpu]: Forbidden: a static pool, with replicas, can only limit nodes; remove it`,
			`spec.limits[memory]: Forbidden: a static pool, with replicas, can only limit nodes; remove it`,
			`spec.weight: Forbidden: a static pool, with replicas, has no weight; remove it`,
			`spec.replicas: Invalid value: -1: want 0 to 2147483647`,
		},
		`{limits: {cpu: -1, memory: 0, nodes: -2}}`: {
			`spec.limits[cpu]: Invalid value: "-1": want 0 or more; 0 launches nothing`,
			`spec.limits[nodes]: Invalid value: "-2": want 0 or more; 0 launches nothing`,
		},
		`{disruption: {consolidationPolicy: WhenUnderutilized}}`: {
			`spec.disruption.consolidationPolicy: Unsupported value: "WhenUnderutilized": supported values: "Balanced", "WhenEmpty", "WhenEmptyOrUnderutilized"`},
		`{template: {spec: {expireAfter: 1.5h, terminationGracePeriod: -1s}}, disruption: {consolidateAfter: 500ms}}`: {
			`spec.template.spec.terminationGracePeriod: Invalid value: "-1s": want whole hours, minutes and seconds, not negative, such as 1h30m`,
			`spec.template.spec.expireAfter: Invalid value: "1.5h": want whole hours, minutes and seconds, not negative, such as 720h or 1h30m, or Never`,
			`spec.disruption.consolidateAfter: Invalid value: "500ms": want whole hours, minutes and seconds, not negative, such as 720h or 1h30m, or Never`,
		},
		`{template: {spec: {expireAfter: Never, terminationGracePeriod: 90s}}, disruption: {consolidateAfter: 1m30s}}`: nil,
	} {
		t.Run(fields, func(t *testing.T) {
			p := pool()
			require.NoError(t, yaml.Unmarshal([]byte(fields), &p.Spec))
			before := p.DeepCopy()
			require.Equal(t, want, messages(p.Validate()))
			require.Equal(t, before, p, "inputs are not changed")
		})
	}
}

func TestNodePoolValidateLabels(t *testing.T) {
	p := pool()
	p.Spec.Template.Labels = map[string]string{
		"karpenter.sh/capacity-type":  "spot",
		"karpenter.sh/nodepool":       "x",
		"karpenter.sh/initialized":    "true",
		"sub.karpenter.sh/x":          "x",
		"notkarpenter.sh/x":           "x",
		"kubernetes.io/hostname":      "x",
		"kubernetes.io/arch":          "amd64",
		"karpenter.k8s.aws/whatever":  "x",
		"example.com/team":            "",
		"no good/key":                 "x",
		"value":                       "no good",
		"node.kubernetes.io/instance": strings.Repeat("x", 64),
	}
	require.Equal(t, []string{
		`spec.template.metadata.labels[karpenter.sh/initialized]: Forbidden: domains that end in "karpenter.sh" are reserved, except for the key "karpenter.sh/capacity-type"; use a domain of your own for "karpenter.sh/initialized"`,
		`spec.template.metadata.labels[karpenter.sh/nodepool]: Forbidden: the pool of a node is set for you; remove "karpenter.sh/nodepool"`,
		`spec.template.metadata.labels[kubernetes.io/hostname]: Forbidden: the host name of a new node cannot be known; remove "kubernetes.io/hostname"`,
		`spec.template.metadata.labels[no good/key]: Invalid value: "no good/key": not a label key: prefix part a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')`,
		`spec.template.metadata.labels[node.kubernetes.io/instance]: Invalid value: "` + strings.Repeat("x", 64) + `": not a label value: must be no more than 63 bytes`,
		`spec.template.metadata.labels[notkarpenter.sh/x]: Forbidden: domains that end in "karpenter.sh" are reserved, except for the key "karpenter.sh/capacity-type"; use a domain of your own for "notkarpenter.sh/x"`,
		`spec.template.metadata.labels[sub.karpenter.sh/x]: Forbidden: domains that end in "karpenter.sh" are reserved, except for the key "karpenter.sh/capacity-type"; use a domain of your own for "sub.karpenter.sh/x"`,
		`spec.template.metadata.labels[value]: Invalid value: "no good": not a label value: a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')`,
	}, messages(p.Validate()))

	p.Spec.Template.Labels = map[string]string{}
	for i := range 101 {
		p.Spec.Template.Labels[fmt.Sprint("label-", i)] = ""
	}
	require.Equal(t, []string{`spec.template.metadata.labels: Too many: 101: must have at most 100 items`}, messages(p.Validate()))
}

func TestNodePoolValidateTaints(t *testing.T) {
	p := pool()
	spec := &p.Spec.Template.Spec
	spec.Taints = []corev1.Taint{
		{Key: "a", Effect: corev1.TaintEffectNoSchedule},
		{Key: "a", Effect: corev1.TaintEffectNoExecute, Value: "b"},
		{Key: "a", Effect: corev1.TaintEffectNoSchedule, Value: "other"},
		{Key: "", Effect: "Never"},
		{Key: "b"},
	}
	spec.StartupTaints = []corev1.Taint{
		{Key: "a", Effect: corev1.TaintEffectNoExecute},
		{Key: "a", Effect: corev1.TaintEffectPreferNoSchedule},
		{Key: "x", Value: "!", Effect: corev1.TaintEffectNoSchedule},
	}
	got := messages(p.Validate())
	require.Len(t, got, 6)
	require.Equal(t, []string{
		`spec.template.spec.taints[2]: Duplicate value: "a:NoSchedule": the same key and effect are at spec.template.spec.taints[0]; remove one, taints and startupTaints count as one list`,
		`spec.template.spec.taints[3].key: Required value: a taint needs a key`,
		`spec.template.spec.taints[3].effect: Unsupported value: "Never": supported values: "NoExecute", "NoSchedule", "PreferNoSchedule"`,
		`spec.template.spec.taints[4].effect: Required value: use NoSchedule, PreferNoSchedule or NoExecute`,
		`spec.template.spec.startupTaints[0]: Duplicate value: "a:NoExecute": the same key and effect are at spec.template.spec.taints[1]; remove one, taints and startupTaints count as one list`,
	}, got[:5])
	require.Contains(t, got[5], `spec.template.spec.startupTaints[2].value: Invalid value: "!"`)
}

func TestNodePoolValidateWithRules(t *testing.T) {
	rules := &v1.Rules{
		WellKnownLabels:   []string{"karpenter.k8s.aws/instance-family"},
		RestrictedDomains: []string{"karpenter.k8s.aws"},
		KnownValues:       map[string][]string{"karpenter.k8s.aws/instance-family": {"m5", "c5"}},
	}
	p := pool()
	p.Spec.Template.Labels = map[string]string{
		"karpenter.k8s.aws/instance-family": "m5",
		"karpenter.k8s.aws/mine":            "x",
		"sub.karpenter.k8s.aws/mine":        "x",
		"mykarpenter.k8s.aws/mine":          "x",
	}
	p.Spec.Template.Spec.Requirements = []v1.NodeSelectorRequirementWithMinValues{
		{Key: "karpenter.k8s.aws/instance-family", Operator: "In", Values: []string{"m6", "c6"}},
		{Key: "karpenter.k8s.aws/mine", Operator: "Exists"},
	}
	require.Empty(t, p.Validate())
	require.Equal(t, []string{
		`spec.template.metadata.labels[karpenter.k8s.aws/mine]: Forbidden: "karpenter.k8s.aws/mine" is not a label of the provider, and domains that end in "karpenter.k8s.aws" are reserved; use a domain of your own`,
		`spec.template.metadata.labels[mykarpenter.k8s.aws/mine]: Forbidden: "mykarpenter.k8s.aws/mine" is not a label of the provider, and domains that end in "karpenter.k8s.aws" are reserved; use a domain of your own`,
		`spec.template.metadata.labels[sub.karpenter.k8s.aws/mine]: Forbidden: "sub.karpenter.k8s.aws/mine" is not a label of the provider, and domains that end in "karpenter.k8s.aws" are reserved; use a domain of your own`,
		`spec.template.spec.requirements[0].values: Invalid value: ["m6","c6"]: karpenter.k8s.aws/instance-family knows none of these values; use c5, m5`,
		`spec.template.spec.requirements[1].key: Forbidden: "karpenter.k8s.aws/mine" is not a label of the provider, and domains that end in "karpenter.k8s.aws" are reserved; use a domain of your own`,
	}, messages(p.ValidateWith(rules)))
}

func TestValidateOfNothing(t *testing.T) {
	require.Equal(t, []string{`spec: Required value: the object is nil`}, messages((*v1.NodePool)(nil).Validate()))
	require.Equal(t, []string{`spec: Required value: the object is nil`}, messages((*v1.NodeClaim)(nil).Validate()))
	require.Equal(t, []string{`spec: Required value: the object is nil`}, messages((*v1.NodeOverlay)(nil).Validate()))
	require.Equal(t, []string{`budget: Required value: the object is nil`}, messages((*v1.Budget)(nil).Validate()))
	require.NotEmpty(t, (&v1.NodePool{}).Validate())
	require.NotEmpty(t, (&v1.NodeClaim{}).Validate())
	require.NotEmpty(t, (&v1.NodeOverlay{}).Validate())
}
