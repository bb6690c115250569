package minors_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/dovetail-sdk/dovetail/internal/minors"
)

func TestParse(t *testing.T) {
	for _, text := range []string{"1.37", "v1.37", "v1.37.2", "1.37.0", "v1.37.2-eks-1a2b3c4", "v1.37.2+k3s1", "v1.37.0-beta.0", "1.37+"} {
		got, err := minors.Parse(text)
		require.NoError(t, err, text)
		require.Equal(t, minors.Range{First: 37, Last: 37}, got, text)
	}
	all, err := minors.Parse("")
	require.NoError(t, err)
	require.Equal(t, []string{"1.34", "1.35", "1.36", "1.37", "1.38"}, all.Texts())
	require.Equal(t, all.Texts(), minors.Range{}.Texts(), "the zero value is all of them")

	const list = "use one of 1.34, 1.35, 1.36, 1.37, 1.38, or nothing for all of them"
	for text, what := range map[string]string{
		"1.33": "is not supported", "v1.39.1": "is not supported", "1.3": "is not supported",
		"37": "is no minor version of Kubernetes", "2.37": "is no minor version of Kubernetes", "1.": "is no minor version of Kubernetes",
		"1.37a": "is no minor version of Kubernetes", "latest": "is no minor version of Kubernetes", " 1.37": "is no minor version of Kubernetes",
		"1.-37": "is no minor version of Kubernetes", "1.99999999999999999999": "is no minor version of Kubernetes",
	} {
		_, err := minors.Parse(text)
		require.EqualError(t, err, `"`+text+`" `+what+"; "+list)
	}
}

// A range has the readings of all of its minor versions.
func TestReadings(t *testing.T) {
	for _, c := range minors.Changes() {
		row := c.Row()
		require.NotEmpty(t, row.Before)
		require.NotEmpty(t, row.After)
		require.NotEmpty(t, row.Source)
		require.LessOrEqual(t, row.From, minors.Last)
		for m := minors.First; m <= minors.Last; m++ {
			one := minors.Range{First: m, Last: m}
			require.Equal(t, m < row.From, one.Before(c), "%d in %s", c, m)
			require.Equal(t, m >= row.From, one.After(c), "%d in %s", c, m)
		}
		require.True(t, minors.Range{}.After(c))
		require.Equal(t, row.From > minors.First, minors.Range{}.Before(c))
	}
}
