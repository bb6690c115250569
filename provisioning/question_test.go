package provisioning_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/dovetail-sdk/dovetail/provisioning"
)

// TestQuestionsReadDaemonsOnce counts what a question about one node allocates for each
// DaemonSet: these were read when the cluster was compiled.
func TestQuestionsReadDaemonsOnce(t *testing.T) {
	allocations := func(daemons int) float64 {
		in := crowdedCluster(300, 3_600)
		for i := range daemons {
			pod := in.Nodes[10].Pods[1].DeepCopy()
			pod.Name, pod.Spec.NodeName = fmt.Sprint("daemon-", i), ""
			pod.OwnerReferences = []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "DaemonSet", Name: pod.Name, UID: "u", Controller: new(true)}}
			in.DaemonSetPods = append(in.DaemonSetPods, pod)
		}
		in.Pods = nil
		problem, err := provisioning.Prepare(in, nil)
		require.NoError(t, err)
		name := in.Nodes[0].Name()
		return testing.AllocsPerRun(8, func() {
			_, err := problem.Without(name)
			require.NoError(t, err)
		})
	}
	none, daemons := allocations(0), allocations(20)
	t.Log(none, daemons)
	require.Less(t, daemons, none+10*20)
}
