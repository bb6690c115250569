package bootstrap_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/dovetail-sdk/dovetail/amiselect"
	"github.com/dovetail-sdk/dovetail/aws/bootstrap"
)

// TestKubeletFlags pins the order of flags and of what is in them.
func TestKubeletFlags(t *testing.T) {
	flags, err := bootstrap.KubeletFlags(full(amiselect.FamilyAL2))
	require.NoError(t, err)
	require.Equal(t, []string{
		"--node-labels=karpenter.sh/capacity-type=spot,karpenter.sh/do-not-sync-taints=true,karpenter.sh/nodepool=default",
		"--register-with-taints=example.com/gpu=true:NoSchedule,example.com/gpu=true:NoExecute,cni.example.com/not-ready:NoSchedule,karpenter.sh/unregistered:NoExecute",
		"--max-pods=42",
		"--pods-per-core=4",
		"--system-reserved=cpu=100m,memory=200Mi",
		"--kube-reserved=cpu=200m,ephemeral-storage=3Gi,pid=1000",
		"--eviction-hard=memory.available<5%,nodefs.available<10%",
		"--eviction-soft=memory.available<500Mi",
		"--eviction-soft-grace-period=memory.available=1m0s",
		"--eviction-max-pod-grace-period=60",
		"--image-gc-high-threshold=85",
		"--image-gc-low-threshold=80",
		"--cpu-cfs-quota=false",
	}, flags)
	flags, err = bootstrap.KubeletFlags(bootstrap.Node{Family: amiselect.FamilyCustom})
	require.NoError(t, err)
	require.Empty(t, flags)
}

// TestMaxPods: the user's number wins over that of the instance type, zero
// included, and without either the image decides.
func TestMaxPods(t *testing.T) {
	n := plain(amiselect.FamilyAL2)
	require.Contains(t, render(t, n).Text, "--use-max-pods false")
	require.Contains(t, render(t, n).Text, " --max-pods=58'")
	n.Kubelet.MaxPods = new(intstr.FromInt32(0))
	require.Contains(t, render(t, n).Text, " --max-pods=0'")
	n.Kubelet.MaxPods, n.MaxPods = nil, nil
	require.NotContains(t, render(t, n).Text, "max-pods")
}

// TestRegistrationLabels: which labels a kubelet may set.
func TestRegistrationLabels(t *testing.T) {
	n := bootstrap.Node{Family: amiselect.FamilyAL2, Labels: map[string]string{
		"plain":                            "",
		"kubernetes.io/os":                 "linux",
		"node.kubernetes.io/instance-type": "m5.large",
		"k8s.io/x":                         "y",
		"a.b.k8s.io/x":                     "y",
		"notkubernetes.io/x":               "y",
		"karpenter.k8s.aws/instance-cpu":   "4",
		"karpenter.sh/do-not-sync-taints":  "false",
	}}
	require.Equal(t, map[string]string{
		"plain":                           "",
		"notkubernetes.io/x":              "y",
		"karpenter.k8s.aws/instance-cpu":  "4",
		"karpenter.sh/do-not-sync-taints": "true",
	}, n.RegistrationLabels())
	n.Family = amiselect.FamilyCustom
	require.Nil(t, n.RegistrationLabels())
	require.Nil(t, n.RegistrationTaints())
}

// TestRegistrationTaints: the taint of registration is there once.
func TestRegistrationTaints(t *testing.T) {
	unregistered := corev1.Taint{Key: "karpenter.sh/unregistered", Effect: corev1.TaintEffectNoExecute}
	n := bootstrap.Node{Family: amiselect.FamilyAL2}
	require.Equal(t, []corev1.Taint{unregistered}, n.RegistrationTaints())
	other := corev1.Taint{Key: "a", Effect: corev1.TaintEffectNoSchedule}
	n.Taints, n.StartupTaints = []corev1.Taint{unregistered}, []corev1.Taint{other, other}
	require.Equal(t, []corev1.Taint{unregistered, other}, n.RegistrationTaints())
}
