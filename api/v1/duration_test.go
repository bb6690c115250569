package v1_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"sigs.k8s.io/yaml"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
)

func TestNillableDurationRefusesWhatIsNoDuration(t *testing.T) {
	for text, want := range map[string]string{
		`""`:      `"" is not a duration; write one such as "720h" or "1h30m", or "Never"`,
		`"never"`: `"never" is not a duration; write one such as "720h" or "1h30m", or "Never"`,
		`"5"`:     `"5" is not a duration; write one such as "720h" or "1h30m", or "Never"`,
		`30`:      `30 is not a string; write a duration such as "720h" or "Never"`,
		`{}`:      `{} is not a string; write a duration such as "720h" or "Never"`,
	} {
		d := v1.NewDuration(time.Hour)
		require.EqualError(t, d.UnmarshalJSON([]byte(text)), want)
		require.Equal(t, v1.NewDuration(time.Hour), d, "unchanged after a fault")
	}
}

func TestNillableDurationUnset(t *testing.T) {
	var d v1.NillableDuration
	require.True(t, d.IsZero())
	require.False(t, d.IsNever())
	require.Empty(t, d.String())
	out, err := json.Marshal(d)
	require.NoError(t, err)
	require.Equal(t, "null", string(out))

	d = v1.NeverDuration()
	require.NoError(t, json.Unmarshal([]byte("null"), &d))
	require.True(t, d.IsZero(), "null is unset")

	// Left out when it is part of an object.
	text, err := yaml.Marshal(v1.NodeClaimTemplateSpec{})
	require.NoError(t, err)
	require.NotContains(t, string(text), "expireAfter")
}

func TestNillableDurationWritesWhatItMeans(t *testing.T) {
	hour, minute := time.Hour, time.Minute
	for name, tc := range map[string]struct {
		d    v1.NillableDuration
		want string
	}{
		"built":                     {v1.NewDuration(hour), `"1h0m0s"`},
		"never":                     {v1.NeverDuration(), `"Never"`},
		"raw agrees":                {v1.NillableDuration{Duration: &hour, Raw: []byte(`"60m"`)}, `"60m"`},
		"raw is outdated":           {v1.NillableDuration{Duration: &minute, Raw: []byte(`"60m"`)}, `"1m0s"`},
		"raw is no JSON":            {v1.NillableDuration{Duration: &minute, Raw: []byte(`60m"`)}, `"1m0s"`},
		"raw is empty":              {v1.NillableDuration{Duration: &minute, Raw: []byte{}}, `"1m0s"`},
		"raw says never, time set":  {v1.NillableDuration{Duration: &minute, Raw: []byte(`"Never"`)}, `"1m0s"`},
		"raw says a time, none set": {v1.NillableDuration{Raw: []byte(`"60m"`)}, `"Never"`},
	} {
		t.Run(name, func(t *testing.T) {
			out, err := json.Marshal(tc.d)
			require.NoError(t, err)
			require.Equal(t, tc.want, string(out))
			require.Equal(t, tc.want, `"`+tc.d.String()+`"`)
		})
	}
}

func TestNillableDurationEqual(t *testing.T) {
	unset, never := v1.NillableDuration{}, v1.NeverDuration()
	hour, sixty := v1.NewDuration(time.Hour), v1.MustParseNillableDuration("60m")
	all := []v1.NillableDuration{unset, never, hour, v1.NewDuration(0)}
	for i, a := range all {
		for j, b := range all {
			require.Equal(t, i == j, a.Equal(b), "%q %q", a, b)
		}
	}
	require.True(t, hour.Equal(sixty))
	require.True(t, never.Equal(v1.MustParseNillableDuration("Never")))
	require.Panics(t, func() { v1.MustParseNillableDuration("soon") })
}
