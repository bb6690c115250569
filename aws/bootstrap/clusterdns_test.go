package bootstrap_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/dovetail-sdk/dovetail/amiselect"
	"github.com/dovetail-sdk/dovetail/aws/bootstrap"
)

// A name server that is no address is the kubelet's to judge, and decides nothing.
func TestAnyNameServerIsPassedOn(t *testing.T) {
	for _, family := range []amiselect.Family{amiselect.FamilyAL2023, amiselect.FamilyAL2} {
		n := plain(family)
		n.Kubelet.ClusterDNS = []string{"kube-dns 'x'"}
		text, err := bootstrap.Render(n)
		require.NoError(t, err)
		require.Contains(t, text.Text, "kube-dns")
		n.Kubelet.ClusterDNS = nil
		without, err := bootstrap.Render(n)
		require.NoError(t, err)
		require.NotContains(t, without.Text, "kube-dns")
	}
}
