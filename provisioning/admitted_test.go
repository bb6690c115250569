package provisioning_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	nodev1 "k8s.io/api/node/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/dovetail-sdk/dovetail/provisioning"
	"github.com/dovetail-sdk/dovetail/provisioning/resources"
)

func ExampleAdmitted() {
	pod := &corev1.Pod{Spec: corev1.PodSpec{HostNetwork: true, Containers: []corev1.Container{{
		Name:      "exporter",
		Resources: corev1.ResourceRequirements{Limits: resources.MustParse("cpu=100m").ResourceList()},
		Ports:     []corev1.ContainerPort{{ContainerPort: 9100}},
	}}}}
	got, err := provisioning.Admitted(pod)
	fmt.Println(err, got.Spec.Containers[0].Ports[0].HostPort)
	fmt.Println(resources.PodRequests(got))
	// Output:
	// <nil> 9100
	// cpu=100m, pods=1 <nil>
}

// quantities are limits or requests.
func quantities(text string) corev1.ResourceList { return resources.MustParse(text).ResourceList() }

// admitted admits a pod twice, and checks that neither the pod nor the second answer changes.
func admitted(t *testing.T, pod *corev1.Pod, classes ...*nodev1.RuntimeClass) *corev1.Pod {
	t.Helper()
	before := pod.DeepCopy()
	got, err := provisioning.Admitted(pod, classes...)
	require.NoError(t, err)
	require.Equal(t, before, pod, "the pod itself changed")
	again, err := provisioning.Admitted(got, classes...)
	require.NoError(t, err)
	require.Equal(t, got, again, "admitted twice")
	return got
}

func TestAdmittedRequests(t *testing.T) {
	pod := &corev1.Pod{Spec: corev1.PodSpec{
		InitContainers: []corev1.Container{{Resources: corev1.ResourceRequirements{Limits: quantities("cpu=2")}}},
		Containers: []corev1.Container{
			{Resources: corev1.ResourceRequirements{Requests: quantities("cpu=100m"), Limits: quantities("cpu=1, memory=1Gi")}}, {},
		},
	}}
	got := admitted(t, pod)
	require.Equal(t, quantities("cpu=2"), got.Spec.InitContainers[0].Resources.Requests)
	require.Equal(t, quantities("cpu=100m, memory=1Gi"), got.Spec.Containers[0].Resources.Requests)
	require.Nil(t, got.Spec.Containers[1].Resources.Requests)

	none, err := provisioning.Admitted(nil)
	require.NoError(t, err)
	require.Nil(t, none)
}

// A limit of the pod as a whole is its request where no container asks, and that of hugepages always.
func TestAdmittedPodLevelRequests(t *testing.T) {
	pod := &corev1.Pod{}
	pod.Spec.Resources = &corev1.ResourceRequirements{
		Limits:   quantities("cpu=4, memory=8Gi, hugepages-1Gi=3Gi, hugepages-2Mi=4Mi"),
		Requests: quantities("hugepages-2Mi=2Mi"),
	}
	pod.Spec.Containers = []corev1.Container{
		{Resources: corev1.ResourceRequirements{Requests: quantities("cpu=1"), Limits: quantities("hugepages-1Gi=1Gi")}}, {},
	}
	got, err := resources.PodRequests(admitted(t, pod))
	require.NoError(t, err)
	require.Equal(t, "cpu=1, hugepages-1Gi=3Gi, hugepages-2Mi=2Mi, memory=8Gi, pods=1", got.String())
}

func TestAdmittedHostPorts(t *testing.T) {
	pod := &corev1.Pod{Spec: corev1.PodSpec{
		InitContainers: []corev1.Container{{Ports: []corev1.ContainerPort{{ContainerPort: 15001}}}},
		Containers:     []corev1.Container{{Ports: []corev1.ContainerPort{{ContainerPort: 80}, {ContainerPort: 53, HostPort: 53, Protocol: corev1.ProtocolUDP}}}},
	}}
	require.Equal(t, pod, admitted(t, pod), "it has a network of its own")
	pod.Spec.HostNetwork = true
	got := admitted(t, pod)
	require.Equal(t, int32(15001), got.Spec.InitContainers[0].Ports[0].HostPort)
	require.Equal(t, int32(80), got.Spec.Containers[0].Ports[0].HostPort)
	require.Equal(t, int32(53), got.Spec.Containers[0].Ports[1].HostPort)
}

func TestAdmittedRuntimeClass(t *testing.T) {
	gpu := corev1.Toleration{Key: "gpu", Operator: corev1.TolerationOpExists}
	vm := corev1.Toleration{Key: "vm", Operator: corev1.TolerationOpExists}
	kata := &nodev1.RuntimeClass{ObjectMeta: metav1.ObjectMeta{Name: "kata"},
		Overhead:   &nodev1.Overhead{PodFixed: quantities("cpu=250m")},
		Scheduling: &nodev1.Scheduling{NodeSelector: map[string]string{"vm": "yes", "gen": "5"}, Tolerations: []corev1.Toleration{gpu, vm}}}
	plain := &nodev1.RuntimeClass{ObjectMeta: metav1.ObjectMeta{Name: "plain"}}
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "box"}, Spec: corev1.PodSpec{
		RuntimeClassName: new("kata"), NodeSelector: map[string]string{"gen": "5"}, Tolerations: []corev1.Toleration{gpu}}}

	got := admitted(t, pod, plain, nil, kata)
	require.Equal(t, quantities("cpu=250m"), got.Spec.Overhead)
	require.Equal(t, map[string]string{"vm": "yes", "gen": "5"}, got.Spec.NodeSelector)
	require.Equal(t, []corev1.Toleration{gpu, vm}, got.Spec.Tolerations)
	require.Equal(t, pod, admitted(t, pod, plain), "its class is not there")

	pod.Spec.NodeSelector["gen"], pod.Spec.Overhead = "", quantities("cpu=1")
	got, err := provisioning.Admitted(pod, kata)
	require.Equal(t, pod, got)
	require.EqualError(t, err, `Pod "shop/box": spec.nodeSelector[gen]: is "", and RuntimeClass kata wants "5"; remove one of the two`+"\n"+
		`Pod "shop/box": spec.overhead: differs from that of RuntimeClass kata; remove it from the pod`)
	pod.Spec.RuntimeClassName = new("plain")
	pod.Spec.Overhead, pod.Spec.NodeSelector = nil, nil
	require.Equal(t, pod, admitted(t, pod, plain, kata))
}
