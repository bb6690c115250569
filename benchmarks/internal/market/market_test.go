package market_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"github.com/dovetail-sdk/dovetail/benchmarks/internal/family"
	"github.com/dovetail-sdk/dovetail/benchmarks/internal/market"
	"github.com/dovetail-sdk/dovetail/benchmarks/scenario"
)

func generate(t *testing.T, spec family.Spec) *scenario.Scenario {
	t.Helper()
	s, err := family.Generate(spec)
	require.NoError(t, err)
	return s
}

func TestCatalogsRefuseWhatIsNoType(t *testing.T) {
	s := generate(t, family.Spec{Family: "generic", Pods: 1, Types: "fake2"})
	for i := range s.InstanceTypes {
		s.InstanceTypes[i].Requirements = []corev1.NodeSelectorRequirement{{Key: "k", Operator: "Like"}}
	}
	_, err := market.New(s)
	require.ErrorContains(t, err, "instance type fake-it-0: ")
	require.ErrorContains(t, err, "instance type fake-it-1: ")
}

func TestPoolsBuyWhatTheyMay(t *testing.T) {
	s := generate(t, family.Spec{Family: "generic", Pods: 1, Types: "fake3"})
	s.InstanceTypesByPool = map[string][]string{"default": {"fake-it-2", "fake-it-0"}}
	require.NoError(t, s.Validate())
	sold, err := market.New(s)
	require.NoError(t, err)
	require.Len(t, sold.Catalogs["default"], 2)
	require.Equal(t, "fake-it-2", sold.Catalogs["default"][0].Name)
}
