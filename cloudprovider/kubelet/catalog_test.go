package kubelet_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/dovetail-sdk/dovetail/cloudprovider/catalog"
	"github.com/dovetail-sdk/dovetail/cloudprovider/kubelet"
	"github.com/dovetail-sdk/dovetail/fake"
	fakecatalog "github.com/dovetail-sdk/dovetail/fake/catalog"
)

// The catalog of package fake was computed by a formula of its own, with the
// defaults of EKS. Both agree on every type, and the catalog has no faults.
func TestAgreesWithFakeCatalog(t *testing.T) {
	types := fake.Catalog()
	require.NotEmpty(t, types)
	rules := kubelet.EKS()
	for _, machine := range types {
		got := rules.Overhead(machine.Capacity, nil)
		require.Equal(t, machine.Overhead.KubeReserved.String(), got.KubeReserved.String(), machine.Name)
		require.Equal(t, machine.Overhead.EvictionThreshold.String(), got.EvictionThreshold.String(), machine.Name)
	}
	for _, machine := range types {
		require.NoError(t, machine.Validate())
		require.Empty(t, catalog.OpenLabels(machine, fakecatalog.WellKnownLabels()...), machine.Name)
	}
}
