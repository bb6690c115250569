package fleet_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	nodev1 "k8s.io/api/node/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/dovetail-sdk/dovetail/disruption/fleet"
	"github.com/dovetail-sdk/dovetail/provisioning/resources"
)

// TestDaemonsAreAdmitted: the pod of a DaemonSet has the host ports and the overhead that the
// API server gives it, and those of a RuntimeClass that has changed.
func TestDaemonsAreAdmitted(t *testing.T) {
	ds := &appsv1.DaemonSet{}
	ds.Namespace, ds.Name, ds.UID, ds.ResourceVersion = "kube-system", "exporter", "uid-exporter", "1"
	ds.Spec.Template.Spec = corev1.PodSpec{HostNetwork: true, RuntimeClassName: new("kata"), NodeSelector: map[string]string{"vm": "yes"},
		Containers: []corev1.Container{{Ports: []corev1.ContainerPort{{ContainerPort: 9100}}}}}
	class := func(version, cpu string) *nodev1.RuntimeClass {
		out := &nodev1.RuntimeClass{Overhead: &nodev1.Overhead{PodFixed: resources.MustParse("cpu=" + cpu).ResourceList()}}
		out.Name, out.UID, out.ResourceVersion = "kata", types.UID("uid-kata"), version
		return out
	}
	cpu := func(f *fleet.Fleet) string { return f.Input.DaemonSetPods[0].Spec.Overhead.Cpu().String() }
	o := fleet.Objects{DaemonSets: []*appsv1.DaemonSet{ds}, RuntimeClasses: []*nodev1.RuntimeClass{class("1", "250m")}}
	first := read(t, o, fleet.Memory{})
	require.Equal(t, int32(9100), first.Input.DaemonSetPods[0].Spec.Containers[0].Ports[0].HostPort)
	require.Equal(t, "250m", cpu(first))

	o.RuntimeClasses = []*nodev1.RuntimeClass{class("1", "250m")}
	second := read(t, o, first.Memory)
	require.Same(t, first.Input.DaemonSetPods[0], second.Input.DaemonSetPods[0], "nothing has changed")

	o.RuntimeClasses = []*nodev1.RuntimeClass{class("2", "300m")}
	third := read(t, o, second.Memory)
	require.Equal(t, "300m", cpu(third))

	refusing := class("3", "300m")
	refusing.Scheduling = &nodev1.Scheduling{NodeSelector: map[string]string{"vm": "no"}}
	o.RuntimeClasses = []*nodev1.RuntimeClass{refusing}
	f, err := fleet.Read(noon, o, third.Memory)
	require.EqualError(t, err, `DaemonSet Pod "kube-system/exporter": spec.nodeSelector[vm]: is "yes", and RuntimeClass kata wants "no"; remove one of the two`)
	require.Empty(t, f.Input.DaemonSetPods, "the API server takes none of its pods")
}
