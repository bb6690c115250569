package bootstrap_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/dovetail-sdk/dovetail/amiselect"
	awsv1 "github.com/dovetail-sdk/dovetail/aws/api/v1"
	"github.com/dovetail-sdk/dovetail/aws/bootstrap"
)

// plain returns a node with no more than what every family needs.
func plain(family amiselect.Family) bootstrap.Node {
	return bootstrap.Node{
		Family:      family,
		ClusterName: "test-cluster",
		Endpoint:    "https://test.example.com",
		CABundle:    "Y2EtYnVuZGxlCg==",
		ClusterCIDR: "10.100.0.0/16",
		Labels: map[string]string{
			"karpenter.sh/capacity-type":       "spot",
			"karpenter.sh/nodepool":            "default",
			"topology.kubernetes.io/zone":      "eu-central-1a",
			"node-restriction.kubernetes.io/x": "y",
		},
		MaxPods: new(int32(58)),
	}
}

// full returns a node that sets every field that the family supports.
func full(family amiselect.Family) bootstrap.Node {
	n := plain(family)
	n.DNSIP = "10.100.0.10"
	n.Taints = []corev1.Taint{
		{Key: "example.com/gpu", Value: "true", Effect: corev1.TaintEffectNoSchedule},
		{Key: "example.com/gpu", Value: "true", Effect: corev1.TaintEffectNoExecute},
	}
	n.StartupTaints = []corev1.Taint{
		{Key: "cni.example.com/not-ready", Effect: corev1.TaintEffectNoSchedule},
		{Key: "example.com/gpu", Value: "true", Effect: corev1.TaintEffectNoSchedule},
	}
	n.InstanceStore = awsv1.InstanceStorePolicyRAID0
	n.BottlerocketVersion = "1.45.0"
	n.Kubelet = awsv1.KubeletConfiguration{
		ClusterDNS:                  []string{"169.254.20.10"},
		MaxPods:                     new(intstr.FromInt32(42)),
		PodsPerCore:                 new(int32(4)),
		SystemReserved:              map[string]string{"memory": "200Mi", "cpu": "100m"},
		KubeReserved:                map[string]string{"pid": "1000", "ephemeral-storage": "3Gi", "cpu": "200m"},
		EvictionHard:                map[string]string{"nodefs.available": "10%", "memory.available": "5%"},
		EvictionSoft:                map[string]string{"memory.available": "500Mi"},
		EvictionSoftGracePeriod:     map[string]metav1.Duration{"memory.available": {Duration: time.Minute}},
		EvictionMaxPodGracePeriod:   new(int32(60)),
		ImageGCHighThresholdPercent: new(int32(85)),
		ImageGCLowThresholdPercent:  new(int32(80)),
		CPUCFSQuota:                 new(false),
	}
	switch family {
	case amiselect.FamilyBottlerocket:
		n.Kubelet.PodsPerCore = nil
	case amiselect.FamilyAL2023:
		n.Kubelet.ClusterDNS = append(n.Kubelet.ClusterDNS, "10.100.0.10")
		n.Kubelet.Extra = map[string]any{
			"shutdownGracePeriod": "30s",
			"featureGates":        map[string]any{"UserNamespacesSupport": true},
		}
	}
	return n
}

// managed returns all families but Custom.
func managed() []amiselect.Family {
	var families []amiselect.Family
	for _, f := range amiselect.Families() {
		if f != amiselect.FamilyCustom {
			families = append(families, f)
		}
	}
	return families
}

func render(t *testing.T, n bootstrap.Node) bootstrap.UserData {
	t.Helper()
	u, err := bootstrap.Render(n)
	require.NoError(t, err)
	total := 0
	for _, p := range u.Parts {
		require.GreaterOrEqual(t, p.Bytes, 0, p.Name)
		total += p.Bytes
	}
	require.Equal(t, len(u.Text), total, "parts must add up")
	return u
}

// lines joins lines, each with a line break.
func lines(l ...string) string { return strings.Join(l, "\n") + "\n" }
