package requirements_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
)

func TestConflicts(t *testing.T) {
	const zone = "topology.kubernetes.io/zone"
	tests := []struct {
		name       string
		have, want string
		conflicts  []string
		closedOnly bool // not if well-known labels are open
	}{
		{name: "nothing asked", have: "team = a", want: ""},
		{name: "a common value", have: "team in (a, b)", want: "team in (b, c)"},
		{
			name: "no common value", have: "team in (a, b)", want: "team = c",
			conflicts: []string{"wanted team = c, but have team in (a, b)"},
		},
		{
			name: "a custom label that is not defined", have: "", want: "team = a",
			conflicts: []string{"wanted team = a, but label team is not defined here"},
		},
		{
			name: "bounds on a custom label that is not defined", have: "", want: "cpus > 4",
			conflicts: []string{"wanted cpus > 4, but label cpus is not defined here"},
		},
		{name: "a label that may be absent", have: "", want: "!team, gpu notin (a)"},
		{
			name: "a well-known label that is not defined", have: "", want: zone + " = a",
			conflicts:  []string{"wanted topology.kubernetes.io/zone = a, but label topology.kubernetes.io/zone is not defined here"},
			closedOnly: true,
		},
		{name: "a defined custom label", have: "team", want: "team = a"},
		{
			name: "a pod that contradicts itself about a label nobody defines", have: "", want: "team in ()",
			conflicts: []string{"wanted team with requirements that contradict each other, so that no value will do"},
		},
		{
			name: "a pod that contradicts itself about a well-known label", have: "", want: zone + " in ()",
			conflicts: []string{"wanted topology.kubernetes.io/zone with requirements that contradict each other, so that no value will do"},
		},
		{
			name: "a pool that contradicts itself", have: "team in ()", want: "",
			conflicts: []string{"no value of team is to be had: what is required of it here contradicts itself"},
		},
		{
			name: "every conflict, by key", have: "b = 1, c = 1, a = 1, d in ()", want: "c = 2, e, a = 2, b = 1",
			conflicts: []string{
				"wanted a = 2, but have a = 1",
				"wanted c = 2, but have c = 1",
				"no value of d is to be had: what is required of it here contradicts itself",
				"wanted e, but label e is not defined here",
			},
		},
		{
			name: "many values", have: "t in (a, b, c, d, e, f, g)", want: "t > 4, t < 99, t notin (5, 6, 7, 8, 9, 10)",
			conflicts: []string{"wanted t > 4, t < 99, t notin (10, 5, 6, 7, 8 and 1 more), but have t in (a, b, c, d, e and 2 more)"},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			have, want := requirements.MustParse(tt.have), requirements.MustParse(tt.want)
			require.Equal(t, tt.conflicts, texts(have.Conflicts(want, requirements.EmptyVocabulary())))
			require.Equal(t, tt.conflicts == nil, have.Compatible(want, requirements.EmptyVocabulary()))
			if tt.closedOnly {
				tt.conflicts = nil
			}
			require.Equal(t, tt.conflicts, texts(have.Conflicts(want, requirements.DefaultVocabulary())))
			require.Equal(t, tt.conflicts == nil, have.Compatible(want, requirements.DefaultVocabulary()))
			require.Equal(t, tt.conflicts, texts(have.Conflicts(want, nil)), "nil is the default")
			require.Equal(t, tt.conflicts == nil, have.Compatible(want, nil), "nil is the default")
		})
	}
}

func texts(conflicts []requirements.Conflict) []string {
	var out []string
	for _, c := range conflicts {
		out = append(out, c.String())
	}
	return out
}

func TestConflictFields(t *testing.T) {
	have := requirements.MustParse("example.com/team = a")
	want := requirements.MustParse("team = a, example.com/team = b")
	conflicts := have.Conflicts(want, requirements.EmptyVocabulary())
	require.Len(t, conflicts, 2)

	defined := conflicts[0]
	require.Equal(t, "example.com/team", defined.Key)
	require.Equal(t, "example.com/team = a", defined.Have.String())
	require.Equal(t, "example.com/team = b", defined.Want.String())
	require.False(t, defined.Undefined)
	require.Empty(t, defined.Hint)

	undefined := conflicts[1]
	require.Equal(t, "team", undefined.Key)
	require.Equal(t, "!team", undefined.Have.String())
	require.Equal(t, "team = a", undefined.Want.String())
	require.True(t, undefined.Undefined)
	require.Equal(t, "example.com/team", undefined.Hint)
	require.Equal(t, "wanted team = a, but label team is not defined here; did you mean example.com/team?", undefined.String())
}

func TestHint(t *testing.T) {
	tests := []struct {
		name, key, have, want string
	}{
		{"the same name under another prefix", "zone", "", "topology.kubernetes.io/zone"},
		{"the same name under a misspelt prefix", "topology.kubernetes.oi/zone", "", "topology.kubernetes.io/zone"},
		{"a letter missing", "topology.kubernetes.io/zne", "", "topology.kubernetes.io/zone"},
		{"a letter wrong", "kubernetes.io/arsh", "", "kubernetes.io/arch"},
		{"two letters swapped", "karpenter.sh/capacity-tpye", "", "karpenter.sh/capacity-type"},
		{"another case", "Kubernetes.io/Arch", "", "kubernetes.io/arch"},
		{"a part of it", "capacity", "", "karpenter.sh/capacity-type"},
		{"more than it", "example.com/team-name", "example.com/team", "example.com/team"},
		{"a key of the node side", "example.com/taem", "example.com/team", "example.com/team"},
		{"the nearest prefix", "a.example.com/team", "b.example.com/team, other.org/team", "b.example.com/team"},
		{"the same name before a close spelling", "x/zone", "x/zones", "topology.kubernetes.io/zone"},
		{"the closest spelling", "x/abcdef", "x/abcdxx, x/abcdex", "x/abcdex"},
		{"ties go to the first", "x/team", "x/teax, x/teay", "x/teax"},
		{"a short name is not a mistake", "gp", "a, b, gpu", ""},
		{"another short name", "x/ab", "x/cd", ""},
		{"nothing near", "example.com/colour", "team", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			conflicts := requirements.MustParse(tt.have).Conflicts(
				requirements.NewSet(requirements.Exists(tt.key)), requirements.DefaultVocabulary())
			require.Len(t, conflicts, 1)
			require.Equal(t, tt.want, conflicts[0].Hint)
		})
	}
}

func TestHintWithoutVocabulary(t *testing.T) {
	want := requirements.MustParse("zone = a")
	require.Empty(t, requirements.Set{}.Conflicts(want, requirements.EmptyVocabulary())[0].Hint)
	require.Equal(t, "topology.kubernetes.io/zone",
		requirements.MustParse("topology.kubernetes.io/zone = a").Conflicts(want, requirements.EmptyVocabulary())[0].Hint)
}
