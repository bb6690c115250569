package family_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/dovetail-sdk/dovetail/benchmarks/internal/family"
	"github.com/dovetail-sdk/dovetail/benchmarks/scenario"
)

// specs has one of each family, small.
func specs() []family.Spec {
	var out []family.Spec
	for _, name := range family.Names() {
		spec := family.Spec{Family: name, Pods: 203, Types: "aws", Seed: 7}
		if name == "mixedexisting" || name == "consolidate" || name == "constrained" {
			spec.Nodes = 12
		}
		out = append(out, spec)
	}
	return out
}

func generate(t testing.TB, spec family.Spec) *scenario.Scenario {
	t.Helper()
	s, err := family.Generate(spec)
	require.NoError(t, err)
	return s
}

func TestScenariosAreValidAndAsAskedFor(t *testing.T) {
	for _, spec := range specs() {
		s := generate(t, spec)
		require.NoError(t, s.Validate(), s.Name)
		require.Equal(t, spec.Name(), s.Name)
		want := spec.Pods
		if spec.Family == "consolidate" {
			want = 0
		}
		require.Len(t, s.Pods, want, s.Name)
		require.Len(t, s.Nodes, spec.Nodes, s.Name)
		for _, p := range s.NodePools {
			require.Empty(t, p.Validate(), s.Name)
		}
	}
}

func TestTheSeedDecides(t *testing.T) {
	encoded := func(spec family.Spec) string {
		s := generate(t, spec)
		s.Name = "" // which has the seed in it
		data, err := json.Marshal(s)
		require.NoError(t, err)
		return string(data)
	}
	for _, spec := range specs() {
		first := encoded(spec)
		require.True(t, first == encoded(spec), spec.Name())
		spec.Seed++
		require.False(t, first == encoded(spec), spec.Name())
	}
}

// What a contender reads is the file. It must say what the value says.
func TestScenariosSurviveTheirFiles(t *testing.T) {
	file := filepath.Join(t.TempDir(), "s.json.gz")
	for _, spec := range specs() {
		s := generate(t, spec)
		require.NoError(t, scenario.WriteScenario(file, s))
		first, err := os.ReadFile(file)
		require.NoError(t, err)
		read, err := scenario.ReadScenario(file)
		require.NoError(t, err)
		require.NoError(t, scenario.WriteScenario(file, read))
		second, err := os.ReadFile(file)
		require.NoError(t, err)
		require.Equal(t, first, second, s.Name)
	}
}

func TestSpecsThatCannotBe(t *testing.T) {
	good := family.Spec{Family: "generic", Pods: 1, Types: "fake3"}
	generate(t, good)
	for want, spec := range map[string]family.Spec{
		`no family "x"; use one of consolidate, constrained`: {Family: "x", Pods: 1, Types: "aws"},
		`family generic with 0 pods`:                         {Family: "generic", Types: "aws"},
		`family consolidate with -1 pods`:                    {Family: "consolidate", Pods: -1, Nodes: 1, Types: "aws"},
		`family generic has no nodes, and 2 were asked`:      {Family: "generic", Pods: 1, Nodes: 2, Types: "aws"},
		`family mixedexisting with 0 nodes`:                  {Family: "mixedexisting", Pods: 1, Types: "aws"},
		`family production has pools for aws types`:          {Family: "production", Pods: 1, Types: "fake400"},
		`no catalog "gcp"; use aws, or fake1 to fake10000`:   {Family: "generic", Pods: 1, Types: "gcp"},
		`no catalog "fake0"`:                                 {Family: "generic", Pods: 1, Types: "fake0"},
		`no catalog "fake99999"`:                             {Family: "generic", Pods: 1, Types: "fake99999"},
	} {
		_, err := family.Generate(spec)
		require.ErrorContains(t, err, want)
	}
}

func ExampleGenerate() {
	s, err := family.Generate(family.Spec{Family: "diverse", Pods: 100, Types: "fake400", Seed: 1})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(s.Name, len(s.Pods), len(s.InstanceTypes))
	// Output: diverse-100-fake400-seed1 100 400
}
