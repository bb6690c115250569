package amiselect_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/dovetail-sdk/dovetail/amiselect"
	"github.com/dovetail-sdk/dovetail/internal/golden"
)

// show renders queries, one a line.
func show(queries []amiselect.Query) string {
	var b strings.Builder
	for _, q := range queries {
		fmt.Fprintf(&b, "  terms %v ", q.Terms)
		switch q.Kind {
		case amiselect.QueryParameter:
			fmt.Fprintf(&b, "parameter %s", q.Parameter)
			if q.Architecture != "" {
				fmt.Fprintf(&b, " %s %v", q.Architecture, q.Variants)
			}
			if q.Mutable {
				b.WriteString(" mutable")
			}
		case amiselect.QueryImages:
			fmt.Fprintf(&b, "images owners %v deprecated %t", q.Owners, q.IncludeDeprecated)
			for _, f := range q.Filters {
				fmt.Fprintf(&b, "\n    %s = %s", f.Name, strings.Join(f.Values, " | "))
			}
		}
		b.WriteString("\n")
	}
	return b.String()
}

// TestQueriesOfAliases pins every parameter path and image name. Each was held
// against the tables of Karpenter's behaviour by eye.
func TestQueriesOfAliases(t *testing.T) {
	var b strings.Builder
	for _, version := range []string{"1.30+", "1.31", "1.35"} {
		for _, a := range []string{
			"al2@latest", "al2@v20240807", "al2023@latest", "al2023@latest~1", "al2023@v20240807",
			"bottlerocket@latest", "bottlerocket@1.20.4", "bottlerocket@vv1.20.4",
			"windows2019@latest", "windows2022@latest", "windows2025@latest",
		} {
			for _, history := range []bool{false, true} {
				if history && version != "1.31" {
					continue
				}
				fmt.Fprintf(&b, "%s on Kubernetes %s", a, version)
				if history {
					b.WriteString(" with history")
				}
				b.WriteString("\n")
				queries, err := amiselect.Queries(alias(a), amiselect.Environment{KubernetesVersion: version, History: history})
				if err != nil {
					require.ErrorIs(t, err, amiselect.ErrUnsupportedAlias)
					fmt.Fprintf(&b, "  error: %v\n", err)
				}
				b.WriteString(show(queries))
			}
		}
	}
	golden.Equal(t, b.String(), "queries.txt")
}

func TestQueriesOfTerms(t *testing.T) {
	terms := []amiselect.Term{
		{ID: "ami-2"},
		{Name: "my-*"},
		{SSMParameter: "/golden"},
		{Tags: map[string]string{"env": "prod", "ci": "*", "team": "a?"}},
		{Name: "x", Owner: "aws-marketplace", Tags: map[string]string{"k": "v"}},
		{ID: "ami-1"},
		{SSMParameter: "/golden"},
		{SSMParameter: "/none"},
		{SSMParameter: "/odd"},
	}
	queries, err := amiselect.Queries(terms, amiselect.Environment{})
	require.NoError(t, err)
	const images = `  terms [1] images owners [self amazon] deprecated true
    state = available
    name = my-*
  terms [3] images owners [] deprecated true
    state = available
    tag-key = ci
    tag:env = prod
    tag:team = a?
  terms [4] images owners [aws-marketplace] deprecated true
    state = available
    name = x
    tag:k = v
`
	require.Equal(t, `  terms [2 6] parameter /golden mutable
  terms [7] parameter /none mutable
  terms [8] parameter /odd mutable
  terms [0 5] images owners [] deprecated true
    state = available
    image-id = ami-1 | ami-2
`+images, show(queries))

	queries, err = amiselect.Queries(terms, amiselect.Environment{Parameters: map[string]string{"/golden": "ami-0", "/none": "", "/odd": "not an image"}})
	require.NoError(t, err)
	require.Equal(t, `  terms [0 2 5 6] images owners [] deprecated true
    state = available
    image-id = ami-0 | ami-1 | ami-2
`+images, show(queries))
}

func TestQueriesFaults(t *testing.T) {
	for version, want := range map[string]string{
		"":       "environment.kubernetesVersion: Required value: an alias stands for the images of one Kubernetes version",
		"1":      `environment.kubernetesVersion: Invalid value: "1": is not a Kubernetes version; give major and minor of the control plane, such as 1.31`,
		"1.31.2": "is not a Kubernetes version", "v1.31": "is not a Kubernetes version", "2.1": "is not a Kubernetes version",
		"1.031": "is not a Kubernetes version", "1.-1": "is not a Kubernetes version", "1.x": "is not a Kubernetes version",
	} {
		_, err := amiselect.Queries(alias("al2023@latest"), amiselect.Environment{KubernetesVersion: version})
		require.ErrorContains(t, err, want, version)
	}
	_, err := amiselect.Queries(alias("al2023@nope"), amiselect.Environment{Account: "me"})
	require.ErrorContains(t, err, "amiSelectorTerms[0].alias")
	require.ErrorContains(t, err, "environment.account: Invalid value")
	require.ErrorContains(t, err, "environment.kubernetesVersion: Required value")

	_, err = amiselect.Queries(alias("al2@v20240807"), amiselect.Environment{KubernetesVersion: "1.33"})
	require.ErrorIs(t, err, amiselect.ErrUnsupportedAlias)
	require.ErrorContains(t, err, "there is no Amazon Linux 2 for Kubernetes 1.33")
	_, err = amiselect.Queries(alias("windows2025@latest"), amiselect.Environment{KubernetesVersion: "1.34"})
	require.ErrorIs(t, err, amiselect.ErrUnsupportedAlias)
}
