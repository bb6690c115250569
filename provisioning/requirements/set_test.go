package requirements_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
)

func TestSetZeroValue(t *testing.T) {
	var s requirements.Set
	require.True(t, s.Matches(nil))
	require.True(t, s.Matches(map[string]string{"a": "b"}))
	require.Zero(t, s.Len())
	require.Empty(t, s.String())
	require.False(t, s.Impossible())
	require.Empty(t, s.NodeSelectorRequirements())
	require.True(t, s.Equal(requirements.NewSet()))
	require.True(t, s.Compatible(requirements.Set{}, requirements.EmptyVocabulary()))
}

func TestNewSet(t *testing.T) {
	reqs := []requirements.Requirement{
		requirements.In("b", "x", "y"), requirements.Exists("a"), requirements.NotIn("b", "y"), requirements.DoesNotExist("c"),
	}
	before := slices.Clone(reqs)
	s := requirements.NewSet(reqs...)
	require.Equal(t, "a, b = x, !c", s.String())
	for i := range reqs {
		require.True(t, reqs[i].Equal(before[i]), "the argument is not changed")
	}
	slices.Reverse(reqs)
	require.True(t, requirements.NewSet(reqs...).Equal(s), "order does not count")
}

func TestSetGet(t *testing.T) {
	s := requirements.MustParse("a = 1, c = 3")
	r, found := s.Get("c")
	require.True(t, found)
	require.Equal(t, "c = 3", r.String())
	r, found = s.Get("b")
	require.False(t, found)
	require.Equal(t, "b notin ()", r.String())
}

func TestSetWithAndWithout(t *testing.T) {
	s := requirements.MustParse("a = 1, b in (1, 2), c")
	require.Equal(t, "a = 1, b = 2, c, !d", s.With(requirements.DoesNotExist("d"), requirements.NotIn("b", "1")).String())
	require.Equal(t, "b in (1, 2)", s.Without("c", "a", "x").String())
	require.True(t, s.Without("x").Equal(s))
	require.True(t, s.With().Equal(s))
	require.Equal(t, "a = 1, b in (1, 2), c", s.String(), "the receiver stays")
}

func TestSetAllStopsWhenAsked(t *testing.T) {
	var keys []string
	for r := range requirements.MustParse("c, a, b").All() {
		if keys = append(keys, r.Key()); len(keys) == 2 {
			break
		}
	}
	require.Equal(t, []string{"a", "b"}, keys)
}

func TestSetImpossible(t *testing.T) {
	require.False(t, requirements.MustParse("!a, b").Impossible())
	require.True(t, requirements.MustParse("b, a > 4, a < 5").Impossible())
}

func TestSetMatches(t *testing.T) {
	labels := map[string]string{"zone": "a", "cpu": "007", "empty": ""}
	tests := map[string]bool{
		"":                         true,
		"zone = a":                 true,
		"zone = a, cpu > 6":        true,
		"zone = a, cpu > 7":        false,
		"cpu = 7":                  false,
		"cpu notin (7)":            true,
		"zone > 0":                 false,
		"empty":                    true,
		`empty = ""`:               true,
		"!empty":                   false,
		"gpu":                      false,
		"!gpu":                     true,
		"gpu notin (a)":            true,
		"gpu, gpu notin (a)":       false,
		"zone in (), zone":         false,
		"zone minvalues 9":         true,
		"zone notin (), a notin()": true,
	}
	for text, want := range tests {
		require.Equal(t, want, requirements.MustParse(text).Matches(labels), text)
	}
}
