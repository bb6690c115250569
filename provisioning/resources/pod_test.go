package resources_test

import (
	"fmt"
	"math"
	"math/rand"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	resourcehelper "k8s.io/component-helpers/resource"

	"github.com/dovetail-sdk/dovetail/provisioning/resources"
)

// quantities turns the text form of a list into the map of an API object.
func quantities(text string) corev1.ResourceList {
	if text == "" {
		return nil
	}
	return parse(text).ResourceList()
}

func container(name, requests string) corev1.Container {
	return corev1.Container{Name: name, Resources: corev1.ResourceRequirements{Requests: quantities(requests)}}
}

func sidecar(name, requests string) corev1.Container {
	c := container(name, requests)
	always := corev1.ContainerRestartPolicyAlways
	c.RestartPolicy = &always
	return c
}

func status(name, used, allocated string) corev1.ContainerStatus {
	return corev1.ContainerStatus{
		Name:               name,
		Resources:          &corev1.ResourceRequirements{Requests: quantities(used)},
		AllocatedResources: quantities(allocated),
	}
}

func podLevel(requests string) *corev1.ResourceRequirements {
	return &corev1.ResourceRequirements{Requests: quantities(requests)}
}

func TestPodRequests(t *testing.T) {
	tests := []struct {
		name   string
		spec   corev1.PodSpec
		status corev1.PodStatus
		want   string
	}{
		{
			name: "an empty pod still takes a slot",
			want: "pods=1",
		},
		{
			name: "containers add up",
			spec: corev1.PodSpec{Containers: []corev1.Container{container("a", "cpu=1, memory=1Gi"), container("b", "cpu=500m, nvidia.com/gpu=1")}},
			want: "cpu=1500m, memory=1Gi, nvidia.com/gpu=1, pods=1",
		},
		{
			name: "a listed zero stays listed",
			spec: corev1.PodSpec{Containers: []corev1.Container{container("a", "cpu=0")}},
			want: "cpu=0, pods=1",
		},
		{
			name: "sidecar 1, then init 3, then main 2: initialisation peaks at 4",
			spec: corev1.PodSpec{
				InitContainers: []corev1.Container{sidecar("proxy", "cpu=1"), container("setup", "cpu=3")},
				Containers:     []corev1.Container{container("main", "cpu=2")},
			},
			want: "cpu=4, pods=1",
		},
		{
			name: "init 3 before the sidecar runs alone",
			spec: corev1.PodSpec{
				InitContainers: []corev1.Container{container("setup", "cpu=3"), sidecar("proxy", "cpu=1")},
				Containers:     []corev1.Container{container("main", "cpu=2")},
			},
			want: "cpu=3, pods=1",
		},
		{
			name: "the peak is taken by resource",
			spec: corev1.PodSpec{
				InitContainers: []corev1.Container{container("a", "cpu=4, memory=1Gi"), container("b", "cpu=1, memory=6Gi")},
				Containers:     []corev1.Container{container("main", "cpu=2, memory=2Gi, ephemeral-storage=1Gi")},
			},
			want: "cpu=4, ephemeral-storage=1Gi, memory=6Gi, pods=1",
		},
		{
			name: "pod-level cpu 2 replaces containers summing to 5",
			spec: corev1.PodSpec{
				Containers: []corev1.Container{container("a", "cpu=3, memory=1Gi"), container("b", "cpu=2")},
				Resources:  podLevel("cpu=2"),
			},
			want: "cpu=2, memory=1Gi, pods=1",
		},
		{
			name: "overhead comes on top of pod-level requests",
			spec: corev1.PodSpec{
				Containers: []corev1.Container{container("a", "cpu=5")},
				Resources:  podLevel("cpu=2, memory=1Gi"),
				Overhead:   quantities("cpu=250m, memory=128Mi"),
			},
			want: "cpu=2250m, memory=1152Mi, pods=1",
		},
		{
			name: "pod-level requests cover only cpu, memory and hugepages",
			spec: corev1.PodSpec{
				Containers: []corev1.Container{container("a", "nvidia.com/gpu=1, hugepages-2Mi=4Mi")},
				Resources:  podLevel("nvidia.com/gpu=7, hugepages-2Mi=8Mi"),
			},
			want: "hugepages-2Mi=8Mi, nvidia.com/gpu=1, pods=1",
		},
		{
			name: "pods is always one",
			spec: corev1.PodSpec{Containers: []corev1.Container{container("a", "pods=5")}},
			want: "pods=1",
		},
		{
			name:   "a shrinking container holds what it has",
			spec:   corev1.PodSpec{Containers: []corev1.Container{container("a", "cpu=1, memory=1Gi")}},
			status: corev1.PodStatus{ContainerStatuses: []corev1.ContainerStatus{status("a", "cpu=3", "cpu=2, memory=2Gi")}},
			want:   "cpu=3, memory=2Gi, pods=1",
		},
		{
			name:   "a growing container holds what it asks for",
			spec:   corev1.PodSpec{Containers: []corev1.Container{container("a", "cpu=4")}},
			status: corev1.PodStatus{ContainerStatuses: []corev1.ContainerStatus{status("a", "cpu=3", "cpu=3")}},
			want:   "cpu=4, pods=1",
		},
		{
			name: "an infeasible growth is not held",
			spec: corev1.PodSpec{Containers: []corev1.Container{container("a", "cpu=400")}},
			status: corev1.PodStatus{
				ContainerStatuses: []corev1.ContainerStatus{status("a", "cpu=3", "cpu=2")},
				Conditions:        []corev1.PodCondition{{Type: corev1.PodResizePending, Reason: corev1.PodReasonInfeasible}},
			},
			want: "cpu=3, pods=1",
		},
		{
			name: "the status of init containers counts, as that of containers",
			spec: corev1.PodSpec{
				InitContainers: []corev1.Container{sidecar("proxy", "cpu=1"), container("setup", "cpu=1")},
				Containers:     []corev1.Container{container("main", "cpu=1")},
			},
			status: corev1.PodStatus{InitContainerStatuses: []corev1.ContainerStatus{status("proxy", "cpu=2", ""), status("setup", "cpu=50", "")}},
			want:   "cpu=52, pods=1",
		},
		{
			name: "a pod-level resize holds the larger amount",
			spec: corev1.PodSpec{Containers: []corev1.Container{container("a", "cpu=1")}, Resources: podLevel("cpu=2")},
			status: corev1.PodStatus{
				Resources:          podLevel("cpu=3"),
				AllocatedResources: quantities("cpu=3"),
			},
			want: "cpu=3, pods=1",
		},
		{
			name: "fractions are rounded after adding up",
			spec: corev1.PodSpec{Containers: []corev1.Container{
				{Name: "a", Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{"cpu": resource.MustParse("500u")}}},
				{Name: "b", Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{"cpu": resource.MustParse("600u")}}},
			}},
			want: "cpu=2m, pods=1",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			pod := &corev1.Pod{Spec: tt.spec, Status: tt.status}
			before := pod.DeepCopy()
			got, err := resources.PodRequests(pod)
			require.NoError(t, err)
			require.Equal(t, tt.want, got.String())
			require.Equal(t, before, pod, "pod changed")
		})
	}
}

func TestPodRequestsRefuses(t *testing.T) {
	_, err := resources.PodRequests(nil)
	require.EqualError(t, err, "pod is nil; pass the pod whose requests are wanted")

	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "cart"},
		Spec: corev1.PodSpec{
			InitContainers: []corev1.Container{container("setup", "memory=-1Gi, cpu=-500m")},
			Containers:     []corev1.Container{container("main", "cpu=1"), container("side", "cpu=-1")},
			Resources:      podLevel("cpu=-2"),
			Overhead:       quantities("memory=-1"),
		},
		Status: corev1.PodStatus{
			InitContainerStatuses: []corev1.ContainerStatus{status("setup", "cpu=-3", "")},
			ContainerStatuses:     []corev1.ContainerStatus{status("main", "", "cpu=-4")},
			Resources:             podLevel("cpu=-5"),
			AllocatedResources:    quantities("cpu=-6"),
		},
	}
	_, err = resources.PodRequests(pod)
	require.ErrorIs(t, err, resources.ErrNegative)
	require.EqualError(t, err, `pod shop/cart: init container setup: resource cpu: -500m: negative request; use zero or more
init container setup: resource memory: -1Gi: negative request; use zero or more
container side: resource cpu: -1: negative request; use zero or more
pod-level resources: resource cpu: -2: negative request; use zero or more
overhead: resource memory: -1: negative request; use zero or more
status of container setup: resource cpu: -3: negative request; use zero or more
status of container main: resource cpu: -4: negative request; use zero or more
pod-level status: resource cpu: -5: negative request; use zero or more
pod-level status: resource cpu: -6: negative request; use zero or more`)

	huge := container("main", "")
	huge.Resources.Requests = corev1.ResourceList{"cpu": *resource.NewScaledQuantity(1, math.MaxInt32)}
	_, err = resources.PodRequests(&corev1.Pod{Spec: corev1.PodSpec{Containers: []corev1.Container{huge, container("b", "cpu=1")}}})
	require.ErrorIs(t, err, resources.ErrOverflow)
	require.ErrorContains(t, err, "container main: resource cpu:")

	half := corev1.ResourceList{"memory": resource.MustParse("9223372036854775807")}
	halves := corev1.PodSpec{Containers: []corev1.Container{
		{Name: "a", Resources: corev1.ResourceRequirements{Requests: half}},
		{Name: "b", Resources: corev1.ResourceRequirements{Requests: half}},
	}}
	_, err = resources.PodRequests(&corev1.Pod{Spec: halves})
	require.ErrorIs(t, err, resources.ErrOverflow, "each fits, the sum does not")
	require.ErrorContains(t, err, "resource memory: 18446744073709551614")
}

// A quantity with many digits is held behind a pointer, and adding overhead to
// it in place would change the pod.
func TestPodRequestsCopiesLongQuantities(t *testing.T) {
	pod := &corev1.Pod{Spec: corev1.PodSpec{
		Containers: []corev1.Container{container("a", "cpu=1")},
		Resources:  &corev1.ResourceRequirements{Requests: corev1.ResourceList{"cpu": resource.MustParse("1.0000000000000000000001")}},
		Overhead:   corev1.ResourceList{"cpu": resource.MustParse("1.0000000000000000000001"), "memory": resource.MustParse("1Mi")},
	}}
	before := pod.DeepCopy()
	for range 2 {
		got, err := resources.PodRequests(pod)
		require.NoError(t, err)
		require.Equal(t, "cpu=2001m, memory=1Mi, pods=1", got.String())
		require.Equal(t, before, pod)
	}
}

// randomPod draws a pod with every feature that PodRequests knows.
func randomPod(r *rand.Rand) *corev1.Pod {
	request := func() string {
		return fmt.Sprintf("cpu=%dm, memory=%dMi, nvidia.com/gpu=%d", r.Intn(4000), r.Intn(4000), r.Intn(3))
	}
	pod := &corev1.Pod{}
	for i := range r.Intn(4) {
		c := container(fmt.Sprint("init", i), request())
		if r.Intn(2) == 0 {
			c = sidecar(c.Name, request())
		}
		pod.Spec.InitContainers = append(pod.Spec.InitContainers, c)
		pod.Status.InitContainerStatuses = append(pod.Status.InitContainerStatuses, status(c.Name, request(), request()))
	}
	for i := range 1 + r.Intn(3) {
		c := container(fmt.Sprint("main", i), request())
		pod.Spec.Containers = append(pod.Spec.Containers, c)
		if r.Intn(2) == 0 {
			pod.Status.ContainerStatuses = append(pod.Status.ContainerStatuses, status(c.Name, request(), request()))
		}
	}
	if r.Intn(3) == 0 {
		pod.Spec.Resources = podLevel("cpu=3, memory=1Gi")
	}
	if r.Intn(3) == 0 {
		pod.Spec.Overhead = quantities(request())
	}
	if r.Intn(4) == 0 {
		pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodResizePending, Reason: corev1.PodReasonInfeasible}}
	}
	return pod
}

// modelRequests returns the rule written down plainly for one resource: what is in
// use at each step of the pod's life, and the greatest of those.
func modelRequests(pod *corev1.Pod, n name) int64 {
	amount := func(rl corev1.ResourceList) int64 {
		l, _ := resources.FromResourceList(rl)
		return l.Get(n)
	}
	infeasible := len(pod.Status.Conditions) > 0
	peak := func(of func(corev1.Container) int64) int64 {
		var sidecars, highest int64
		for _, c := range pod.Spec.InitContainers {
			highest = max(highest, sidecars+of(c))
			if c.RestartPolicy != nil {
				sidecars += of(c)
			}
		}
		running := sidecars
		for _, c := range pod.Spec.Containers {
			running += of(c)
		}
		return max(highest, running)
	}
	statuses := map[string]corev1.ContainerStatus{}
	for _, s := range slices.Concat(pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses) {
		statuses[s.Name] = s
	}
	request := func(c corev1.Container) int64 { return amount(c.Resources.Requests) }
	reported := func(list func(corev1.ContainerStatus) corev1.ResourceList) func(corev1.Container) int64 {
		return func(c corev1.Container) int64 {
			if s, ok := statuses[c.Name]; ok {
				return amount(list(s))
			}
			if infeasible {
				return 0
			}
			return request(c)
		}
	}
	total := max(
		peak(reported(func(s corev1.ContainerStatus) corev1.ResourceList { return s.Resources.Requests })),
		peak(reported(func(s corev1.ContainerStatus) corev1.ResourceList { return s.AllocatedResources })),
	)
	if !infeasible {
		total = max(total, peak(request))
	}
	if pod.Spec.Resources != nil && (n == "cpu" || n == "memory") {
		total = amount(pod.Spec.Resources.Requests)
	}
	return total + amount(pod.Spec.Overhead)
}

func TestPodRequestsAgainstModel(t *testing.T) {
	r := rand.New(rand.NewSource(7))
	for range 2000 {
		pod := randomPod(r)
		before := pod.DeepCopy()
		got, err := resources.PodRequests(pod)
		require.NoError(t, err)
		require.Equal(t, before, pod)
		for _, n := range []name{"cpu", "memory", "nvidia.com/gpu"} {
			require.Equal(t, modelRequests(pod, n), got.Get(n), "%s of %+v", n, pod)
		}
		// Of a status the helpers of Kubernetes 1.36 and 1.37 make different sums.
		pod.Status = corev1.PodStatus{}
		got, err = resources.PodRequests(pod)
		require.NoError(t, err)
		direct, err := resources.FromResourceList(resourcehelper.PodRequests(pod, resourcehelper.PodResourcesOptions{UseStatusResources: true}))
		require.NoError(t, err)
		require.Equal(t, direct.With("pods", 1), got, "the Kubernetes helper called directly")
	}
}

// TestPodRequestsFor: kube-schedulers differ on pods that are being resized, and on no others.
func TestPodRequestsFor(t *testing.T) {
	infeasible := []corev1.PodCondition{{Type: corev1.PodResizePending, Status: corev1.ConditionTrue, Reason: corev1.PodReasonInfeasible}}
	for _, tt := range []struct {
		name                       string
		pod                        corev1.Pod
		v1_35, v1_36, v1_37, every string // CPU
	}{
		{"nothing is resized", corev1.Pod{Spec: corev1.PodSpec{Containers: []corev1.Container{container("a", "cpu=1")}}}, "1", "1", "1", "1"},
		{"an init container whose resize is infeasible", corev1.Pod{
			Spec: corev1.PodSpec{InitContainers: []corev1.Container{container("i", "cpu=4")}, Containers: []corev1.Container{container("a", "cpu=1")}},
			Status: corev1.PodStatus{Conditions: infeasible,
				InitContainerStatuses: []corev1.ContainerStatus{status("i", "cpu=2", "cpu=2")}, ContainerStatuses: []corev1.ContainerStatus{status("a", "cpu=1", "cpu=1")}},
		}, "4", "4", "2", "4"},
		{"an init container that shrinks", corev1.Pod{
			Spec:   corev1.PodSpec{InitContainers: []corev1.Container{container("i", "cpu=2")}, Containers: []corev1.Container{container("a", "cpu=1")}},
			Status: corev1.PodStatus{InitContainerStatuses: []corev1.ContainerStatus{status("i", "cpu=3", "cpu=3")}},
		}, "2", "2", "3", "3"},
		{"one container grows while another shrinks", corev1.Pod{
			Spec:   corev1.PodSpec{Containers: []corev1.Container{container("a", "cpu=3"), container("b", "cpu=1")}},
			Status: corev1.PodStatus{ContainerStatuses: []corev1.ContainerStatus{status("a", "cpu=1", "cpu=1"), status("b", "cpu=3", "cpu=3")}},
		}, "6", "6", "4", "6"},
		{"the pod as a whole shrinks", corev1.Pod{
			Spec:   corev1.PodSpec{Containers: []corev1.Container{container("a", "")}, Resources: podLevel("cpu=1")},
			Status: corev1.PodStatus{Resources: podLevel("cpu=3"), AllocatedResources: quantities("cpu=2")},
		}, "1", "3", "3", "3"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for kubernetes, want := range map[string]string{"1.34": tt.v1_35, "1.35": tt.v1_35, "v1.36.3": tt.v1_36, "1.37": tt.v1_37, "1.38": tt.v1_37, "": tt.every} {
				got, err := resources.PodRequestsFor(&tt.pod, kubernetes)
				require.NoError(t, err)
				require.Equal(t, "cpu="+want+", pods=1", got.String(), "in %q", kubernetes)
			}
			latest, err := resources.PodRequests(&tt.pod)
			require.NoError(t, err)
			require.Equal(t, "cpu="+tt.v1_37+", pods=1", latest.String())
		})
	}
	_, err := resources.PodRequestsFor(&corev1.Pod{}, "1.20")
	require.ErrorContains(t, err, "1.34, 1.35, 1.36, 1.37, 1.38")
	_, err = resources.PodRequestsFor(nil, "")
	require.ErrorContains(t, err, "pod is nil")
}
