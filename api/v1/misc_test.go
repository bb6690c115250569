package v1_test

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
)

func TestToNodeClaim(t *testing.T) {
	p := pool()
	p.Spec.Template = v1.NodeClaimTemplate{
		ObjectMeta: v1.ObjectMeta{Labels: map[string]string{"a": "b"}, Annotations: map[string]string{"c": "d"}},
		Spec: v1.NodeClaimTemplateSpec{
			Taints:                 []corev1.Taint{{Key: "t"}},
			StartupTaints:          []corev1.Taint{{Key: "s"}},
			Requirements:           []v1.NodeSelectorRequirementWithMinValues{{Key: "k", Operator: "In", Values: []string{"v"}, MinValues: new(1)}},
			NodeClassRef:           nodeClass(),
			TerminationGracePeriod: &metav1.Duration{Duration: time.Hour},
			ExpireAfter:            v1.NewDuration(time.Hour),
		},
	}
	before := p.DeepCopy()
	c := p.Spec.Template.ToNodeClaim()
	tmpl := p.Spec.Template
	require.Equal(t, tmpl.Labels, c.Labels)
	require.Equal(t, tmpl.Annotations, c.Annotations)
	require.Equal(t, v1.NodeClaimSpec{
		Taints: tmpl.Spec.Taints, StartupTaints: tmpl.Spec.StartupTaints, Requirements: tmpl.Spec.Requirements,
		NodeClassRef: tmpl.Spec.NodeClassRef, TerminationGracePeriod: tmpl.Spec.TerminationGracePeriod, ExpireAfter: tmpl.Spec.ExpireAfter,
	}, c.Spec)
	c.Labels["a"], c.Spec.Requirements[0].Values[0], c.Spec.NodeClassRef.Name, *c.Spec.ExpireAfter.Duration = "x", "x", "x", 0
	require.Equal(t, before, p, "nothing is shared")
}

func TestRequirementConversion(t *testing.T) {
	values := []string{"a", "b"}
	got := v1.NodeSelectorRequirementWithMinValues{Key: "k", Operator: "In", Values: values, MinValues: new(2)}.NodeSelectorRequirement()
	require.Equal(t, corev1.NodeSelectorRequirement{Key: "k", Operator: "In", Values: []string{"a", "b"}}, got)
	require.Equal(t, got, v1.NodeSelectorRequirement{Key: "k", Operator: "In", Values: values}.NodeSelectorRequirement())
	got.Values[0] = "x"
	require.Equal(t, []string{"a", "b"}, values)
}

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
