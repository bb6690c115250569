package v1_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
)

// TestKeys pins the spelling, which is shared with every cluster.
func TestKeys(t *testing.T) {
	for want, got := range map[string]string{
		"karpenter.sh/nodepool":                        v1.NodePoolLabelKey,
		"karpenter.sh/capacity-type":                   v1.CapacityTypeLabelKey,
		"karpenter.sh/registered":                      v1.NodeRegisteredLabelKey,
		"karpenter.sh/initialized":                     v1.NodeInitializedLabelKey,
		"karpenter.sh/do-not-sync-taints":              v1.NodeDoNotSyncTaintsLabelKey,
		"karpenter.sh/do-not-disrupt":                  v1.DoNotDisruptAnnotationKey,
		"karpenter.sh/do-not-repair":                   v1.DoNotRepairAnnotationKey,
		"karpenter.sh/nodepool-hash":                   v1.NodePoolHashAnnotationKey,
		"karpenter.sh/nodepool-hash-version":           v1.NodePoolHashVersionAnnotationKey,
		"karpenter.sh/nodeclaim-termination-timestamp": v1.NodeClaimTerminationTimestampAnnotationKey,
		"karpenter.sh/nodeclaim-min-values-relaxed":    v1.NodeClaimMinValuesRelaxedAnnotationKey,
		"karpenter.sh/requested-dra-drivers":           v1.DRADriversAnnotationKey,
		"karpenter.sh/price-overlay-applied":           v1.PriceOverlayAppliedAnnotationKey,
		"karpenter.sh/capacity-overlay-applied":        v1.CapacityOverlayAppliedAnnotationKey,
		"karpenter.sh/capacity-buffer-fake-pod":        v1.CapacityBufferFakePodAnnotationKey,
		"karpenter.sh/capacity-buffer-name":            v1.CapacityBufferNameAnnotationKey,
		"karpenter.sh/capacity-buffer-namespace":       v1.CapacityBufferNamespaceAnnotationKey,
		"karpenter.sh/disruption-cost":                 v1.DisruptionCostAnnotationKey,
		"karpenter.sh/reboot-pre-boot-id":              v1.RebootPreBootIDAnnotationKey,
		"karpenter.sh/reboot-termination-grace-period": v1.RebootTerminationGracePeriodAnnotationKey,
		"controller.kubernetes.io/pod-deletion-cost":   v1.PodDeletionCostAnnotationKey,
		"pv.kubernetes.io/bind-completed":              v1.BindCompletedAnnotationKey,
		"karpenter.sh/termination":                     v1.TerminationFinalizer,
	} {
		require.Equal(t, want, got)
	}
	for want, got := range map[string]corev1.Taint{
		"karpenter.sh/disrupted:NoSchedule":   v1.DisruptedNoScheduleTaint(),
		"karpenter.sh/unregistered:NoExecute": v1.UnregisteredNoExecuteTaint(),
		"karpenter.sh/rebooting:NoSchedule":   v1.RebootingNoScheduleTaint(),
	} {
		require.Equal(t, want, got.ToString())
	}
}

func TestTables(t *testing.T) {
	require.Equal(t, []string{"on-demand", "reserved", "spot"}, v1.CapacityTypes())
	require.Equal(t, []string{
		"karpenter.sh/capacity-type", "karpenter.sh/nodepool", "kubernetes.io/arch", "kubernetes.io/os",
		"node.kubernetes.io/instance-type", "node.kubernetes.io/windows-build",
		"topology.kubernetes.io/region", "topology.kubernetes.io/zone",
	}, v1.WellKnownLabels())
	require.True(t, slices.IsSorted(v1.WellKnownResources()))
	v1.WellKnownLabels()[0] = "x"
	require.Equal(t, "karpenter.sh/capacity-type", v1.WellKnownLabels()[0], "the slice is the caller's")
}
