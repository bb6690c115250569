package pricing

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestBuiltinTable(t *testing.T) {
	for region, least := range map[string]int{"us-east-1": 1300, "cn-north-1": 300, "us-gov-east-1": 500, "us-gov-west-1": 700, "mars-north-1": 1300} {
		list, at, err := parseBuiltin(builtinTable, region)
		require.NoError(t, err)
		require.Greater(t, len(list), least, region)
		require.Greater(t, at.Year(), 2023)
		seen := map[string]bool{}
		for _, p := range list {
			require.Empty(t, typeFault(p.InstanceType))
			require.False(t, seen[p.InstanceType], p.InstanceType)
			seen[p.InstanceType] = true
		}
	}
}

func TestParseBuiltin(t *testing.T) {
	const table = "\nregion us-east-1 2026-01-02\nm5 large=0.1 xlarge=0.2\n\nregion b 2026-01-03\nc5 large=0.3\n"
	list, at, err := parseBuiltin(table, "b")
	require.NoError(t, err)
	require.Equal(t, time.Date(2026, 1, 3, 0, 0, 0, 0, time.UTC), at)
	require.Equal(t, []Product{{InstanceType: "c5.large", Price: 0.3}}, list)
	list, at, err = parseBuiltin(table, "elsewhere")
	require.NoError(t, err)
	require.Equal(t, time.Date(2026, 1, 2, 0, 0, 0, 0, time.UTC), at)
	require.Len(t, list, 2)
	for table, want := range map[string]string{
		"region us-east-1 today\n":                  "built-in prices",
		"region us-east-1 2026-01-02\nm5 large\n":   `us-east-1 m5: "large" is not a size with a price`,
		"region us-east-1 2026-01-02\nm5 large=0\n": `"large=0"`,
		"region us-east-1 2026-01-02\nm5 =1\n":      `"=1"`,
	} {
		_, _, err := parseBuiltin(table, "us-east-1")
		require.ErrorContains(t, err, want)
	}
}
