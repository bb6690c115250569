package provisioning_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/dovetail-sdk/dovetail/provisioning"
	"github.com/dovetail-sdk/dovetail/provisioning/resources"
)

// ends returns a pod on node n1 whose grace period is over so long after now.
func ends(name string, after time.Duration, edits ...func(*corev1.Pod)) *corev1.Pod {
	p := shopPod(name, "cpu=3")
	p.Spec.NodeName = "n1"
	p.DeletionTimestamp = &metav1.Time{Time: endingNow.Add(after)}
	for _, edit := range edits {
		edit(p)
	}
	return p
}

var endingNow = time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)

// TestEndingBy moves the pods whose room is free by then, and leaves the list as it was.
func TestEndingBy(t *testing.T) {
	stays := shopPod("stays", "cpu=1")
	stays.Spec.NodeName = "n1"
	comesBack := func(p *corev1.Pod) {
		p.OwnerReferences = []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "StatefulSet"}}
	}
	makesRoom := func(p *corev1.Pod) {
		p.Status.Conditions = []corev1.PodCondition{{Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue, Reason: corev1.PodReasonPreemptionByScheduler}}
	}
	pods := []*corev1.Pod{
		stays, ends("soon", time.Minute), ends("too late", time.Minute+1), ends("a little late", -9*time.Second), ends("stuck", -10*time.Second), nil,
		ends("of a DaemonSet", 0, ofKind("DaemonSet")), ends("mirror", 0, mirrored), ends("comes back", 0, comesBack), ends("makes room", 0, makesRoom), ends("now", 0),
	}
	n := provisioning.Node{Pods: pods, Ending: []*corev1.Pod{ends("known", 0)}}
	names := func(pods []*corev1.Pod) (out []string) {
		for _, p := range pods {
			if p != nil {
				out = append(out, p.Name)
			}
		}
		return out
	}
	got := n.EndingBy(endingNow, endingNow.Add(time.Minute))
	require.Equal(t, []string{"known", "soon", "a little late", "now"}, names(got.Ending))
	require.Equal(t, []string{"stays", "too late", "stuck", "of a DaemonSet", "mirror", "comes back", "makes room"}, names(got.Pods))
	require.Len(t, n.Pods, 11)
	require.Len(t, n.Ending, 1)
	require.Equal(t, got, got.EndingBy(endingNow, endingNow.Add(time.Minute)))
}

// TestPodsWaitForRoom binds a pod to a node whose pod is about to end, and says so. While the pod
// stays there, a node is launched.
func TestPodsWaitForRoom(t *testing.T) {
	in := shop()
	in.Pods = []*corev1.Pod{shopPod("new", "cpu=3")}
	n := provisioning.Node{Node: &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n1"}}, Pods: []*corev1.Pod{ends("old", 30*time.Second)}}
	n.Node.Status.Allocatable = resources.MustParse("cpu=4, memory=14Gi, pods=58").ResourceList()
	in.Nodes = []provisioning.Node{n}
	problem := problemOf(t, in, nil)
	plan := planOf(t, problem)
	require.Empty(t, plan.Bind)
	require.Len(t, plan.Create, 1)

	ending := n.EndingBy(endingNow, endingNow.Add(time.Minute))
	same, err := problem.WithNodes(in.Nodes, in.Pods)
	require.NoError(t, err)
	require.Same(t, problem, same)
	problem, err = problem.WithNodes([]provisioning.Node{ending}, in.Pods)
	require.NoError(t, err)
	plan = planOf(t, problem)
	require.Equal(t, []provisioning.Binding{{Node: "n1", Pods: in.Pods, After: ending.Ending}}, plan.Bind)
	require.Empty(t, plan.Create)

	nominating, err := problem.Nominating(map[types.NamespacedName]string{{Namespace: in.Pods[0].Namespace, Name: "new"}: "n1"})
	require.NoError(t, err)
	plan, err = nominating.Solve(t.Context())
	require.NoError(t, err)
	require.Equal(t, []provisioning.Binding{{Node: "n1", Pods: in.Pods, After: ending.Ending}}, plan.Bind)

	problem, err = problem.Without("n1")
	require.NoError(t, err)
	plan = planOf(t, problem)
	require.Len(t, plan.Create[0].Pods, 1, "the pod that ends needs no other place")
}
