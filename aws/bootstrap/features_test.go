package bootstrap_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/dovetail-sdk/dovetail/amiselect"
	"github.com/dovetail-sdk/dovetail/aws/bootstrap"
)

// TestFeatures: the ephemeral device is among the devices, and what the features
// say of kubelet settings is what Render takes.
func TestFeatures(t *testing.T) {
	for _, family := range managed() {
		features := bootstrap.FeaturesOf(family)
		var names []string
		for _, d := range features.Devices {
			require.Positive(t, d.GiB)
			names = append(names, d.Name)
		}
		require.Contains(t, names, features.EphemeralDevice)

		n := plain(family)
		n.Kubelet.PodsPerCore = new(int32(2))
		_, err := bootstrap.Render(n)
		require.Equal(t, features.PodsPerCore, err == nil)
		n = plain(family)
		n.Kubelet.Extra = map[string]any{"podPidsLimit": 1024}
		_, err = bootstrap.Render(n)
		require.Equal(t, features.ArbitraryKubelet, err == nil)
	}
	require.Empty(t, bootstrap.FeaturesOf(amiselect.FamilyCustom).Devices)
	require.Zero(t, bootstrap.FeaturesOf("al2"))
}
