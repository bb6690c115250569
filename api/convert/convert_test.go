package convert_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"github.com/dovetail-sdk/dovetail/api/convert"
	karpv1 "github.com/dovetail-sdk/dovetail/api/v1"
	awsv1 "github.com/dovetail-sdk/dovetail/aws/api/v1"
	"github.com/dovetail-sdk/dovetail/internal/golden"
)

func provisioner(spec string) string {
	return "apiVersion: karpenter.sh/v1alpha5\nkind: Provisioner\nmetadata: {name: a}\nspec: {providerRef: {name: a}, " + spec + "}\n"
}

func nodeTemplate(spec string) string {
	return "apiVersion: karpenter.k8s.aws/v1alpha1\nkind: AWSNodeTemplate\nmetadata: {name: a}\nspec: {" + spec + "}\n"
}

func betaClass(spec string) string {
	return "apiVersion: karpenter.k8s.aws/v1beta1\nkind: EC2NodeClass\nmetadata: {name: a}\nspec: {role: r, " +
		"subnetSelectorTerms: [{id: subnet-1}], securityGroupSelectorTerms: [{id: sg-1}], " + spec + "}\n"
}

func betaPool(disruption string) string {
	return "apiVersion: karpenter.sh/v1beta1\nkind: NodePool\nmetadata: {name: a}\n" +
		"spec: {template: {spec: {nodeClassRef: {name: a}, requirements: []}}, disruption: {" + disruption + "}}\n"
}

// has tells whether a note of a severity is about a field and says something.
func has(notes []convert.Note, severity convert.Severity, field, text string) bool {
	for _, n := range notes {
		if n.Severity == severity && n.Field == field && strings.Contains(n.Message, text) {
			return true
		}
	}
	return false
}

func TestConsolidationOfProvisioners(t *testing.T) {
	for spec, want := range map[string]struct{ policy, after, expiry string }{
		"":                               {"WhenEmpty", "Never", "Never"},
		"consolidation: {}":              {"WhenEmpty", "Never", "Never"},
		"consolidation: {enabled: yes}":  {"WhenEmptyOrUnderutilized", "0s", "Never"},
		"consolidation: {enabled: true}": {"WhenEmptyOrUnderutilized", "0s", "Never"},
		"consolidation: {enabled: false}, ttlSecondsAfterEmpty: 30": {"WhenEmpty", "30s", "Never"},
		"consolidation: {enabled: true}, ttlSecondsAfterEmpty: 30":  {"WhenEmptyOrUnderutilized", "0s", "Never"},
		"ttlSecondsAfterEmpty: 0, ttlSecondsUntilExpired: 3600":     {"WhenEmpty", "0s", "3600s"},
		"ttlSecondsAfterEmpty: null, ttlSecondsUntilExpired: null":  {"WhenEmpty", "Never", "Never"},
	} {
		objects, _ := one(t, nil, provisioner(spec))
		pool := objects.NodePools[0]
		require.Equal(t, want.policy, string(pool.Spec.Disruption.ConsolidationPolicy), spec)
		require.Equal(t, want.after, pool.Spec.Disruption.ConsolidateAfter.String(), spec)
		require.Equal(t, want.expiry, pool.Spec.Template.Spec.ExpireAfter.String(), spec)
		require.Equal(t, &karpv1.NodeClassReference{Group: "karpenter.k8s.aws", Kind: "EC2NodeClass", Name: "a"},
			pool.Spec.Template.Spec.NodeClassRef)
		pool.Default()
		require.Empty(t, pool.ValidateWith(awsv1.NodePoolRules()), spec)
	}
}

func TestDisruptionOfBeta(t *testing.T) {
	for _, row := range []struct{ disruption, policy, after, expiry string }{
		{"", "WhenEmptyOrUnderutilized", "0s", ""},
		{"consolidationPolicy: WhenUnderutilized, expireAfter: 1h", "WhenEmptyOrUnderutilized", "0s", "1h"},
		{"consolidationPolicy: WhenUnderutilized, consolidateAfter: Never", "WhenEmptyOrUnderutilized", "Never", ""},
		{"consolidationPolicy: WhenUnderutilized, consolidateAfter: 5m", "WhenEmptyOrUnderutilized", "5m", ""},
		{"consolidationPolicy: WhenEmpty, consolidateAfter: 5m, expireAfter: Never", "WhenEmpty", "5m", "Never"},
		{"consolidationPolicy: WhenEmpty", "WhenEmpty", "0s", ""},
	} {
		objects, _ := one(t, nil, betaPool(row.disruption))
		pool := objects.NodePools[0]
		require.Equal(t, row.policy, string(pool.Spec.Disruption.ConsolidationPolicy), row.disruption)
		require.Equal(t, row.after, pool.Spec.Disruption.ConsolidateAfter.String(), row.disruption)
		require.Equal(t, row.expiry, pool.Spec.Template.Spec.ExpireAfter.String(), row.disruption)
	}
}

func TestDefaultRequirements(t *testing.T) {
	for spec, want := range map[string]string{
		"": "kubernetes.io/os=linux kubernetes.io/arch=amd64 karpenter.sh/capacity-type=on-demand " +
			"karpenter.k8s.aws/instance-category=c,m,r karpenter.k8s.aws/instance-generation>2",
		"labels: {kubernetes.io/arch: arm64}, requirements: [{key: karpenter.k8s.aws/instance-family, operator: Exists}]": "karpenter.k8s.aws/instance-family: " +
			"kubernetes.io/os=linux karpenter.sh/capacity-type=on-demand",
		"requirements: null": "kubernetes.io/os=linux kubernetes.io/arch=amd64 karpenter.sh/capacity-type=on-demand " +
			"karpenter.k8s.aws/instance-category=c,m,r karpenter.k8s.aws/instance-generation>2",
		"requirements: [{key: kubernetes.io/os, operator: In, values: [windows]}, {key: kubernetes.io/arch, operator: Exists}, " +
			"{key: karpenter.sh/capacity-type, operator: In, values: [spot]}, {key: node.kubernetes.io/instance-type, operator: Exists}]": "kubernetes.io/os=windows kubernetes.io/arch: karpenter.sh/capacity-type=spot node.kubernetes.io/instance-type:",
	} {
		objects, _ := one(t, nil, provisioner(spec))
		var got []string
		for _, r := range objects.NodePools[0].Spec.Template.Spec.Requirements {
			sign := map[corev1.NodeSelectorOperator]string{"In": "=", "Gt": ">", "Exists": ":"}[r.Operator]
			got = append(got, r.Key+sign+strings.Join(r.Values, ","))
		}
		require.Equal(t, want, strings.Join(got, " "), spec)
	}
}

func TestAMISelector(t *testing.T) {
	type terms = []awsv1.AMISelectorTerm
	for selector, want := range map[string]terms{
		"{aws-ids: 'ami-1, ami-2'}":                    {{ID: "ami-1"}, {ID: "ami-2"}},
		"{aws::ids: ami-1, aws::name: x, env: prod}":   {{ID: "ami-1"}},
		"{aws::name: 'a*,b'}":                          {{Name: "a*"}, {Name: "b"}},
		"{aws::owners: 'self,123456789012', env: dev}": {{Owner: "self", Tags: map[string]string{"env": "dev"}}, {Owner: "123456789012", Tags: map[string]string{"env": "dev"}}},
		"{aws::owners: self, aws::name: a, env: 'x, y', v: '1'}": {
			{Owner: "self", Name: "a", Tags: map[string]string{"env": "x", "v": "1"}},
			{Owner: "self", Name: "a", Tags: map[string]string{"env": "y", "v": "1"}},
		},
	} {
		objects, _ := one(t, nil, nodeTemplate("subnetSelector: {a: b}, securityGroupSelector: {a: b}, amiSelector: "+selector))
		class := objects.NodeClasses[0]
		require.Equal(t, want, terms(class.Spec.AMISelectorTerms), selector)
		require.Equal(t, "AL2", string(*class.Spec.AMIFamily), selector)
		class.Default()
		require.Empty(t, class.Validate(), selector)
	}
	_, notes := one(t, nil, nodeTemplate("subnetSelector: {a: b}, securityGroupSelector: {a: b}, amiSelector: {aws::owners: self}"))
	require.True(t, has(notes, convert.Action, "spec.amiSelector", "selects nothing"))
}

func TestFamilies(t *testing.T) {
	for family, alias := range map[string]string{
		"AL2": "al2@latest", "AL2023": "al2023@latest", "Bottlerocket": "bottlerocket@latest",
		"Windows2019": "windows2019@latest", "Windows2022": "windows2022@latest",
	} {
		objects, notes := one(t, nil, betaClass("amiFamily: "+family))
		class := objects.NodeClasses[0]
		require.Nil(t, class.Spec.AMIFamily, family)
		require.Equal(t, []awsv1.AMISelectorTerm{{Alias: alias}}, class.Spec.AMISelectorTerms)
		require.Less(t, convert.Worst(notes), convert.Action)

		kept, _ := one(t, nil, betaClass("amiFamily: "+family+", amiSelectorTerms: [{id: ami-1}]"))
		require.Equal(t, family, string(*kept.NodeClasses[0].Spec.AMIFamily))
		require.Equal(t, []awsv1.AMISelectorTerm{{ID: "ami-1"}}, kept.NodeClasses[0].Spec.AMISelectorTerms)
	}
	pinned, _ := one(t, &convert.Options{AMIVersion: "v1"}, strings.Replace(betaClass("amiFamily: AL2023"), "{name: a}",
		"{name: a, annotations: {compatibility.karpenter.k8s.aws/v1-alias-version: v20240807}}", 1))
	require.Equal(t, "al2023@v20240807", pinned.NodeClasses[0].Spec.AMISelectorTerms[0].Alias)
	require.Nil(t, pinned.NodeClasses[0].Annotations)
	windows, _ := one(t, &convert.Options{AMIVersion: "v1"}, betaClass("amiFamily: Windows2022"))
	require.Equal(t, "windows2022@latest", windows.NodeClasses[0].Spec.AMISelectorTerms[0].Alias)

	_, notes := one(t, nil, betaClass("amiFamily: Custom"))
	require.True(t, has(notes, convert.Action, "spec.amiSelectorTerms", "write terms"))
	require.True(t, has(notes, convert.Action, "spec.amiFamily", "karpenter.sh/unregistered:NoExecute"))
	for _, family := range []string{"Ubuntu", "Plan9", "${FAMILY}"} {
		_, notes = one(t, nil, betaClass("amiFamily: '"+family+"'"))
		require.True(t, has(notes, convert.Action, "spec.amiSelectorTerms", "family \""+family+"\" has none of its own"))
		require.Equal(t, family[0] != '$', has(notes, convert.Action, "spec.amiFamily", "Unsupported value"), notes)
	}
}

func TestIdentityAndTags(t *testing.T) {
	const placeholder = "$KARPENTER_NODE_ROLE"
	const selectors = "subnetSelector: {a: b}, securityGroupSelector: {a: b}"
	settings := "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: karpenter-global-settings}\n" +
		"data: {aws.defaultInstanceProfile: global, aws.tags: '{\"a\":\"1\",\"b\":\"1\"}'}\n"
	for _, row := range []struct {
		opts          convert.Options
		text          string
		role, profile string
	}{
		{convert.Options{}, nodeTemplate(selectors), placeholder, ""},
		{convert.Options{Role: "r"}, nodeTemplate(selectors), "r", ""},
		{convert.Options{Role: "r"}, nodeTemplate(selectors + ", instanceProfile: own"), "", "own"},
		{convert.Options{Role: "r", InstanceProfile: "p"}, nodeTemplate(selectors), "", "p"},
		{convert.Options{}, nodeTemplate(selectors) + settings, "", "global"},
		{convert.Options{InstanceProfile: "p"}, nodeTemplate(selectors) + settings, "", "p"},
	} {
		objects, notes := one(t, &row.opts, row.text)
		spec := objects.NodeClasses[0].Spec
		require.Equal(t, row.role, spec.Role)
		if row.profile == "" {
			require.Nil(t, spec.InstanceProfile)
		} else {
			require.Equal(t, row.profile, *spec.InstanceProfile)
		}
		require.Equal(t, row.role == placeholder, has(notes, convert.Action, "spec.role", "replace"))
	}
	objects, _ := one(t, nil, nodeTemplate(selectors+", tags: {b: own}")+settings)
	require.Equal(t, map[string]string{"a": "1", "b": "own"}, objects.NodeClasses[0].Spec.Tags)
	objects, _ = one(t, nil, betaClass("amiFamily: AL2023")+settings)
	require.Nil(t, objects.NodeClasses[0].Spec.Tags, "v1beta1 had the tags already")
	_, notes := convertText(nodeTemplate(selectors)+strings.Replace(settings, "'{", "'[{", 1), nil)
	require.True(t, has(notes, convert.Action, "data", "write its tags and its instance profile into each EC2NodeClass"))
}

func TestHopLimit(t *testing.T) {
	for options, want := range map[string]int64{"": 2, "metadataOptions: {}": 2, "metadataOptions: {httpPutResponseHopLimit: 1}": 1} {
		objects, _ := one(t, nil, betaClass("amiFamily: AL2023, "+options))
		require.Equal(t, want, *objects.NodeClasses[0].Spec.MetadataOptions.HTTPPutResponseHopLimit)
	}
}

// TestReferencesToOtherClouds keeps group and kind, and says which kubelet settings
// the class needs.
func TestReferencesToOtherClouds(t *testing.T) {
	objects, notes := one(t, nil, "apiVersion: karpenter.sh/v1beta1\nkind: NodePool\nmetadata: {name: a}\nspec: {template: {spec: {requirements: [], "+
		"kubelet: {maxPods: 3}, nodeClassRef: {apiVersion: karpenter.azure.com/v1alpha2, kind: AKSNodeClass, name: a}}}}\n")
	pool := objects.NodePools[0]
	require.Equal(t, &karpv1.NodeClassReference{Group: "karpenter.azure.com", Kind: "AKSNodeClass", Name: "a"}, pool.Spec.Template.Spec.NodeClassRef)
	require.Empty(t, pool.Annotations)
	require.True(t, has(notes, convert.Action, "spec.template.spec.kubelet", `write {"maxPods":3} into`))
}

// TestStoredKubelet: what Karpenter 1.0 kept in an annotation goes to the class, or to a note.
// The annotation is never written, as Karpenter 1.1 to 1.5 do not start with it.
func TestStoredKubelet(t *testing.T) {
	const annotation = "compatibility.karpenter.sh/v1beta1-kubelet-conversion"
	section := strings.Replace(betaPool(""), "requirements: []", "requirements: [], kubelet: {maxPods: 3, systemReserved: {cpu: 1}}", 1)
	stored := strings.NewReplacer("v1beta1", "v1", "{name: a}\nspec", "{name: a, annotations: {"+annotation+": '{\"maxPods\":3,\"systemReserved\":{\"cpu\":\"1\"}}'}}\nspec",
		"{name: a},", "{group: karpenter.k8s.aws, kind: EC2NodeClass, name: a},").Replace(betaPool(""))
	for _, pool := range []string{section, stored} {
		alone, notes := convertText(pool, nil)
		require.NotContains(t, alone, annotation)
		require.Equal(t, convert.Action, convert.Worst(notes))
		require.True(t, slices.ContainsFunc(notes, func(n convert.Note) bool {
			return strings.Contains(n.Message, `write {"maxPods":3,"systemReserved":{"cpu":"1"}} into spec.kubelet of the node class a`)
		}))
		objects, notes := one(t, nil, pool+"---\n"+betaClass("amiFamily: AL2023"))
		require.Equal(t, 3, objects.NodeClasses[0].Spec.Kubelet.MaxPods.IntValue())
		require.Equal(t, map[string]string{"cpu": "1"}, objects.NodeClasses[0].Spec.Kubelet.SystemReserved)
		require.Empty(t, objects.NodePools[0].Annotations)
		require.Equal(t, convert.Warning, convert.Worst(notes))
	}
	beta := strings.NewReplacer("/v1\n", "/v1beta1\n", "{group: karpenter.k8s.aws, kind", "{kind")
	for old, now := range map[string]string{"/v1\n": "/v1\n", `{"maxPods":3,"systemReserved":{"cpu":"1"}}`: "{}", `"maxPods":3`: `"maxPods":`} {
		pool := strings.Replace(stored, old, now, 1)
		require.Contains(t, pool, annotation)
		alone, notes := convertText(pool, nil)
		require.NotContains(t, alone, annotation)
		require.Equal(t, convert.Action, convert.Worst(notes))
		alone, notes = convertText(beta.Replace(pool), nil)
		require.NotContains(t, alone, annotation)
		require.Equal(t, convert.Action, convert.Worst(notes))
	}
	for _, pool := range []string{strings.Replace(stored, "nodeClassRef", "nodeClass", 1), strings.Replace(stored, "nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: a}, ", "", 1)} {
		out, notes := convertText(pool, nil)
		require.Equal(t, pool, out)
		require.True(t, has(notes, convert.Error, "", "with which Karpenter 1.1 to 1.5 do not start; correct it"))
	}
}

// TestKubeletOfClassesOfV1: a class that is v1 already takes the settings of pools as well.
func TestKubeletOfClassesOfV1(t *testing.T) {
	class, _ := convertText("# ours\n"+betaClass("amiFamily: AL2023"), nil)
	pool := strings.Replace(betaPool(""), "requirements: []", "requirements: [], kubelet: {maxPods: 3}", 1)
	other := strings.NewReplacer("metadata: {name: a}", "metadata: {name: b}", "maxPods: 3", "maxPods: 4").Replace(pool)
	out, notes := convertText(class+"---\n"+pool+"---\n"+other, nil)
	require.Less(t, convert.Worst(notes), convert.Action)
	require.Contains(t, out, "# ours\n")
	objects, _ := one(t, nil, out)
	require.Equal(t, 3, objects.NodeClasses[0].Spec.Kubelet.MaxPods.IntValue())
	require.Equal(t, "a-b", objects.NodeClasses[1].Name)
	require.Equal(t, 4, objects.NodeClasses[1].Spec.Kubelet.MaxPods.IntValue())
	require.Equal(t, "a-b", objects.NodePools[1].Spec.Template.Spec.NodeClassRef.Name)

	out, _ = convertText(class+"---\n"+betaPool(""), nil)
	require.Contains(t, out, class, "a class that gets nothing is passed on as it is")
}

func TestSeveralSources(t *testing.T) {
	r := convert.Convert([]convert.Source{
		{Name: "a", Data: []byte(strings.TrimSuffix(betaPool(""), "\n"))},
		{Name: "b", Data: []byte("# nothing\n")},
		{Name: "c", Data: []byte("---\n" + betaPool(""))},
		{Name: "d", Data: []byte("a: b")},
		{Name: "e", Data: []byte("%YAML 1.1\n---\n{}\n")}}, nil)
	require.Len(t, r.Outputs, 5)
	require.Equal(t, "# nothing\n", string(r.Outputs[1].Data))
	require.True(t, has(r.Notes, convert.Error, "metadata.name", "this and NodePool a on line 1 of a;"))
	require.Equal(t, 1, strings.Count(string(r.Stream()), "# nothing"))
	require.True(t, strings.HasSuffix(string(r.Stream()), "\n---\na: b\n...\n%YAML 1.1\n---\n{}\n"), string(r.Stream()))
	again, _ := convertText(string(r.Stream()), nil)
	require.Equal(t, string(r.Stream()), again)
	require.Equal(t, 2, strings.Count(again, "kind: NodePool"))
}

// TestEncodings: a text in which nothing changes is passed on in its encoding, others in UTF-8.
func TestEncodings(t *testing.T) {
	const old = "kind: Node\napiVersion: v1\nmetadata:\n    name: a\n    annotations:\n        karpenter.sh/do-not-consolidate: \"true\"\n"
	wide := func(text string) string {
		out := []byte{0xff, 0xfe}
		for _, c := range []byte(text) {
			out = append(out, c, 0)
		}
		return string(out)
	}
	for _, encode := range []func(string) string{wide, func(text string) string { return "\xef\xbb\xbf" + text }} {
		got, _ := convertText(encode(old), nil)
		require.Equal(t, strings.Replace(old, "consolidate", "disrupt", 1), got)
		got, _ = convertText(encode("a: b"), nil)
		require.Equal(t, encode("a: b"), got)
	}
}

// TestTexts: values are written so that readers of YAML 1.1 and 1.2 read them as they were.
func TestTexts(t *testing.T) {
	for _, value := range []string{
		"yes", "Off", "n", "null", "~", "1", "1.5", "0x1f", "1_000", "12:30", "2023-01-01", "=", "<<", "a: b", "a #b", " a", "- a", "*a", "&a", "{a", "",
		"a\nb", "a \n\n  \nb\t\n", "  a\nb", "\na", "a\n\n", "a\r\nb", "#!/bin/sh\nfence | \necho |fence| \n", "ä\u2028\u0085ö\n☃", "\x01\n", "\ufeffa",
	} {
		text := fmt.Sprintf("%s%q", strings.TrimSuffix(betaClass("amiFamily: AL2023, userData: "), "}\n"), value)
		objects, _ := one(t, nil, text+"}\n")
		require.Equal(t, value, *objects.NodeClasses[0].Spec.UserData, "%q", value)
	}
}

// TestFaults: what a version does not have is a fault. All faults of an object are notes, and
// it and those around it stay as they are.
func TestFaults(t *testing.T) {
	text := strings.Replace(provisioner(`weight: "7", consolidation: {enabled: "true"}, ttlSecondsUntilExpired: "${TTL}", spare: 1`), "spec", "status: {odd: 1}\nspec", 1)
	out, notes := convertText(betaPool("")+"---\n"+text, nil)
	require.Contains(t, out, text)
	require.Contains(t, out, "karpenter.sh/v1\n")
	for field, message := range map[string]string{
		"spec.weight":                 `left as it is: Invalid value: "7": want a number, got a string`,
		"spec.consolidation.enabled":  `left as it is: Invalid value: "true": want true or false, got a string`,
		"spec.ttlSecondsUntilExpired": "left as it is: it is a template that is not filled in: ${TTL}; fill it in, with Terraform, envsubst or Flux for instance, and convert the result",
		"spec.spare":                  "left as it is: Forbidden: unknown field",
	} {
		require.True(t, has(notes, convert.Error, field, message), "%s\n%v", field, notes)
	}
	_, notes = convertText(betaClass("amiFamily: AL2023, kubelet: {maxPods: 3}, tags: {a: 1}"), nil)
	require.True(t, has(notes, convert.Error, "spec.kubelet", "unknown field"))
	require.True(t, has(notes, convert.Error, "spec.tags[a]", "want a string"))
	_, notes = convertText(strings.Replace(betaPool(""), "requirements: []", "requirements: [], kubelet: {maxPods: 3, podPerCore: 1}", 1), nil)
	require.True(t, has(notes, convert.Error, "spec.template.spec.kubelet.podPerCore", `did you mean "podsPerCore"?`))
}

// An older object that cannot be converted stays as it is, and so do those around it.
func TestWhatIsLeft(t *testing.T) {
	objects, notes, err := decode(nil, nodeTemplate("launchTemplate: old")+"---\n"+betaPool("")+"---\na: [\n")
	require.ErrorContains(t, err, `AWSNodeTemplate "a" of karpenter.k8s.aws/v1alpha1 was not converted`)
	require.Len(t, objects.NodePools, 1)
	require.Equal(t, convert.Error, convert.Worst(notes))
	for text, message := range map[string]string{
		"apiVersion: v1\nkind: List\nitems: [{apiVersion: v1, kind: List, items: [{apiVersion: karpenter.sh/v1beta1, kind: NodePool}]}]\n": "a List in a List is not read; unfold it",
		"[karpenter.sh/v1beta1]\n":                                                                      "want an object with apiVersion and kind, got a list",
		"[[{apiVersion: karpenter.sh/v1beta1, kind: NodePool}]]\n":                                      "want an object with apiVersion and kind, got a list",
		"[{apiVersion: karpenter.sh/v1beta1, kind: NodePool}, []]\n":                                    "[1]: want an object with apiVersion and kind, got a list",
		"[{apiVersion: v1, kind: List, items: [{apiVersion: karpenter.sh/v1beta1, kind: NodePool}]}]\n": "a List in a List is not read; unfold it",
		"apiVersion: karpenter.sh/v1beta1\nkind: {{ .Kind }}\n":                                         "it is a template that is not rendered: {{ .Kind }}",
		"apiVersion: karpenter.sh/v1beta1\n kind: NodePool\n":                                           "mapping values are not allowed",
	} {
		out, notes := convertText(text, nil)
		require.Equal(t, text, out)
		require.Len(t, notes, 1)
		require.Equal(t, convert.Error, notes[0].Severity)
		require.Contains(t, notes[0].Message, message)
	}
}

// What is misspelt must not be passed over as if it were somebody else's.
func TestWhatIsMisspelt(t *testing.T) {
	text := "kind: Provisioner\nmetadata: {name: a}\n---\napiVersion: karpenter.sh/v1\nkind: Nodepool\nmetadata: {name: b}\n" +
		"---\nkind: Deployment\nmetadata: {name: c}\n---\napiVersion: example.com/v1\nkind: Nodepool\nmetadata: {name: d}\n"
	notes := convert.Convert([]convert.Source{{Name: "x.yaml", Data: []byte(text)}}, nil).Notes
	require.Len(t, notes, 2)
	const converted = "is not known; what is converted are versions karpenter.sh/v1alpha5, karpenter.k8s.aws/v1alpha1, karpenter.sh/v1beta1 and karpenter.k8s.aws/v1beta1"
	require.Equal(t, `x.yaml:1: error: Provisioner a: apiVersion: left as it is: Provisioner of apiVersion "" `+converted, notes[0].String())
	require.Equal(t, `x.yaml:5: error: Nodepool b: kind: left as it is: "Nodepool" is not a kind of karpenter.sh/v1; write NodePool if that is meant`, notes[1].String())
}

// TestValidOutput converts the valid documents of testdata and validates them.
func TestValidOutput(t *testing.T) {
	for _, dir := range []string{"announcement-alpha", "announcement-beta", "images-beta", "upgrade-kubelet"} {
		data, err := os.ReadFile(filepath.Join("testdata", dir, "input.yaml"))
		require.NoError(t, err)
		objects, _, err := decode(nil, string(data))
		require.NoError(t, err, dir)
		require.NotEmpty(t, objects.NodePools)
		for _, p := range objects.NodePools {
			p.Default()
			require.Empty(t, p.ValidateWith(awsv1.NodePoolRules()), dir)
		}
		for _, c := range objects.NodeClasses {
			c.Default()
			for _, f := range c.Validate() { // ids in these texts are too short
				require.Contains(t, f.Field, "].id", dir)
			}
		}
	}
}

func TestNoteString(t *testing.T) {
	n := convert.Note{Source: "a.yaml", Line: 3, Object: "Pod a", Field: "spec", Severity: convert.Error, Message: "m"}
	require.Equal(t, "a.yaml:3: error: Pod a: spec: m", n.String())
	require.Equal(t, "line 1: warning: m", convert.Note{Line: 1, Severity: convert.Warning, Message: "m"}.String())
	require.Equal(t, "Severity(9)", convert.Severity(9).String())
	require.Equal(t, "info action", fmt.Sprint(convert.Info, " ", convert.Action))
}

// TestArrays converts the objects of an array, which stays an array, in JSON and in YAML.
func TestArrays(t *testing.T) {
	const pool = `{"apiVersion": "karpenter.sh/v1beta1", "kind": "NodePool", "metadata": {"name": "NAME"},
		"spec": {"template": {"spec": {"nodeClassRef": {"name": "r"}, "requirements": []}}}}`
	const service = `{"apiVersion": "v1", "kind": "Service", "metadata": {"name": "web"}}`
	array := "[" + strings.Replace(pool, "NAME", "a", 1) + "," + service + ",\n" + strings.Replace(pool, "NAME", "b", 1) + "]\n"
	for _, text := range []string{array, "# pools\n" + array} {
		objects, notes := one(t, nil, text)
		require.Len(t, objects.NodePools, 2)
		require.Equal(t, "b", objects.NodePools[1].Name)
		require.Less(t, convert.Worst(notes), convert.Action)
		out, _ := convertText(text, nil)
		docs, err := karpv1.Documents([]byte(out))
		require.NoError(t, err)
		require.Len(t, docs, 3)
		require.Equal(t, "Service web", docs[1].GroupVersionKind().Kind+" "+docs[1].Name())
		require.NotContains(t, out, "List")
		again, notes := convertText(out, nil)
		require.Equal(t, out, again)
		require.Empty(t, notes)
	}
}

// TestAliases reads anchors, and refuses those that grow without bound.
func TestAliases(t *testing.T) {
	objects, _ := one(t, nil, "apiVersion: v1\nkind: List\nitems:\n- &a\n  apiVersion: karpenter.sh/v1beta1\n  kind: NodePool\n  metadata: {name: a}\n"+
		"  spec: {template: {spec: {nodeClassRef: &r {name: r}, requirements: []}}}\n- <<: *a\n  metadata: *r\n")
	require.Equal(t, "r", objects.NodePools[1].Name)
	bomb := "a: &a [x,x,x,x,x,x,x,x,x,x]\n"
	for i := 'b'; i < 'i'; i++ {
		bomb += fmt.Sprintf("%c: &%c [*%c,*%c,*%c,*%c,*%c,*%c,*%c,*%c,*%c,*%c]\n", i, i, i-1, i-1, i-1, i-1, i-1, i-1, i-1, i-1, i-1, i-1)
	}
	text := bomb + "kind: NodePool\napiVersion: karpenter.sh/v1beta1\n"
	out, notes := convertText(text, nil)
	require.Equal(t, text, out)
	require.Contains(t, notes[0].Message, "left as it is")
	require.Equal(t, convert.Error, notes[0].Severity)
}

// TestComments: those in front of an object stay, a note has the lines of the others.
func TestComments(t *testing.T) {
	text := "# head\n\n# of the pool\n" + strings.Replace(betaPool(""), "spec: {", "spec: # all\n  # two\n  # lines\n  {", 1) + "# end\n"
	out, notes := convertText(text+"---\n"+betaClass("amiFamily: AL2023"), nil)
	require.True(t, strings.HasPrefix(out, "# head\n\n# of the pool\napiVersion:"))
	require.Equal(t, 2, strings.Count(out, "#"))
	require.True(t, has(notes, convert.Warning, "", "the comments on these lines are left out; copy what you need: 7 8 9 11"), notes)
}

// TestCheckJudgesWhatNeedsNoConversion is about manifests that were converted and
// not completed, or are of v1 and wrong.
func TestCheckJudgesWhatNeedsNoConversion(t *testing.T) {
	const text = `apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: a}
spec:
  template:
    spec:
      requirements: []
      nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: ""}
      taints:
        - {key: a, effect: NoSchedul}
---
apiVersion: karpenter.k8s.aws/v1
kind: EC2NodeClass
metadata: {name: a}
spec:
  role: $KARPENTER_NODE_ROLE
  amiFamily: AL2
  amiSelectorTerms: [{id: ami-0123456789abcdef0}]
  subnetSelectorTerms: [{id: "${SUBNET}"}]
  securityGroupSelectorTerms: [{id: sg-0123456789abcdef0}]
---
apiVersion: karpenter.sh/v1
kind: NodeClaim
metadata: {name: a}
spec: {requirements: [], nodeClassRef: {group: g, kind: K, name: a}, expireAfter: soon}
`
	data, notes := convertText(text, nil)
	require.Equal(t, text, data)
	require.Empty(t, notes)
	data, notes = convertText(text, &convert.Options{Check: true})
	require.Equal(t, text, data, "nothing is rewritten")
	var got []string
	for _, n := range notes {
		require.Equal(t, convert.Action, n.Severity)
		got = append(got, fmt.Sprintf("%d %s", n.Line, n.Field))
	}
	require.Equal(t, []string{
		"10 spec.template.spec.taints[0].effect", "8 spec.template.spec.nodeClassRef.name",
		"16 spec.role", "25 spec.expireAfter",
	}, got)

	_, notes = convertText(strings.NewReplacer(`name: ""`, "name: a", "$KARPENTER_NODE_ROLE", "r", "NoSchedul}", "NoSchedule}",
		"expireAfter: soon", "expireAfter: 1h").Replace(text), &convert.Options{Check: true})
	require.Empty(t, notes)
}

// Nothing is said of other kinds.
func TestOtherKinds(t *testing.T) {
	const text = "apiVersion: v1\nkind: Service\nmetadata: {name: web}\n---\napiVersion: batch/v1\nkind: Job\nmetadata: {name: a}\n" +
		"---\napiVersion: example.com/v1\nkind: Widget\nmetadata: {name: w}\n---\napiVersion: v1\nkind: Service\nmetadata: {name: web}\n" +
		"---\napiVersion: karpenter.sh/v1\nkind: NodePoolList\nmetadata: {}\n---\napiVersion: karpenter.sh/v1\nkind: NodePoolList\nitems: []\n"
	for _, check := range []bool{false, true} {
		data, notes := convertText(text, &convert.Options{Check: check})
		require.Equal(t, text, data)
		require.Empty(t, notes)
	}
}

// TestCheckOfWhatCannotBeRead: a file of Karpenter's with a slip in it is no file without faults.
func TestCheckOfWhatCannotBeRead(t *testing.T) {
	for text, want := range map[string]convert.Severity{
		"apiVersion: karpenter.sh/v1\nkind: [NodePool\n": convert.Error,
		"apiVersion: karpenter.sh/v1\nkind: NodePool":    convert.Action, // which lacks all else
		"apiVersion: example.com/v1\nkind: [Widget\n":    convert.Error,
		"\x1f\x8b\x08\x00":              convert.Error,
		"kind: \"\xff\"":                convert.Error,
		`{"kind":"` + "\xff" + `"}`:     convert.Error,
		"a: {{ .Values.a }} b\n":        convert.Info,
		"hello":                         convert.Info,
		"- op: remove\n  path: /spec\n": convert.Info,
	} {
		for _, check := range []bool{true, false} {
			data, notes := convertText(text, &convert.Options{Check: check})
			require.Equal(t, text, data)
			if check || !strings.Contains(text, "karpenter.sh") {
				require.Equal(t, want, convert.Worst(notes), text)
			}
		}
	}
}

// TestCheckOfKeysThatAppearTwice: in YAML and in JSON, each is told once, and other faults with it.
func TestCheckOfKeysThatAppearTwice(t *testing.T) {
	for _, text := range []string{
		"apiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: {name: a}\nspec:\n  weight: 1\n  weight: 2\n  wieght: 3\n",
		"{\"apiVersion\": \"karpenter.sh/v1\",\n\"kind\": \"NodePool\",\n\"metadata\": {\"name\": \"a\"},\n\"spec\": {\n\"weight\": 1,\n\"weight\": 2,\n\"wieght\": 3}}",
	} {
		_, notes := convertText(text, &convert.Options{Check: true})
		require.Equal(t, []convert.Note{
			{Line: 6, Object: "NodePool a", Field: "spec.weight", Severity: convert.Action, Message: `Duplicate value: "weight": the key appears more than once in this object; keep one`},
			{Line: 7, Object: "NodePool a", Field: "spec.wieght", Severity: convert.Action, Message: `Forbidden: unknown field; did you mean "weight"?`},
		}, notes, text)
	}
}

// TestCheckOfOverlays: they have been the same in all versions, and may be wrong.
func TestCheckOfOverlays(t *testing.T) {
	for spec, want := range map[string][]string{
		"{}":                             {"5 spec.requirements"},
		"{requirements: [], price: 1.5}": {"5 spec.price"},
		"{requirements: [], capacity: {cpu: 1}, weight: 0}": {"5 spec.capacity[cpu]", "5 spec.weight"},
		`{requirements: [], price: "1.5"}`:                  nil,
	} {
		text := "apiVersion: karpenter.sh/v1alpha1\nkind: NodeOverlay\nmetadata:\n  name: a\nspec: " + spec + "\n"
		data, notes := convertText(text, &convert.Options{Check: true})
		require.Equal(t, text, data)
		var got []string
		for _, n := range notes {
			require.Equal(t, convert.Action, n.Severity)
			got = append(got, fmt.Sprintf("%d %s", n.Line, n.Field))
		}
		require.Equal(t, want, got, spec)
	}
}

// TestOwnImagesOfAL2 have nothing to do with those that AWS publishes.
func TestOwnImagesOfAL2(t *testing.T) {
	warned := func(spec string) bool {
		_, notes := convertText(betaClass(spec), nil)
		return slices.ContainsFunc(notes, func(n convert.Note) bool { return strings.Contains(n.Message, "there are no images of AL2") })
	}
	require.True(t, warned("amiFamily: AL2"))
	require.False(t, warned("amiFamily: AL2, amiSelectorTerms: [{id: ami-0123456789abcdef0}]"))
}

// TestWordsOfWhatIsRefused: an object that stays as it is keeps its words too.
func TestWordsOfWhatIsRefused(t *testing.T) {
	text := strings.Replace(provisioner("labels: {karpenter.sh/provisioner-name: a}"), "providerRef: {name: a}, ", "", 1)
	out, notes := convertText(text, nil)
	require.Equal(t, text, out)
	require.Len(t, notes, 1)
	out, _ = convertText(provisioner("labels: {karpenter.sh/provisioner-name: a}"), nil)
	require.Contains(t, out, "karpenter.sh/nodepool: a")
}

// TestGolden converts each input of testdata and compares what comes out and what
// is said about it. Converting the output again must change nothing.
func TestGolden(t *testing.T) {
	inputs, err := filepath.Glob("testdata/*/input.*")
	require.NoError(t, err)
	require.NotEmpty(t, inputs)
	for _, input := range inputs {
		dir := filepath.Base(filepath.Dir(input))
		t.Run(dir, func(t *testing.T) {
			data, err := os.ReadFile(input)
			require.NoError(t, err)
			name := filepath.Base(input)
			r := convert.Convert([]convert.Source{{Name: name, Data: data}}, nil)
			out := r.Outputs[0].Data
			var notes strings.Builder
			for _, n := range r.Notes {
				notes.WriteString(n.String() + "\n")
			}
			golden.Equal(t, string(out), dir, strings.Replace(name, "input", "output", 1))
			golden.Equal(t, notes.String(), dir, "notes.txt")

			again := convert.Convert(r.Outputs, nil)
			require.Equal(t, string(out), string(again.Outputs[0].Data))
		})
	}
}
