package amiselect_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/dovetail-sdk/dovetail/amiselect"
)

// TestQueriesWithAnswers: once the parameters of an alias are answered, their
// images are asked for by id.
func TestQueriesWithAnswers(t *testing.T) {
	env := amiselect.Environment{KubernetesVersion: "1.31", Parameters: map[string]string{}}
	queries, err := amiselect.Queries(alias("al2@v20240807"), env)
	require.NoError(t, err)
	require.Len(t, queries, 3)
	for n, q := range queries {
		env.Parameters[q.Parameter] = []string{"ami-b", "ami-a", ""}[n]
	}
	env.History = true // of no use to a release that is known
	queries, err = amiselect.Queries(alias("al2@v20240807"), env)
	require.NoError(t, err)
	require.Equal(t, "  terms [0] images owners [] deprecated true\n    state = available\n    image-id = ami-a | ami-b\n", show(queries))
}

// TestDriftWithoutVariant: an image of a variant that AWS has withdrawn has
// nothing to take its place.
func TestDriftWithoutVariant(t *testing.T) {
	images := al2023("1.31", "20240703", "20240807")
	opts := on("1.31")
	opts.Environment.Parameters = map[string]string{}
	queries, err := amiselect.Queries(alias("al2023@latest"), opts.Environment)
	require.NoError(t, err)
	for _, q := range queries {
		opts.Environment.Parameters[q.Parameter] = ""
	}
	opts.Environment.Parameters[queries[0].Parameter] = "ami-x86std20240807"
	s := mustSelect(t, alias("al2023@latest"), images, opts)
	reason, drifted := s.DriftedOn("ami-armstd20240807", m7g)
	require.True(t, drifted)
	require.Equal(t, amiselect.CodeNotSelected, reason.Code)
	require.Contains(t, reason.String(), "is not selected, nor is any other for such machines")
	// What SSM does not recommend any more is later than what it does.
	opts.Environment.Parameters[queries[0].Parameter] = "ami-x86std20240703"
	reason, _ = mustSelect(t, alias("al2023@latest"), images, opts).Drifted("ami-x86std20240807")
	require.Equal(t, amiselect.CodeRelease, reason.Code)
	require.Contains(t, reason.Detail, "is of release v20240807, later than v20240703, where al2023@latest leads now")
}

// TestAges: how old an image is stands in the unit that says enough.
func TestAges(t *testing.T) {
	for created, want := range map[time.Duration]string{
		-time.Hour:                   "was created at 2024-09-01 01:00:00 UTC, which is later than the time to decide for",
		90 * time.Second:             "is 1m30s old",
		5*time.Hour + time.Minute:    "is 5h old",
		49 * time.Hour:               "is 2d1h old",
		72*time.Hour + 5*time.Minute: "is 3d old",
	} {
		i := mine("ami-1", "a", "x86_64", "2024-01-01")
		i.Created = now.Add(-created)
		_, err := amiselect.Select(now, []amiselect.Term{{Tags: map[string]string{"k": "v"}}, {Name: "a*"}}, []amiselect.Image{i},
			&amiselect.Options{MinAge: 30 * 24 * time.Hour, Environment: amiselect.Environment{Account: account}})
		require.ErrorContains(t, err, want)
	}
}

// TestWindowsBuilds: each year of Windows Server has a build.
func TestWindowsBuilds(t *testing.T) {
	for year, build := range map[string]string{"2019": "10.0.17763", "2022": "10.0.20348", "2025": "10.0.26100"} {
		image := amazons("ami-win", "Windows_Server-"+year+"-English-Core-EKS_Optimized-1.35-2026.01.13", "x86_64", "2024-08-13")
		s := mustSelect(t, alias("windows"+year+"@latest"), []amiselect.Image{image}, on("1.35"))
		require.Equal(t, "kubernetes.io/arch = amd64, kubernetes.io/os = windows, node.kubernetes.io/windows-build = "+build, s.Choices()[0].Requirements.String())
	}
}
