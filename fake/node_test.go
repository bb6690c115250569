package fake_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/fake"
	"github.com/dovetail-sdk/dovetail/provisioning/resources"
)

func taints(n *corev1.Node) string {
	var out []string
	for _, t := range n.Spec.Taints {
		out = append(out, t.ToString())
	}
	return strings.Join(out, " ")
}

func conditionOf(n *corev1.Node, kind corev1.NodeConditionType) corev1.NodeCondition {
	for _, c := range n.Status.Conditions {
		if c.Type == kind {
			return c
		}
	}
	return corev1.NodeCondition{}
}

func TestNodeGrowsUp(t *testing.T) {
	cloud := world(t, fake.Options{Timing: fake.Timing{
		Launch: fake.Exactly(30 * second), Registration: fake.Exactly(5 * second), Initialization: fake.Exactly(20 * second), Shutdown: fake.Exactly(minute),
	}})
	req := ask(t, cloud, "t", odA)
	req.Labels = map[string]string{"team": "a"}
	req.Annotations = map[string]string{"note": "x"}
	req.Taints = []corev1.Taint{{Key: "dedicated", Value: "a", Effect: corev1.TaintEffectNoSchedule}}
	req.StartupTaints = []corev1.Taint{{Key: "cni", Effect: corev1.TaintEffectNoExecute}}
	instance := create(t, cloud, req)
	require.Empty(t, cloud.Nodes())

	const starting = "node.kubernetes.io/not-ready:NoSchedule node.kubernetes.io/not-ready:NoExecute"
	for _, c := range []struct {
		d                       time.Duration
		taints                  string
		registered, initialized bool
		ready                   corev1.ConditionStatus
	}{
		{30 * second, "dedicated=a:NoSchedule cni:NoExecute karpenter.sh/unregistered:NoExecute " + starting, false, false, "False"},
		{5 * second, "dedicated=a:NoSchedule cni:NoExecute " + starting, true, false, "False"},
		{20 * second, "dedicated=a:NoSchedule", true, true, "True"},
	} {
		cloud.Advance(c.d)
		nodes := cloud.Nodes()
		require.Len(t, nodes, 1)
		n := nodes[0]
		require.Same(t, n, cloud.Nodes()[0])
		require.Equal(t, c.taints, taints(n))
		require.Equal(t, c.registered, n.Labels[v1.NodeRegisteredLabelKey] == "true")
		require.Equal(t, c.initialized, n.Labels[v1.NodeInitializedLabelKey] == "true")
		ready := conditionOf(n, corev1.NodeReady)
		require.Equal(t, c.ready, ready.Status)
		require.Equal(t, cloud.Now(), ready.LastTransitionTime.Time)
		require.Equal(t, c.initialized, len(n.Status.Allocatable) == instance.Allocatable.Len(), "pod-eni comes last")

		require.Equal(t, instance.ID, n.Spec.ProviderID)
		require.Equal(t, instance.ID[strings.LastIndex(instance.ID, "/")+1:], n.Name)
		require.Equal(t, n.Name, n.Labels[corev1.LabelHostname])
		require.Equal(t, "a", n.Labels["team"])
		require.Equal(t, "x", n.Annotations["note"])
		require.Equal(t, "default", n.Labels["karpenter.k8s.aws/ec2nodeclass"])
		require.Equal(t, "general", n.Labels[v1.NodePoolLabelKey])
		require.Equal(t, "m5.large", n.Labels[corev1.LabelInstanceTypeStable])
		require.Equal(t, epoch.Add(30*second), n.CreationTimestamp.Time)
		require.Equal(t, "image-amd64", n.Status.NodeInfo.OSImage)
		require.Len(t, n.Status.Conditions, 4)
	}
	allocatable, err := resources.FromResourceList(cloud.Nodes()[0].Status.Allocatable)
	require.NoError(t, err)
	require.True(t, allocatable.Equal(instance.Allocatable))

	require.NoError(t, cloud.Delete(t.Context(), instance.ID))
	n := cloud.Nodes()[0]
	require.Equal(t, "dedicated=a:NoSchedule "+starting+" node.cloudprovider.kubernetes.io/shutdown:NoSchedule", taints(n))
	require.Equal(t, cloud.Now(), n.DeletionTimestamp.Time)
	cloud.Advance(minute)
	require.Empty(t, cloud.Nodes())
}

// Where the caller plays the autoscaler, a node gets ready and stays as the kubelet
// made it.
func TestNodeIsNotRegistered(t *testing.T) {
	cloud := world(t, fake.Options{Unregistered: true, Timing: fake.Timing{
		Launch: fake.Exactly(30 * second), Registration: fake.Exactly(minute), Initialization: fake.Exactly(20 * second),
	}})
	req := ask(t, cloud, "t", odA)
	req.StartupTaints = []corev1.Taint{{Key: "cni", Effect: corev1.TaintEffectNoExecute}}
	create(t, cloud, req)
	cloud.Advance(30 * second)
	require.Contains(t, taints(cloud.Nodes()[0]), "cni:NoExecute karpenter.sh/unregistered:NoExecute node.kubernetes.io/not-ready")
	cloud.Advance(20*second - 1)
	require.Equal(t, corev1.ConditionFalse, conditionOf(cloud.Nodes()[0], corev1.NodeReady).Status)
	cloud.Advance(1)
	n := cloud.Nodes()[0]
	require.Equal(t, corev1.ConditionTrue, conditionOf(n, corev1.NodeReady).Status)
	require.Equal(t, "karpenter.sh/unregistered:NoExecute", taints(n))
	require.NotContains(t, n.Labels, v1.NodeRegisteredLabelKey)
	require.NotContains(t, n.Labels, v1.NodeInitializedLabelKey)
	for _, e := range cloud.Events() {
		require.NotEqual(t, fake.EventRegistered, e.Kind)
	}
}

// Taints that the request names itself appear once.
func TestTaintsAppearOnce(t *testing.T) {
	cloud := world(t, fake.Options{Timing: fake.Timing{Registration: fake.Exactly(minute)}})
	req := ask(t, cloud, "t", odA)
	req.Taints = []corev1.Taint{v1.UnregisteredNoExecuteTaint()}
	create(t, cloud, req)
	require.Equal(t, 1, strings.Count(taints(cloud.Nodes()[0]), "unregistered"))
}

func TestFaultsAndReboot(t *testing.T) {
	cloud := world(t, fake.Options{Timing: fake.Timing{Reboot: fake.Exactly(minute), Shutdown: fake.Exactly(minute)}})
	one := mustLaunch(t, cloud, "one", odA)
	cloud.Advance(minute)
	boot := cloud.Nodes()[0].Status.NodeInfo.BootID
	target := fake.Target{Instances: []string{one.ID}}
	require.NoError(t, cloud.Do(
		fake.Action{Target: target, Break: fake.NodeFault{Type: corev1.NodeReady, Status: corev1.ConditionUnknown, Reason: "NodeStatusUnknown", CuredByReboot: true}},
		fake.Action{Target: target, Break: fake.NodeFault{Type: "KernelReady", Status: corev1.ConditionFalse, Reason: "Panic", Message: "twice", CuredByReboot: true}},
		fake.Action{Target: target, Break: fake.NodeFault{Type: corev1.NodeDiskPressure, Status: corev1.ConditionTrue}},
		fake.Action{Target: target, Break: fake.NodeFault{Type: corev1.NodeDiskPressure, Status: corev1.ConditionTrue, Reason: "Full"}},
	))
	n := cloud.Nodes()[0]
	require.Equal(t, "node.kubernetes.io/unreachable:NoSchedule node.kubernetes.io/unreachable:NoExecute", taints(n))
	require.Equal(t, "NodeStatusUnknown", conditionOf(n, corev1.NodeReady).Reason)
	require.Equal(t, "Panic", conditionOf(n, "KernelReady").Reason)
	require.Equal(t, "Full", conditionOf(n, corev1.NodeDiskPressure).Reason)
	require.Len(t, n.Status.Conditions, 5)

	cloud.Advance(minute)
	require.NoError(t, cloudprovider.Reboot(t.Context(), cloud, one.ID, "op"))
	require.NoError(t, cloud.Reboot(t.Context(), one.ID, "op"), "it is the same restart")
	require.Equal(t, 1, strings.Count(cloud.Log(), " rebooting one"))
	n = cloud.Nodes()[0]
	require.NotEqual(t, boot, n.Status.NodeInfo.BootID)
	require.Equal(t, corev1.ConditionFalse, conditionOf(n, corev1.NodeReady).Status)

	// Another restart on top starts the wait over.
	cloud.Advance(30 * second)
	require.NoError(t, cloud.Reboot(t.Context(), one.ID, "op2"))
	cloud.Advance(30 * second)
	require.Equal(t, corev1.ConditionFalse, conditionOf(cloud.Nodes()[0], corev1.NodeReady).Status)
	cloud.Advance(30 * second)
	n = cloud.Nodes()[0]
	require.Equal(t, corev1.ConditionTrue, conditionOf(n, corev1.NodeReady).Status)
	require.Equal(t, cloud.Now(), conditionOf(n, corev1.NodeReady).LastTransitionTime.Time)
	require.Len(t, n.Status.Conditions, 4)
	require.Equal(t, "Full", conditionOf(n, corev1.NodeDiskPressure).Reason, "a reboot does not cure that")
	require.NoError(t, cloud.Do(fake.Action{Mend: true}))
	require.Equal(t, corev1.ConditionFalse, conditionOf(cloud.Nodes()[0], corev1.NodeDiskPressure).Status)

	require.ErrorIs(t, cloud.Reboot(t.Context(), one.ID, ""), cloudprovider.ErrDenied)
	require.NoError(t, cloud.Delete(t.Context(), one.ID))
	require.ErrorIs(t, cloud.Reboot(t.Context(), one.ID, "op3"), cloudprovider.ErrDenied, "it is going down")
	require.NoError(t, cloud.Reboot(t.Context(), one.ID, "op2"), "that was done before")
	cloud.Advance(minute)
	require.ErrorIs(t, cloud.Reboot(t.Context(), one.ID, "op3"), cloudprovider.ErrNotFound)
}

func TestRepairPolicies(t *testing.T) {
	cloud := world(t, fake.Options{})
	policies := cloudprovider.RepairPolicies(cloud)
	require.NoError(t, cloudprovider.ValidateRepairPolicies(policies))
	require.Len(t, policies, 7)
}
