package provisioning_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/dovetail-sdk/dovetail/provisioning/internal/scenes"
)

// TestQuestionsReadTheClusterOnce counts what a question about one node allocates for each
// DaemonSet and for each workload with anti-affinity that runs elsewhere: these were read when
// the cluster was compiled.
func TestQuestionsReadTheClusterOnce(t *testing.T) {
	allocations := func(workloads, daemons int) float64 {
		in := crowdedCluster(300, 3_600)
		for i := range workloads {
			pod := in.Nodes[10+i].Pods[0].DeepCopy()
			pod.Labels = map[string]string{"app": fmt.Sprint("apart-", i)}
			scenes.Avoid(pod, corev1.PodAffinityTerm{TopologyKey: corev1.LabelHostname, LabelSelector: scenes.Alike(pod)})
			in.Nodes[10+i].Pods[0] = pod
		}
		for i := range daemons {
			pod := in.Nodes[10].Pods[1].DeepCopy()
			pod.Name, pod.Spec.NodeName = fmt.Sprint("daemon-", i), ""
			pod.OwnerReferences = []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "DaemonSet", Name: pod.Name, UID: "u", Controller: new(true)}}
			in.DaemonSetPods = append(in.DaemonSetPods, pod)
		}
		in.Pods = nil
		problem := problemOf(t, in, nil)
		name := in.Nodes[0].Name()
		return testing.AllocsPerRun(8, func() {
			_, err := problem.Without(name)
			require.NoError(t, err)
		})
	}
	none, apart, daemons := allocations(0, 0), allocations(200, 0), allocations(0, 20)
	t.Log(none, apart, daemons)
	require.Less(t, apart, none+12*200)
	require.Less(t, daemons, none+10*20)
}
