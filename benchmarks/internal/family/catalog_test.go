package family_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"github.com/dovetail-sdk/dovetail/benchmarks/internal/family"
	"github.com/dovetail-sdk/dovetail/benchmarks/internal/market"
	"github.com/dovetail-sdk/dovetail/fake"
)

func TestSyntheticTypes(t *testing.T) {
	types := generate(t, family.Spec{Family: "generic", Pods: 1, Types: "fake400"}).InstanceTypes
	require.Len(t, types, 400)
	last := types[399]
	require.Equal(t, "fake-it-399", last.Name)
	for name, want := range map[corev1.ResourceName]string{"cpu": "400", "memory": "800Gi", "pods": "4k"} {
		q := last.Capacity[name]
		require.Equal(t, want, q.String(), name)
	}
	require.Len(t, last.Offerings, 5)
	for _, o := range last.Offerings {
		// 400 CPUs and 858.99 GB at 10 cents each.
		require.InDelta(t, 125.899, o.Price, 0.001)
		require.False(t, o.Zone == "test-zone-3" && o.CapacityType == "spot")
	}
}

// The scenario has all that the catalog says, so that plans for it can be
// compared with plans for the catalog.
func TestAWSTypesAreTheCatalog(t *testing.T) {
	s := generate(t, family.Spec{Family: "generic", Pods: 1, Types: "aws"})
	want := fake.Catalog()
	require.Len(t, s.InstanceTypes, len(want))
	sold, err := market.New(s)
	require.NoError(t, err)
	for i, got := range sold.Catalogs["default"] {
		require.Equal(t, want[i].Name, got.Name)
		require.True(t, want[i].Requirements.Equal(got.Requirements), got.Name)
		wantRoom, err := want[i].Allocatable()
		require.NoError(t, err)
		room, err := got.Allocatable()
		require.NoError(t, err)
		require.True(t, wantRoom.Equal(room), got.Name)
		require.Len(t, got.Offerings, len(want[i].Offerings))
		for j := range got.Offerings {
			require.Equal(t, want[i].Offerings[j].Key(got.Name), got.Offerings[j].Key(got.Name))
			require.Equal(t, want[i].Offerings[j].Price, got.Offerings[j].Price)
		}
	}
}
