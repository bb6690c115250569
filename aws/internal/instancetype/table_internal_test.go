package instancetype

import (
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestParseName(t *testing.T) {
	for name, want := range map[string]names{
		"m5.large":           {"m5", "large", "m", "5"},
		"c6gn.16xlarge":      {"c6gn", "16xlarge", "c", "6"},
		"m7i-flex.large":     {"m7i-flex", "large", "m", "7"},
		"u-6tb1.112xlarge":   {"u-6tb1", "112xlarge", "u", "1"},
		"u7in-16tb.224xl":    {"u7in-16tb", "224xl", "u", "7"},
		"im4gn.large":        {"im4gn", "large", "im", "4"},
		"hpc7g.4xlarge":      {"hpc7g", "4xlarge", "hpc", "7"},
		"p6e-gb200.36xlarge": {"p6e-gb200", "36xlarge", "p", "6"},
		"x2iedn.metal":       {"x2iedn", "metal", "x", "2"},
		"c10a.large":         {"c10a", "large", "c", "10"},
		"r7iz.metal-16xl":    {"r7iz", "metal-16xl", "r", "7"},
		"m5":                 {"", "", "m", "5"},
		"m5.":                {"", "", "m", "5"},
		".large":             {"", "", "", ""},
		"m5.large.more":      {"", "", "m", "5"},
		"strange.large":      {"strange", "large", "", ""},
		"5m.large":           {"5m", "large", "", ""},
		"u-tb1.large":        {"u-tb1", "large", "", ""},
		"u-6gb1.large":       {"u-6gb1", "large", "", ""},
		"":                   {},
	} {
		require.Equal(t, want, parseName(name), name)
	}
}

func TestBranchTable(t *testing.T) {
	limits := branchLimits()
	require.Greater(t, len(limits), 1290)
	for name, want := range map[string]int64{"m5.large": 9, "m5.metal": 120, "p5.48xlarge": 120, "a1.medium": 10, "i4i.24xlarge": 105, "t3.micro": 0, "i4i.large": 9, "m8in.metal-96xl": 98, "c9g.large": 9} {
		require.Equal(t, want, limits[name], name)
	}
	form := regexp.MustCompile(`^[a-z0-9-]+( [a-z0-9-]+)*:( [a-z0-9-]+=[1-9][0-9]*)+$`)
	listed := 0
	for line := range entries(branchTable) {
		require.Regexp(t, form, line)
		families, sizes, _ := strings.Cut(line, ":")
		listed += len(strings.Fields(families)) * len(strings.Fields(sizes))
	}
	require.Len(t, limits, listed, "no type is listed twice")
}
