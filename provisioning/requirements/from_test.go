package requirements_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
)

func csi() *requirements.Vocabulary {
	return requirements.DefaultVocabulary().Extend(requirements.Extension{
		Aliases:      map[string]string{"topology.csi.example.com/zone": "topology.kubernetes.io/zone"},
		ValueAliases: map[string]map[string]string{"topology.kubernetes.io/zone": {"": "0"}},
	})
}

func TestFromLabels(t *testing.T) {
	require.Zero(t, requirements.FromLabels(nil, nil).Len())
	require.Equal(t, "kubernetes.io/arch = arm64, team = a", requirements.FromLabels(map[string]string{
		"team": "a", "beta.kubernetes.io/arch": "arm64",
	}, nil).String())
	require.Equal(t, "topology.kubernetes.io/zone = 0", requirements.FromLabels(map[string]string{
		"topology.csi.example.com/zone": "",
	}, csi()).String())
	require.Equal(t, "beta.kubernetes.io/arch = arm64", requirements.FromLabels(map[string]string{
		"beta.kubernetes.io/arch": "arm64",
	}, verbatim()).String())

	// One label under several names.
	labels := map[string]string{
		"failure-domain.beta.kubernetes.io/zone": "b",
		"topology.csi.example.com/zone":          "c",
		"topology.kubernetes.io/zone":            "a",
	}
	for range 20 { // whatever the order of the map
		require.Equal(t, "topology.kubernetes.io/zone = a", requirements.FromLabels(labels, csi()).String(), "the proper name counts")
	}
	delete(labels, "topology.kubernetes.io/zone")
	for range 20 {
		require.Equal(t, "topology.kubernetes.io/zone = b", requirements.FromLabels(labels, csi()).String(), "else the first alias")
	}
}

func TestFromNodeSelectorRequirements(t *testing.T) {
	reqs := []corev1.NodeSelectorRequirement{
		{Key: "failure-domain.beta.kubernetes.io/zone", Operator: "In", Values: []string{"b", "a", ""}},
		{Key: "cpu", Operator: "Gt", Values: []string{"4"}},
		{Key: "cpu", Operator: "NotIn", Values: []string{"8"}},
		{Key: "gpu", Operator: "DoesNotExist"},
		{Key: "team", Operator: "Exists"},
	}
	s, err := requirements.FromNodeSelectorRequirements(reqs, csi())
	require.NoError(t, err)
	require.Equal(t, "cpu > 4, cpu notin (8), !gpu, team, topology.kubernetes.io/zone in (0, a, b)", s.String())
	require.Equal(t, []string{"b", "a", ""}, reqs[0].Values, "the argument is not changed")

	s, err = requirements.FromNodeSelectorRequirements(nil, nil)
	require.NoError(t, err)
	require.Zero(t, s.Len())
}

func TestFromNodeSelectorRequirementsErrors(t *testing.T) {
	s, err := requirements.FromNodeSelectorRequirements([]corev1.NodeSelectorRequirement{
		{Key: "a", Operator: "In"},
		{Key: "b", Operator: "Exists"},
		{Key: "c", Operator: "Gte", Values: []string{"4"}},
		{Key: "d", Operator: "NotIn"},
		{Key: "not a key", Operator: "Near", Values: []string{"not a value"}},
	}, nil)
	require.Zero(t, s.Len())
	require.Equal(t, []string{
		`[0].values: Required value: label "a": operator In needs at least one value; add one, or use DoesNotExist if the label must be absent`,
		`[2].operator: Invalid value: "Gte": label "c": operator Gte is not known to Kubernetes; use Gt or Lt with the next integer`,
		`[3].values: Required value: label "d": operator NotIn needs at least one value; add one, or remove the requirement`,
	}, strings.Split(err.Error(), "\n")[:3])
	require.ErrorContains(t, err, `[4].key: Invalid value: "not a key": label "not a key": it is not a label key: `)
	require.ErrorContains(t, err, `[4].values: Invalid value: ["not a value"]: label "not a key": "not a value" is not a label value: `)
	require.ErrorContains(t, err, `[4].operator: Invalid value: "Near": label "not a key": operator "Near" is not known; use one of In, NotIn, Exists, DoesNotExist, Gt, Lt`)

	var typed *field.Error
	require.True(t, errors.As(err, &typed))
	require.Equal(t, "[0].values", typed.Field)
}

func TestFromRequirements(t *testing.T) {
	reqs := []v1.NodeSelectorRequirementWithMinValues{
		{Key: "beta.kubernetes.io/instance-type", Operator: "In", Values: []string{"m5", "c5"}, MinValues: new(2)},
		{Key: "node.kubernetes.io/instance-type", Operator: "Exists", MinValues: new(1)},
		{Key: "cpu", Operator: "Gte", Values: []string{"4"}},
		{Key: "cpu", Operator: "Lte", Values: []string{"16"}},
		{Key: "any", Operator: "NotIn", MinValues: new(0)},
		{Key: "team", Operator: "Exists", Values: []string{"ignored"}},
		{Key: "gpu", Operator: "DoesNotExist", Values: []string{"ignored"}},
	}
	s, err := requirements.FromRequirements(reqs, nil)
	require.NoError(t, err)
	require.Equal(t, "any notin (), cpu > 3, cpu < 17, !gpu, node.kubernetes.io/instance-type in (c5, m5) minvalues 2, team", s.String())
}

func TestFromRequirementsErrors(t *testing.T) {
	_, err := requirements.FromRequirements([]v1.NodeSelectorRequirementWithMinValues{
		{Key: "a", Operator: "In"},
		{Key: "b", Operator: "Exists", MinValues: new(-1)},
		{Key: "c", Operator: "gt", Values: []string{"4"}},
	}, nil)
	require.EqualError(t, err, strings.Join([]string{
		`[0].values: Required value: label "a": operator In needs at least one value; add one, or use DoesNotExist if the label must be absent`,
		`[1].minValues: Invalid value: -1: label "b": it must not be negative; remove it or use a number from 1 to 50`,
		`[2].operator: Invalid value: "gt": label "c": operator "gt" is not known; use one of In, NotIn, Exists, DoesNotExist, Gt, Gte, Lt, Lte`,
	}, "\n"))
}

func TestNodeSelectorRequirements(t *testing.T) {
	type entry struct {
		operator  corev1.NodeSelectorOperator
		values    []string
		minValues *int
	}
	tests := []struct {
		text string
		want []entry
	}{
		{"k in (b, a)", []entry{{operator: "In", values: []string{"a", "b"}}}},
		{"k notin (a)", []entry{{operator: "NotIn", values: []string{"a"}}}},
		{"k notin ()", []entry{{operator: "NotIn"}}},
		{"k", []entry{{operator: "Exists"}}},
		{"!k", []entry{{operator: "DoesNotExist"}}},
		{"k in () minvalues 2", []entry{{operator: "Exists", minValues: new(2)}, {operator: "DoesNotExist", minValues: new(2)}}},
		{"k, k notin (a)", []entry{{operator: "Exists"}, {operator: "NotIn", values: []string{"a"}}}},
		{"k > 4", []entry{{operator: "Gte", values: []string{"5"}}}},
		{"k < 4", []entry{{operator: "Lte", values: []string{"3"}}}},
		{"k > 4, k < 16, k notin (8) minvalues 3", []entry{
			{operator: "Gte", values: []string{"5"}, minValues: new(3)},
			{operator: "Lte", values: []string{"15"}, minValues: new(3)},
			{operator: "NotIn", values: []string{"8"}, minValues: new(3)},
		}},
		{"k >= -9223372036854775808", []entry{{operator: "Gte", values: []string{"-9223372036854775808"}}}},
	}
	for _, tt := range tests {
		var got []entry
		for _, e := range one(t, tt.text).NodeSelectorRequirements() {
			require.Equal(t, "k", e.Key)
			got = append(got, entry{e.Operator, e.Values, e.MinValues})
		}
		require.Equal(t, tt.want, got, tt.text)
	}
	all := requirements.MustParse("b = 1, a, a notin (x)").NodeSelectorRequirements()
	require.Equal(t, []v1.NodeSelectorRequirementWithMinValues{
		{Key: "a", Operator: "Exists"},
		{Key: "a", Operator: "NotIn", Values: []string{"x"}},
		{Key: "b", Operator: "In", Values: []string{"1"}},
	}, all)
}

func pool() *v1.NodePool {
	return &v1.NodePool{
		ObjectMeta: metav1.ObjectMeta{Name: "general"},
		Spec: v1.NodePoolSpec{Template: v1.NodeClaimTemplate{
			ObjectMeta: v1.ObjectMeta{Labels: map[string]string{"team": "a", "beta.kubernetes.io/os": "linux"}},
			Spec: v1.NodeClaimTemplateSpec{
				NodeClassRef: &v1.NodeClassReference{Group: "karpenter.k8s.aws", Kind: "EC2NodeClass", Name: "default"},
				Requirements: []v1.NodeSelectorRequirementWithMinValues{
					{Key: "kubernetes.io/arch", Operator: "In", Values: []string{"amd64", "arm64"}},
					{Key: "team", Operator: "Exists"},
				},
			},
		}},
	}
}

func TestFromNodePool(t *testing.T) {
	p := pool()
	before := p.DeepCopy()
	s, err := requirements.FromNodePool(p, nil)
	require.NoError(t, err)
	require.Equal(t, "karpenter.k8s.aws/ec2nodeclass = default, karpenter.sh/nodepool = general, "+
		"kubernetes.io/arch in (amd64, arm64), kubernetes.io/os = linux, team = a", s.String())
	require.Equal(t, before, p, "the pool is not changed")

	p.Spec.Template.Spec.NodeClassRef = nil
	p.Spec.Template.Spec.Requirements = []v1.NodeSelectorRequirementWithMinValues{
		{Key: "team", Operator: "In", Values: []string{"b"}},
	}
	s, err = requirements.FromNodePool(p, nil)
	require.NoError(t, err)
	require.Equal(t, "karpenter.sh/nodepool = general, kubernetes.io/os = linux, team in ()", s.String())
	require.True(t, s.Impossible())
}

func TestFromNodePoolErrors(t *testing.T) {
	p := pool()
	p.Spec.Template.Spec.Requirements[0].Values = nil
	p.Spec.Template.Spec.Requirements[1].Operator = "Exist"
	s, err := requirements.FromNodePool(p, nil)
	require.Zero(t, s.Len())
	require.EqualError(t, err, `NodePool "general": spec.template.spec.requirements[0].values: Required value: `+
		`label "kubernetes.io/arch": operator In needs at least one value; add one, or use DoesNotExist if the label must be absent`+
		"\n"+`spec.template.spec.requirements[1].operator: Invalid value: "Exist": `+
		`label "team": operator "Exist" is not known; use one of In, NotIn, Exists, DoesNotExist, Gt, Gte, Lt, Lte`)

	_, err = requirements.FromNodePool(nil, nil)
	require.EqualError(t, err, "requirements: the NodePool is nil")
}

func TestFromNodeClaim(t *testing.T) {
	claim := &v1.NodeClaim{
		ObjectMeta: metav1.ObjectMeta{Name: "general-abc", Labels: map[string]string{
			"karpenter.sh/nodepool": "general", "beta.kubernetes.io/arch": "arm64",
		}},
		Spec: v1.NodeClaimSpec{
			NodeClassRef: &v1.NodeClassReference{Group: "karpenter.k8s.aws", Kind: "EC2NodeClass", Name: "default"},
			Requirements: []v1.NodeSelectorRequirementWithMinValues{
				{Key: "kubernetes.io/arch", Operator: "In", Values: []string{"amd64", "arm64"}},
				{Key: "topology.kubernetes.io/zone", Operator: "In", Values: []string{"a", "b"}},
			},
		},
	}
	before := claim.DeepCopy()
	s, err := requirements.FromNodeClaim(claim, nil)
	require.NoError(t, err)
	require.Equal(t, "karpenter.k8s.aws/ec2nodeclass = default, karpenter.sh/nodepool = general, "+
		"kubernetes.io/arch = arm64, topology.kubernetes.io/zone in (a, b)", s.String())
	require.Equal(t, before, claim, "the claim is not changed")

	claim.Spec.Requirements[0].Operator = ""
	_, err = requirements.FromNodeClaim(claim, nil)
	require.ErrorContains(t, err, `NodeClaim "general-abc": spec.requirements[0].operator: Invalid value: ""`)

	_, err = requirements.FromNodeClaim(nil, nil)
	require.EqualError(t, err, "requirements: the NodeClaim is nil")
}

// FuzzFromRequirements reads whatever comes and, where it can be read, writes
// and reads it again.
func FuzzFromRequirements(f *testing.F) {
	f.Add("k", "In", "a", "b", uint8(2), 1, "l", "Gt", "4")
	f.Add("k", "NotIn", "a", "", uint8(1), 0, "k", "Exists", "")
	f.Add("k", "Gte", "-9223372036854775808", "", uint8(1), -1, "k", "Lt", "9223372036854775807")
	f.Add("", "", "", "", uint8(0), 99, "beta.kubernetes.io/arch", "DoesNotExist", "x")
	f.Add("k", "Lte", "+007", "\xff", uint8(1), 50, "k", "NotIn", "07")
	f.Fuzz(func(t *testing.T, key, op, a, b string, n uint8, minValues int, key2, op2, c string) {
		reqs := []v1.NodeSelectorRequirementWithMinValues{
			{Key: key, Operator: corev1.NodeSelectorOperator(op), Values: []string{a, b}[:n%3], MinValues: &minValues},
			{Key: key2, Operator: corev1.NodeSelectorOperator(op2), Values: []string{c}},
		}
		s, err := requirements.FromRequirements(reqs, nil)
		if err != nil {
			require.Zero(t, s.Len())
			return
		}
		back, err := requirements.FromRequirements(s.NodeSelectorRequirements(), nil)
		require.NoError(t, err)
		require.True(t, back.Equal(s), "%q and %q", s, back)
		parsed, err := requirements.Parse(s.String())
		require.NoError(t, err)
		require.True(t, parsed.Equal(s), "%q and %q", s, parsed)
	})
}
