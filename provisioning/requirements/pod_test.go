package requirements_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
)

func expr(key string, op corev1.NodeSelectorOperator, values ...string) corev1.NodeSelectorRequirement {
	return corev1.NodeSelectorRequirement{Key: key, Operator: op, Values: values}
}

func labelsTerm(exprs ...corev1.NodeSelectorRequirement) corev1.NodeSelectorTerm {
	return corev1.NodeSelectorTerm{MatchExpressions: exprs}
}

func fieldsTerm(exprs ...corev1.NodeSelectorRequirement) corev1.NodeSelectorTerm {
	return corev1.NodeSelectorTerm{MatchFields: exprs}
}

// render writes alternatives as text, one each.
func render(alternatives []requirements.Alternative) []string {
	var out []string
	for _, a := range alternatives {
		text := "{" + a.Set.String() + "}"
		if a.NodeNames != nil {
			text += " on " + a.NodeNames.String()
		}
		out = append(out, text)
	}
	return out
}

func TestFromPod(t *testing.T) {
	zoneA, zoneB := expr("zone", "In", "a"), expr("zone", "In", "b")
	tests := []struct {
		name     string
		selector map[string]string
		affinity *corev1.NodeAffinity
		want     []string
	}{
		{name: "nothing asked", want: []string{"{}"}},
		{name: "a node selector", selector: map[string]string{"team": "a"}, want: []string{"{team = a}"}},
		{name: "an empty affinity", affinity: &corev1.NodeAffinity{}, want: []string{"{}"}},
		{
			name:     "a node selector under two names of one label",
			selector: map[string]string{"kubernetes.io/arch": "arm64", "beta.kubernetes.io/arch": "amd64"},
			want:     []string{"{kubernetes.io/arch in ()}"},
		},
		{
			name: "terms are alternatives, each with the selector", selector: map[string]string{"team": "a"},
			affinity: required(labelsTerm(zoneA, expr("gpu", "DoesNotExist")), labelsTerm(zoneB)),
			want:     []string{"{!gpu, team = a, zone = a}", "{team = a, zone = b}"},
		},
		{
			name:     "expressions of a term are a conjunction",
			affinity: required(labelsTerm(zoneA, zoneB)),
			want:     []string{"{zone in ()}"},
		},
		{name: "an empty term matches nothing", affinity: required(labelsTerm(), labelsTerm(zoneB)), want: []string{"{zone = b}"}},
		{name: "empty terms only", affinity: required(labelsTerm(), labelsTerm()), want: nil},
		{name: "no terms", selector: map[string]string{"team": "a"}, affinity: required(), want: nil},
		{
			name: "a node by name", affinity: required(fieldsTerm(expr("metadata.name", "In", "n1"))),
			want: []string{"{} on metadata.name = n1"},
		},
		{
			name: "names and labels",
			affinity: required(corev1.NodeSelectorTerm{
				MatchExpressions: []corev1.NodeSelectorRequirement{zoneA},
				MatchFields:      []corev1.NodeSelectorRequirement{expr("metadata.name", "NotIn", "n1"), expr("metadata.name", "NotIn", "n2")},
			}),
			want: []string{"{zone = a} on metadata.name notin (n1, n2)"},
		},
		{
			name:     "two names at once",
			affinity: required(fieldsTerm(expr("metadata.name", "In", "n1"), expr("metadata.name", "In", "n2"))),
			want:     []string{"{} on metadata.name in ()"},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := requirements.FromPod(podWith(tt.selector, tt.affinity), nil)
			require.NoError(t, err)
			require.Equal(t, tt.want, render(got.Alternatives))
			require.Empty(t, got.Preferences)
		})
	}
}

func TestFromPodPreferences(t *testing.T) {
	got, err := requirements.FromPod(podWith(map[string]string{"team": "a"}, &corev1.NodeAffinity{
		PreferredDuringSchedulingIgnoredDuringExecution: []corev1.PreferredSchedulingTerm{
			{Weight: 10, Preference: labelsTerm(expr("beta.kubernetes.io/arch", "In", "arm64"))},
			{Weight: 20, Preference: labelsTerm()},
			{Weight: 0, Preference: labelsTerm(expr("zone", "In"))},
			{Weight: 100, Preference: fieldsTerm(expr("metadata.name", "In", "n1"))},
		},
	}), nil)
	require.NoError(t, err)
	require.Equal(t, []string{"{team = a}"}, render(got.Alternatives), "preferences ask for nothing")
	require.Len(t, got.Preferences, 2)
	require.Equal(t, int32(10), got.Preferences[0].Weight)
	require.Equal(t, int32(100), got.Preferences[1].Weight)
	require.Equal(t, []string{"{kubernetes.io/arch = arm64}", "{} on metadata.name = n1"},
		render([]requirements.Alternative{got.Preferences[0].Alternative, got.Preferences[1].Alternative}))
}

func TestFromPodErrors(t *testing.T) {
	affinity := required(
		labelsTerm(expr("zone", "In")),
		labelsTerm(expr("zone", "In", "a")),
		fieldsTerm(expr("metadata.uid", "Exists")),
	)
	affinity.PreferredDuringSchedulingIgnoredDuringExecution = []corev1.PreferredSchedulingTerm{
		{Weight: 1, Preference: labelsTerm(expr("cpu", "Gt", "x"))},
		{Weight: 2, Preference: labelsTerm(expr("cpu", "Gt", "4"))},
	}
	got, err := requirements.FromPod(podWith(nil, affinity), nil)
	require.EqualError(t, err, `pod default/web: `+
		`spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[0].matchExpressions[0].values: `+
		`Required value: label "zone": operator In needs at least one value; add one, or use DoesNotExist if the label must be absent`+"\n"+
		`spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[2].matchFields[0].key: `+
		`Invalid value: "metadata.uid": no node can be selected by this field; use metadata.name`+"\n"+
		`spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[2].matchFields[0].values: `+
		`Required value: field "metadata.uid": exactly one value is needed; use a term for each`+"\n"+
		`spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[2].matchFields[0].operator: `+
		`Invalid value: "Exists": field "metadata.uid": the operator is not known; use In or NotIn`+"\n"+
		`spec.affinity.nodeAffinity.preferredDuringSchedulingIgnoredDuringExecution[0].preference.matchExpressions[0].values: `+
		`Invalid value: ["x"]: label "cpu": operator Gt needs exactly one integer of at most 64 bits, found ["x"]; write one such as "4"`)
	require.Equal(t, []string{"{zone = a}"}, render(got.Alternatives), "what is well-formed stays")
	require.Len(t, got.Preferences, 1)

	got, err = requirements.FromPod(nil, nil)
	require.EqualError(t, err, "requirements: the Pod is nil")
	require.Empty(t, got.Alternatives)
}

func TestAlternativeIntersect(t *testing.T) {
	name := func(names ...string) *requirements.Requirement {
		r := requirements.In("metadata.name", names...)
		return &r
	}
	zone := requirements.Alternative{Set: requirements.NewSet(requirements.In("zone", "a", "b"))}
	both := zone.Intersect(requirements.Alternative{Set: requirements.NewSet(requirements.In("zone", "b")), NodeNames: name("n-1", "n-2")})
	require.Equal(t, "zone = b", both.Set.String())
	require.Equal(t, name("n-1", "n-2"), both.NodeNames)
	require.Equal(t, "metadata.name = n-2", both.Intersect(requirements.Alternative{NodeNames: name("n-2", "n-3")}).NodeNames.String())
	require.Equal(t, both, both.Intersect(requirements.Alternative{}))
	require.True(t, both.Intersect(requirements.Alternative{NodeNames: name("n-3")}).NodeNames.Impossible())
}

func TestFromNodeSelector(t *testing.T) {
	got, err := requirements.FromNodeSelector(nil, nil)
	require.NoError(t, err)
	require.Equal(t, []string{"{}"}, render(got))

	got, err = requirements.FromNodeSelector(&corev1.NodeSelector{}, nil)
	require.NoError(t, err)
	require.Empty(t, got)

	got, err = requirements.FromNodeSelector(&corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{
		labelsTerm(expr("failure-domain.beta.kubernetes.io/zone", "In", "a", "b")), labelsTerm(expr("zone", "In")),
	}}, nil)
	require.ErrorContains(t, err, `nodeSelectorTerms[1].matchExpressions[0].values: Required value: label "zone"`)
	require.Equal(t, []string{"{topology.kubernetes.io/zone in (a, b)}"}, render(got))
}
