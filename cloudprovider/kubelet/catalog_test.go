package kubelet_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/dovetail-sdk/dovetail/cloudprovider/kubelet"
	"github.com/dovetail-sdk/dovetail/cloudprovider/machine"
	"github.com/dovetail-sdk/dovetail/fake"
	fakecatalog "github.com/dovetail-sdk/dovetail/fake/catalog"
)

// The catalog of package fake was computed by a formula of its own, with the
// defaults of EKS. Both agree on every type, and the catalog has no faults.
func TestAgreesWithFakeCatalog(t *testing.T) {
	types := fake.Catalog()
	require.NotEmpty(t, types)
	rules := kubelet.EKS()
	for _, it := range types {
		got := rules.Overhead(it.Capacity, nil)
		require.Equal(t, it.Overhead.KubeReserved.String(), got.KubeReserved.String(), it.Name)
		require.Equal(t, it.Overhead.EvictionThreshold.String(), got.EvictionThreshold.String(), it.Name)
	}
	for _, it := range types {
		require.NoError(t, it.Validate())
		require.Empty(t, machine.OpenLabels(it, fakecatalog.WellKnownLabels()...), it.Name)
	}
}
