package requirements_test

import (
	"maps"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/api/validate/content"

	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
)

func TestDefaultVocabulary(t *testing.T) {
	var none *requirements.Vocabulary
	for _, v := range []*requirements.Vocabulary{requirements.DefaultVocabulary(), none} {
		for _, k := range []string{
			"karpenter.sh/nodepool", "karpenter.sh/capacity-type", "topology.kubernetes.io/zone",
			"topology.kubernetes.io/region", "node.kubernetes.io/instance-type", "kubernetes.io/arch",
			"kubernetes.io/os", "node.kubernetes.io/windows-build", "beta.kubernetes.io/arch",
		} {
			require.True(t, v.WellKnown(k), k)
		}
		for _, k := range []string{"kubernetes.io/hostname", "karpenter.sh/registered", "team", ""} {
			require.False(t, v.WellKnown(k), k)
		}
		for from, to := range map[string]string{
			"failure-domain.beta.kubernetes.io/zone":   "topology.kubernetes.io/zone",
			"failure-domain.beta.kubernetes.io/region": "topology.kubernetes.io/region",
			"beta.kubernetes.io/arch":                  "kubernetes.io/arch",
			"beta.kubernetes.io/os":                    "kubernetes.io/os",
			"beta.kubernetes.io/instance-type":         "node.kubernetes.io/instance-type",
			"kubernetes.io/arch":                       "kubernetes.io/arch",
			"team":                                     "team",
		} {
			require.Equal(t, to, v.NormalizeKey(from))
		}
		require.Equal(t, "x", v.NormalizeValue("team", "x"))
	}
}

func TestVocabularyZeroValueKnowsNothing(t *testing.T) {
	v := new(requirements.Vocabulary)
	require.False(t, v.WellKnown("kubernetes.io/arch"))
	require.Equal(t, "beta.kubernetes.io/arch", v.NormalizeKey("beta.kubernetes.io/arch"))
	require.Equal(t, "x", v.NormalizeValue("k", "x"))
	require.NoError(t, v.CheckKey("kubernetes.io/hostname"))
	require.True(t, v.Extend(requirements.Extension{WellKnown: []string{"k"}}).WellKnown("k"))
}

func TestExtend(t *testing.T) {
	e := requirements.Extension{
		WellKnown:         []string{"karpenter.k8s.aws/instance-family", "old.example.com/rack"},
		RestrictedDomains: []string{"karpenter.k8s.aws"},
		RestrictedLabels:  []string{"example.com/serial"},
		Aliases: map[string]string{
			"topology.ebs.csi.aws.com/zone": "failure-domain.beta.kubernetes.io/zone", // an alias itself
			"old.example.com/rack":          "example.com/rack",
			"circle/a":                      "circle/b",
			"circle/b":                      "circle/a",
			"into/circle":                   "circle/a",
			"self":                          "self",
		},
		ValueAliases: map[string]map[string]string{"failure-domain.beta.kubernetes.io/zone": {"": "0"}},
		KnownValues: map[string][]string{
			"karpenter.sh/capacity-type": {"capacity-block"},
			"old.example.com/rack":       {"r1", "r2"},
		},
	}
	v := requirements.DefaultVocabulary().Extend(e)

	require.True(t, v.WellKnown("karpenter.k8s.aws/instance-family"))
	require.True(t, v.WellKnown("example.com/rack"))
	require.True(t, v.WellKnown("kubernetes.io/arch"), "what was known stays known")
	require.Equal(t, "topology.kubernetes.io/zone", v.NormalizeKey("topology.ebs.csi.aws.com/zone"))
	for _, k := range []string{"circle/a", "circle/b", "into/circle", "self"} {
		require.Equal(t, k, v.NormalizeKey(k), "a circle leads nowhere")
	}
	require.Equal(t, "0", v.NormalizeValue("topology.ebs.csi.aws.com/zone", ""))
	require.Equal(t, "0", v.NormalizeValue("topology.kubernetes.io/zone", ""))
	require.Error(t, v.CheckKey("sub.karpenter.k8s.aws/x"))
	require.Error(t, v.CheckKey("example.com/serial"))
	require.NoError(t, v.CheckRequirement(requirements.In("karpenter.sh/capacity-type", "capacity-block")))
	require.NoError(t, v.CheckRequirement(requirements.In("karpenter.sh/capacity-type", "spot")))
	require.Error(t, v.CheckRequirement(requirements.In("example.com/rack", "r3")))

	// The default is as it was, and the result does not look at e any more.
	base := requirements.DefaultVocabulary()
	require.False(t, base.WellKnown("example.com/rack"))
	require.NoError(t, base.CheckKey("sub.karpenter.k8s.aws/x"))
	require.Error(t, base.CheckRequirement(requirements.In("karpenter.sh/capacity-type", "capacity-block")))
	maps.DeleteFunc(e.Aliases, func(string, string) bool { return true })
	e.WellKnown[0] = "gone"
	e.KnownValues["karpenter.sh/capacity-type"][0] = "gone"
	e.ValueAliases["failure-domain.beta.kubernetes.io/zone"][""] = "gone"
	require.Equal(t, "example.com/rack", v.NormalizeKey("old.example.com/rack"))
	require.True(t, v.WellKnown("karpenter.k8s.aws/instance-family"))
	require.NoError(t, v.CheckRequirement(requirements.In("karpenter.sh/capacity-type", "capacity-block")))
	require.Equal(t, "0", v.NormalizeValue("topology.kubernetes.io/zone", ""))

	// Twice is as good as once.
	again := v.Extend(requirements.Extension{Aliases: map[string]string{"old.example.com/rack": "example.com/shelf"}})
	require.Equal(t, "example.com/shelf", again.NormalizeKey("old.example.com/rack"), "the newer alias wins")
	require.Equal(t, "0", again.NormalizeValue("topology.ebs.csi.aws.com/zone", ""))
	require.Error(t, again.CheckKey("karpenter.k8s.aws/x"))
}

func TestNamesZone(t *testing.T) {
	v := requirements.DefaultVocabulary().Extend(requirements.Extension{ZoneNames: []string{"example.com/zone-id"},
		Aliases: map[string]string{"old.example.com/zone-id": "example.com/zone-id"}}).
		Extend(requirements.Extension{ZoneNames: []string{"example.com/datacenter"}})
	for key, want := range map[string]bool{"example.com/zone-id": true, "old.example.com/zone-id": true, "example.com/datacenter": true,
		"topology.kubernetes.io/zone": false, "example.com/rack": false} {
		require.Equal(t, want, v.NamesZone(key), key)
	}
	var none *requirements.Vocabulary
	require.False(t, none.NamesZone("example.com/zone-id"))
}

func TestCheckKey(t *testing.T) {
	const wellKnown = "karpenter.sh/capacity-type, karpenter.sh/nodepool, kubernetes.io/arch, kubernetes.io/os, " +
		"node.kubernetes.io/instance-type, node.kubernetes.io/windows-build, " +
		"topology.kubernetes.io/region, topology.kubernetes.io/zone"
	for _, k := range []string{
		"team", "example.com/team", "kubernetes.io/arch", "karpenter.sh/nodepool", "xkarpenter.sh/a",
		"beta.kubernetes.io/arch", "karpenter.sh",
	} {
		require.NoError(t, requirements.DefaultVocabulary().CheckKey(k), k)
	}
	tests := map[string]string{
		"kubernetes.io/hostname": `label "kubernetes.io/hostname" is restricted, as its value is only settled when a node is made; ` +
			`remove it, or use another label: well-known are ` + wellKnown,
		"karpenter.sh/registered": `label "karpenter.sh/registered" is restricted, as it may interfere with the provisioning of nodes; ` +
			`use a label outside the domains karpenter.sh, or a well-known one: ` + wellKnown + ` (restricted here by karpenter.sh)`,
		"a.karpenter.sh/x": `label "a.karpenter.sh/x" is restricted, as it may interfere with the provisioning of nodes; ` +
			`use a label outside the domains karpenter.sh, or a well-known one: ` + wellKnown + ` (restricted here by karpenter.sh)`,
	}
	for k, want := range tests {
		require.EqualError(t, requirements.DefaultVocabulary().CheckKey(k), want)
	}
	err := requirements.DefaultVocabulary().CheckKey("karpenter.sh/not a name")
	require.ErrorContains(t, err, "is restricted")
	require.ErrorContains(t, err, "is not valid")
}

func TestCheckRequirement(t *testing.T) {
	for _, text := range []string{
		"team", "!team", "team = a", "team notin (a, b)", `team = ""`, "cpu > 4", "cpu < 4", "cpu >= 0", "cpu > 4, cpu < 9",
		"karpenter.sh/capacity-type in (spot, unknown)",
		"karpenter.sh/capacity-type notin (unknown)",
		"karpenter.sh/capacity-type in (spot, reserved) minvalues 2",
		"team in (a, b) minvalues 2", "team minvalues 3",
	} {
		require.NoError(t, requirements.DefaultVocabulary().CheckRequirement(one(t, text)), text)
	}
	tests := []struct {
		text string
		want []string
	}{
		{"team in ()", []string{`label "team": no value can satisfy the requirement; give In at least one value, or remove what contradicts it`}},
		{"karpenter.sh/capacity-type in (cheap, free)", []string{
			`label "karpenter.sh/capacity-type": no node can have any of the values cheap, free; use some of on-demand, reserved, spot`}},
		{"karpenter.sh/capacity-type in (spot, free) minvalues 2", []string{
			`label "karpenter.sh/capacity-type": only 1 of the values free, spot can be had, too few for minValues 2; ` +
				`use more of on-demand, reserved, spot, or lower minValues`}},
		{"team in (a, b) minvalues 3", []string{`label "team": 2 values cannot satisfy minValues 3; add values or lower minValues`}},
		{"cpu < 0", []string{`label "cpu": no label value is an integer below zero, and only integers up to -1 are admitted; raise that bound to 0 or more`}},
		{"cpu > -5", []string{`label "cpu": no label value is an integer below zero, and integers from -4 on are admitted; raise that bound to 0 or more`}},
		{`karpenter.sh/a in ("b c", "-d")`, []string{"is restricted", `value "b c" is not valid`, `value "-d" is not valid`}},
		{`a notin ("b c")`, []string{`value "b c" is not valid`}},
	}
	for _, tt := range tests {
		err := requirements.DefaultVocabulary().CheckRequirement(one(t, tt.text))
		require.Error(t, err, tt.text)
		for _, want := range tt.want {
			require.ErrorContains(t, err, want)
		}
		if len(tt.want) == 1 && tt.want[0][0] == 'l' {
			require.EqualError(t, err, tt.want[0])
		}
	}
}

// FuzzSyntax holds the quick look at keys and values against the regular
// expressions of Kubernetes.
func FuzzSyntax(f *testing.F) {
	for _, s := range []string{
		"", "a", "a/b", "/a", "a/", "a/b/c", "A/b", "a.b-c/D_e.f", "a..b/c", "-a/b", "a-/b", "a./b", "a_b/c", "a\n", "é", "a b",
		"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
		"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
		"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa.com/a",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		require.Equal(t, len(content.IsLabelKey(s)) == 0, verbatim().CheckKey(s) == nil, "key %q", s)
		require.Equal(t, len(content.IsLabelValue(s)) == 0,
			verbatim().CheckRequirement(requirements.In("k", s)) == nil, "value %q", s)
	})
}
