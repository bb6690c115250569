package requirements_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/dovetail-sdk/dovetail/internal/testlong"
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

// check is require.True without its cost, for the many million times it holds.
func check(t *testing.T, ok bool, law string, a judged) {
	if !ok {
		t.Helper()
		t.Fatalf("%s: %q", law, a.String())
	}
}

func checkTwo(t *testing.T, ok bool, law string, a, b judged) {
	if !ok {
		t.Helper()
		t.Fatalf("%s: %q and %q", law, a.String(), b.String())
	}
}

func TestLawsMembership(t *testing.T) {
	u := full()
	all := u.closure(t)
	t.Logf("%d requirements over %d states", len(all), len(u.states))
	require.Greater(t, len(all), 200)
	for _, r := range all {
		present := false
		for i, s := range u.states {
			want := r.mask&(1<<i) != 0
			if !s.present {
				check(t, r.AllowsAbsent() == want, "AllowsAbsent is membership of the absent state", r)
			} else {
				check(t, r.Has(s.value) == want, "Has is membership of "+s.value, r)
				present = present || want
			}
			check(t, requirements.NewSet(r.Requirement).Matches(s.labels()) == want, "Matches is membership", r)
		}
		check(t, r.AllowsPresent() == present, "AllowsPresent is membership of some string", r)
		check(t, r.Impossible() == (r.mask == 0), "Impossible is emptiness", r)
	}
}

func TestLawsOfOne(t *testing.T) {
	u := full()
	everything, nothing := requirements.NotIn(key), requirements.In(key)
	for _, r := range u.closure(t) {
		check(t, r.Intersect(r.Requirement).Equal(r.Requirement), "idempotent", r)
		check(t, r.Intersect(everything).Equal(r.Requirement), "identity", r)
		check(t, everything.Intersect(r.Requirement).Equal(r.Requirement), "identity on the left", r)
		check(t, r.Intersect(nothing).Equal(nothing), "annihilator", r)
		check(t, r.Key() == key, "the key stays", r)

		value, ok := r.Any()
		check(t, ok == r.AllowsPresent(), "Any finds a string if there is one", r)
		check(t, !ok || r.Has(value), "Any is admitted", r)

		values, finite := r.Values()
		check(t, finite || len(values) == 0, "Values only if finite", r)
		check(t, finite || r.AllowsPresent(), "no value is a finite number of values", r)
		if finite && len(values) > 0 {
			check(t, requirements.In(key, values...).Equal(r.Requirement), "Values are all there is", r)
			check(t, value == values[0], "Any is the first of Values", r)
		}
	}
}

func TestLawsOfTwo(t *testing.T) {
	u := full()
	all := u.closure(t)
	for _, a := range all {
		for _, b := range all {
			both := a.Intersect(b.Requirement)
			checkTwo(t, a.Equal(b.Requirement) == (a.mask == b.mask), "Equal if and only if same states", a, b)
			checkTwo(t, a.Overlaps(b.Requirement) == (a.mask&b.mask != 0), "Overlaps is a common state", a, b)
			checkTwo(t, a.Overlaps(b.Requirement) == !both.Impossible(), "Overlaps is a possible intersection", a, b)
			checkTwo(t, both.Equal(b.Intersect(a.Requirement)), "commutative", a, b)
			for i, s := range u.states {
				want := (a.mask&b.mask)&(1<<i) != 0
				if s.present {
					checkTwo(t, both.Has(s.value) == want, "membership of a string", a, b)
				} else {
					checkTwo(t, both.AllowsAbsent() == want, "membership of the absent state", a, b)
				}
			}
		}
	}
}

func TestLawsOfThree(t *testing.T) {
	all := small().closure(t)
	t.Logf("%d requirements", len(all))
	for i, a := range all {
		if !testlong.On() && i%4 != 0 {
			continue
		}
		law := "associative behind " + a.String()
		for _, b := range all {
			ab := a.Intersect(b.Requirement)
			for _, c := range all {
				left, right := ab.Intersect(c.Requirement), a.Intersect(b.Intersect(c.Requirement))
				checkTwo(t, left.Equal(right), law, b, c)
			}
		}
	}
}

func TestLawsOfMinValues(t *testing.T) {
	for _, a := range small().closure(t) {
		for _, b := range small().closure(t) {
			for m := range 3 {
				for n := range 3 {
					got := a.WithMinValues(m).Intersect(b.WithMinValues(n))
					checkTwo(t, got.Equal(a.Intersect(b.Requirement).WithMinValues(max(m, n))), "greatest minimum", a, b)
					checkTwo(t, a.WithMinValues(m).Overlaps(b.WithMinValues(n)) == a.Overlaps(b.Requirement),
						"minimum has no say", a, b)
				}
			}
		}
	}
}

func TestLawsOfText(t *testing.T) {
	for _, r := range full().closure(t) {
		for _, min := range []int{0, 3} {
			want := requirements.NewSet(r.WithMinValues(min))
			got, err := requirements.Parse(want.String())
			require.NoError(t, err)
			check(t, got.Equal(want), "Parse reads what String wrote", r)
			check(t, got.String() == want.String(), "String is canonical", r)
		}
	}
}

func TestLawsOfAPI(t *testing.T) {
	for _, r := range full().closure(t) {
		for _, min := range []int{0, 3} {
			want := requirements.NewSet(r.WithMinValues(min))
			got, err := requirements.FromRequirements(want.NodeSelectorRequirements(), nil)
			require.NoError(t, err)
			check(t, got.Equal(want), "FromRequirements reads what NodeSelectorRequirements wrote", r)
		}
	}
}

// TestLawsOfSets holds Sets over two keys against their meaning.
func TestLawsOfSets(t *testing.T) {
	const other = "example.com/other"
	states := map[string]map[string]string{
		"none":  {},
		"key":   {key: "a"},
		"other": {other: "6"},
		"both":  {key: "6", other: "a"},
	}
	var sets []requirements.Set
	for _, text := range []string{"", "!", " = a", " in (6, 7)", " in ()", " > 5", " notin (a)", ""} {
		for _, second := range []string{"", "!", " = a", " notin (6)", " in ()"} {
			s := requirements.Set{}
			for k, clause := range map[string]string{key: text, other: second} {
				switch clause {
				case "":
				case "!":
					s = s.With(requirements.DoesNotExist(k))
				default:
					s = s.Intersect(requirements.MustParse(k + clause))
				}
			}
			sets = append(sets, s)
		}
	}
	for _, s := range sets {
		for _, u := range sets {
			both := s.Intersect(u)
			require.True(t, both.Equal(u.Intersect(s)), "commutative: %q, %q", s, u)
			require.True(t, both.Intersect(s).Equal(both), "absorbing: %q, %q", s, u)
			require.Equal(t, s.String() == u.String(), s.Equal(u), "canonical: %q, %q", s, u)
			for name, labels := range states {
				require.Equal(t, s.Matches(labels) && u.Matches(labels), both.Matches(labels), "%q, %q at %s", s, u, name)
			}
			require.Equal(t, s.Conflicts(u, requirements.EmptyVocabulary()) == nil, s.Compatible(u, requirements.EmptyVocabulary()), "one walk: %q, %q", s, u)
			// In a closed world a Set without a key says that it is absent.
			closed := s
			for _, k := range []string{key, other} {
				if _, found := s.Get(k); !found {
					closed = closed.With(requirements.DoesNotExist(k))
				}
			}
			require.Equal(t, !closed.Intersect(u).Impossible(), s.Compatible(u, requirements.EmptyVocabulary()), "%q, %q", s, u)
			// In an open world it says nothing.
			open := requirements.DefaultVocabulary().Extend(requirements.Extension{WellKnown: []string{key, other}})
			require.Equal(t, !both.Impossible(), s.Compatible(u, open), "%q, %q", s, u)
		}
	}
}
