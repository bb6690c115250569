package amiselect_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/dovetail-sdk/dovetail/amiselect"
)

func TestParseAlias(t *testing.T) {
	for text, want := range map[string]amiselect.Alias{
		"al2@latest":                 {Family: amiselect.FamilyAL2},
		"al2@v20240807":              {Family: amiselect.FamilyAL2, Version: "v20240807"},
		"al2023@latest":              {Family: amiselect.FamilyAL2023},
		"al2023@latest~1":            {Family: amiselect.FamilyAL2023, Back: 1},
		"al2023@latest~9":            {Family: amiselect.FamilyAL2023, Back: 9},
		"al2023@v20240219":           {Family: amiselect.FamilyAL2023, Version: "v20240219"},
		"bottlerocket@latest":        {Family: amiselect.FamilyBottlerocket},
		"bottlerocket@1.20.4":        {Family: amiselect.FamilyBottlerocket, Version: "1.20.4"},
		"bottlerocket@v1.20.4":       {Family: amiselect.FamilyBottlerocket, Version: "v1.20.4"},
		"bottlerocket@vv1.20.4":      {Family: amiselect.FamilyBottlerocket, Version: "vv1.20.4"},
		"bottlerocket@1.20.4-0d8a9f": {Family: amiselect.FamilyBottlerocket, Version: "1.20.4-0d8a9f"},
		"windows2019@latest":         {Family: amiselect.FamilyWindows2019},
		"windows2022@latest":         {Family: amiselect.FamilyWindows2022},
		"windows2025@latest~2":       {Family: amiselect.FamilyWindows2025, Back: 2},
	} {
		a, err := amiselect.ParseAlias(text)
		require.NoError(t, err)
		require.Equal(t, want, a)
		require.Equal(t, text, a.String())
		require.Equal(t, want.Version != "", a.Static())
	}
}

func TestParseAliasFaults(t *testing.T) {
	for text, want := range map[string][]string{
		"":                             {"has no family; use one of al2, al2023, bottlerocket, windows2019, windows2022, windows2025", "has no version"},
		"al2023":                       {`alias "al2023": has no version; write family@version`},
		"@latest":                      {"has no family"},
		"al2023@":                      {"has an empty version; write latest or a release"},
		"al2023@latest@v2":             {`more than one "@"`},
		"AL2023@latest":                {`family "AL2023" must be in lower case: al2023`},
		"Bottlerocket@latest":          {"must be in lower case: bottlerocket"},
		"custom@latest":                {"no published images of family custom; select by id, name, tags or ssmParameter"},
		"ubuntu@latest":                {`family "ubuntu" is not known`},
		"al2023@20240807":              {"is not a release of al2023; want latest or a v and the date, such as v20240807"},
		"al2@v2024":                    {"is not a release of al2;"},
		"al2023@v20240807*":            {"is not a release"},
		"al2023@v20240807/../x":        {"is not a release"},
		"al2023@Latest":                {`version "Latest" is not a release`},
		"al2023@latest~0":              {`version "latest~0" is not valid; write latest, or latest~1 to latest~9`},
		"al2023@latest~10":             {"latest~1 to latest~9"},
		"al2023@latestish":             {"latest~1 to latest~9"},
		"bottlerocket@1.20":            {"three numbers, such as v1.20.4"},
		"bottlerocket@v1.20.4-":        {"three numbers"},
		"windows2022@v1":               {"Windows images are published at their latest release only, so write latest and lock by id"},
		"x@":                           {`family "x" is not known`, "has an empty version"},
		strings.Repeat("a", 31) + "@v": {"is 33 characters long, at most 30 are allowed", "is not known"},
	} {
		_, err := amiselect.ParseAlias(text)
		require.Error(t, err, text)
		for _, part := range want {
			require.ErrorContains(t, err, part, text)
		}
	}
}

func TestResolveFamily(t *testing.T) {
	id := []amiselect.Term{{ID: "ami-1"}}
	for _, tt := range []struct {
		family amiselect.Family
		terms  []amiselect.Term
		want   amiselect.Family
		fault  string
	}{
		{"", alias("al2023@latest"), "AL2023", ""},
		{"AL2023", alias("al2023@latest"), "AL2023", ""},
		{"Custom", alias("al2023@latest"), "Custom", ""},
		{"AL2", alias("al2023@latest"), "", `amiFamily: Invalid value: "AL2": the alias is of family AL2023: write that, or Custom, or leave the field out`},
		{"Bottlerocket", id, "Bottlerocket", ""},
		{"", id, "", "amiFamily: Required value: say which family"},
		{"al2", id, "", `amiFamily: Unsupported value: "al2"`},
	} {
		got, faults := amiselect.ResolveFamily(nil, tt.family, tt.terms)
		require.Equal(t, tt.want, got)
		if tt.fault == "" {
			require.Empty(t, faults)
		} else {
			require.ErrorContains(t, faults.ToAggregate(), tt.fault)
		}
	}
	require.Empty(t, amiselect.Family("Ubuntu").AliasName())
}

func FuzzParseAlias(f *testing.F) {
	for _, seed := range []string{"al2023@latest", "al2023@latest~1", "bottlerocket@v1.20.4", "al2@v20240807-x.y", "windows2022@latest", "a@b@c", "@", "al2023@v20240807\n"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		a, err := amiselect.ParseAlias(text)
		if err != nil {
			require.Zero(t, a)
			return
		}
		require.Equal(t, text, a.String())
		require.LessOrEqual(t, len(text), 30)
		queries, err := amiselect.Queries(alias(text), amiselect.Environment{KubernetesVersion: "1.32"})
		if a.Family == amiselect.FamilyWindows2025 {
			require.ErrorIs(t, err, amiselect.ErrUnsupportedAlias)
			return
		}
		require.NoError(t, err)
		for _, q := range queries {
			require.NotContains(t, q.Parameter, "..")
			require.NotContains(t, q.Parameter, "*")
		}
	})
}
