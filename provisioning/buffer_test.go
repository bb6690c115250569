package provisioning_test

import (
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/dovetail-sdk/dovetail/provisioning"
	"github.com/dovetail-sdk/dovetail/provisioning/resources"
	"github.com/dovetail-sdk/dovetail/provisioning/verify"
)

// bufferTemplate has one of everything that a virtual pod must not have.
func bufferTemplate() corev1.PodTemplateSpec {
	volume := func(name string, source corev1.VolumeSource) corev1.Volume {
		return corev1.Volume{Name: name, VolumeSource: source}
	}
	container := func(name string) corev1.Container {
		return corev1.Container{
			Name: name,
			VolumeMounts: []corev1.VolumeMount{
				{Name: "config", MountPath: "/a"}, {Name: "data", MountPath: "/b"}, {Name: "scratch", MountPath: "/c"},
			},
			VolumeDevices: []corev1.VolumeDevice{{Name: "data", DevicePath: "/dev/a"}, {Name: "raw", DevicePath: "/dev/b"}},
			Resources: corev1.ResourceRequirements{
				Requests: resources.MustParse("cpu=500m").ResourceList(),
				Limits:   resources.MustParse("cpu=2, memory=1Gi").ResourceList(),
			},
		}
	}
	priority := int32(1000)
	return corev1.PodTemplateSpec{
		ObjectMeta: metav1.ObjectMeta{
			Name: "ignored", Labels: map[string]string{"app": "web"},
			Annotations: map[string]string{"karpenter.sh/do-not-disrupt": "true"},
		},
		Spec: corev1.PodSpec{
			NodeName:          "old-node",
			NodeSelector:      map[string]string{"zone": "a"},
			Priority:          &priority,
			PriorityClassName: "high",
			SchedulingGates:   []corev1.PodSchedulingGate{{Name: "example.com/wait"}},
			Volumes: []corev1.Volume{
				volume("config", corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{}}),
				volume("data", corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: "data"}}),
				volume("scratch", corev1.VolumeSource{Ephemeral: &corev1.EphemeralVolumeSource{}}),
				volume("raw", corev1.VolumeSource{HostPath: &corev1.HostPathVolumeSource{Path: "/dev/b"}}),
			},
			InitContainers: []corev1.Container{container("init")},
			Containers:     []corev1.Container{container("main")},
		},
	}
}

func TestBufferPods(t *testing.T) {
	b := provisioning.Buffer{Namespace: "shop", Name: "spare", UID: "u-1", Template: bufferTemplate(), Replicas: 12}
	pods := b.Pods()
	require.Len(t, pods, 12)
	require.Equal(t, "capacity-buffer-spare-0", pods[0].Name)
	require.Equal(t, "capacity-buffer-spare-11", pods[11].Name)
	require.Equal(t, types.UID("u-1-11"), pods[11].UID)

	pod := pods[3]
	require.Equal(t, metav1.ObjectMeta{
		Namespace: "shop", Name: "capacity-buffer-spare-3", UID: "u-1-3",
		Labels: map[string]string{"app": "web"},
		Annotations: map[string]string{
			"karpenter.sh/capacity-buffer-fake-pod":  "true",
			"karpenter.sh/capacity-buffer-name":      "spare",
			"karpenter.sh/capacity-buffer-namespace": "shop",
		},
	}, pod.ObjectMeta)
	require.Empty(t, pod.Spec.NodeName)
	require.Empty(t, pod.Spec.PriorityClassName)
	require.Empty(t, pod.Spec.SchedulingGates)
	require.Equal(t, int32(math.MinInt32), *pod.Spec.Priority)
	require.Equal(t, map[string]string{"zone": "a"}, pod.Spec.NodeSelector)
	var names []string
	for _, v := range pod.Spec.Volumes {
		names = append(names, v.Name)
	}
	require.Equal(t, []string{"config", "raw"}, names)
	for _, c := range []corev1.Container{pod.Spec.InitContainers[0], pod.Spec.Containers[0]} {
		require.Equal(t, []corev1.VolumeMount{{Name: "config", MountPath: "/a"}}, c.VolumeMounts)
		require.Equal(t, []corev1.VolumeDevice{{Name: "raw", DevicePath: "/dev/b"}}, c.VolumeDevices)
	}
	requests, err := resources.PodRequests(pod)
	require.NoError(t, err)
	require.Equal(t, "cpu=500m, memory=1Gi, pods=1", requests.String(), "a limit stands for the request that is missing")
	require.Empty(t, pod.Status.Phase)
	require.Equal(t, []corev1.PodCondition{{Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: "Unschedulable"}}, pod.Status.Conditions)
	require.Equal(t, bufferTemplate(), b.Template, "the template is left alone")
}

// TestBufferPodsAreFresh: whatever is done to the pods of one call shows neither
// in the template nor in those of another.
func TestBufferPodsAreFresh(t *testing.T) {
	b := provisioning.Buffer{Namespace: "shop", Name: "spare", Template: bufferTemplate(), Replicas: 2}
	want, spoilt := b.Pods(), b.Pods()
	require.Equal(t, want, spoilt)
	pod := spoilt[0]
	pod.Labels["app"], pod.Annotations["x"], pod.Spec.NodeSelector["zone"] = "x", "x", "x"
	pod.Spec.Containers[0].Name, pod.Spec.Volumes[0].Name, *pod.Spec.Priority = "x", "x", 0
	pod.Spec.Containers[0].Resources.Requests["cpu"] = pod.Spec.Containers[0].Resources.Limits["memory"]
	pod.Status.Conditions[0].Reason = "x"
	require.Equal(t, bufferTemplate(), b.Template)
	require.Equal(t, want, b.Pods())
	require.Equal(t, types.UID("shop/spare-1"), want[1].UID)
}

func TestBufferPodsNumbers(t *testing.T) {
	for replicas, want := range map[int]int{
		math.MinInt: 0, -1: 0, 0: 0, 1: 1, 10_000: 10_000,
		math.MaxInt: provisioning.MaxBufferReplicas,
	} {
		b := provisioning.Buffer{Name: "spare", Replicas: replicas}
		pods := b.Pods()
		require.Len(t, pods, want)
		names := map[string]bool{}
		for _, pod := range pods {
			names[pod.Name] = true
		}
		require.Len(t, names, want)
	}
}

func TestBufferOf(t *testing.T) {
	b := provisioning.Buffer{Namespace: "shop", Name: "spare", Replicas: 1}
	namespace, name, ok := provisioning.BufferOf(b.Pods()[0])
	require.Equal(t, []any{"shop", "spare", true}, []any{namespace, name, ok})
	for _, pod := range []*corev1.Pod{nil, {}, shopPod("web-0", "cpu=1"),
		{ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{"karpenter.sh/capacity-buffer-fake-pod": "yes"}}}} {
		_, _, ok := provisioning.BufferOf(pod)
		require.False(t, ok)
	}
}

// TestBufferStatusOfRealPods: a pod of the input is real whatever its annotations
// say, and counts for no buffer.
func TestBufferStatusOfRealPods(t *testing.T) {
	in := shop()
	in.Buffers = []provisioning.Buffer{{Namespace: "shop", Name: "spare", Replicas: 1, Template: *bufferPodTemplate("cpu=1")}}
	copied := in.Buffers[0].Pods()[0].Annotations
	for _, p := range []*corev1.Pod{shopPod("copy", "cpu=1"), shopPod("huge", "cpu=1000")} {
		p.Annotations = copied
		in.Pods = append(in.Pods, p)
	}
	plan := solveShop(in)
	require.Len(t, plan.Unplaced, 1)
	require.Equal(t, "huge", plan.Unplaced[0].Pod.Name)
	require.Equal(t, []provisioning.BufferStatus{{Namespace: "shop", Name: "spare", Fresh: 1}}, plan.Buffers)
	require.Empty(t, verify.Plan(in, plan, nil))
}

// bufferPodTemplate requests what the text says, in one container.
func bufferPodTemplate(requests string) *corev1.PodTemplateSpec {
	return &corev1.PodTemplateSpec{Spec: shopPod("", requests).Spec}
}

func TestBufferCount(t *testing.T) {
	tests := []struct {
		name                      string
		replicas, percent, scaled *int32
		limits, requests          string
		want                      int
	}{
		{name: "replicas", replicas: new(int32(3)), want: 3},
		{name: "no replicas", replicas: new(int32(0)), want: 0},
		{name: "a share", percent: new(int32(20)), scaled: new(int32(50)), want: 10},
		{name: "a share is rounded up", percent: new(int32(10)), scaled: new(int32(11)), want: 2},
		{name: "the least share of something is one", percent: new(int32(1)), scaled: new(int32(1)), want: 1},
		{name: "a share of nothing", percent: new(int32(50)), scaled: new(int32(0)), want: 0},
		{name: "no share", percent: new(int32(0)), scaled: new(int32(50)), want: 0},
		{name: "more than all", percent: new(int32(150)), scaled: new(int32(4)), want: 6},
		{name: "the greater of both: replicas", replicas: new(int32(9)), percent: new(int32(10)), scaled: new(int32(50)), want: 9},
		{name: "the greater of both: the share", replicas: new(int32(2)), percent: new(int32(10)), scaled: new(int32(50)), want: 5},
		{name: "a share of nothing known is not looked at", replicas: new(int32(2)), percent: new(int32(500)), want: 2},
		{name: "limits cut", replicas: new(int32(9)), limits: "cpu=4", requests: "cpu=1500m", want: 2},
		{name: "limits that are wide enough", replicas: new(int32(2)), limits: "cpu=4", requests: "cpu=1500m", want: 2},
		{name: "limits alone", limits: "cpu=4, memory=10Gi", requests: "cpu=500m, memory=3Gi", want: 3},
		{name: "limits alone, of pods", limits: "pods=7", want: 7},
		{name: "a limit of nothing", replicas: new(int32(9)), limits: "cpu=0", requests: "cpu=1", want: 0},
		{name: "a resource that is not requested bounds nothing", limits: "nvidia.com/gpu=1, cpu=4", requests: "cpu=1", want: 4},
		{name: "a resource that is not requested beside replicas", replicas: new(int32(2)), limits: "nvidia.com/gpu=1", requests: "cpu=1", want: 2},
		{name: "extended resources", limits: "nvidia.com/gpu=9", requests: "nvidia.com/gpu=2", want: 4},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			spec := provisioning.BufferSpec{Replicas: test.replicas, Percentage: test.percent, ScaledReplicas: test.scaled,
				Limits: resources.MustParse(test.limits).ResourceList()}
			template := bufferPodTemplate(test.requests)
			before := template.DeepCopy()
			got, err := spec.Count(template)
			require.NoError(t, err)
			require.Equal(t, test.want, got)
			require.Equal(t, before, template)
		})
	}
}

// TestBufferCountOfLimits: the limit of a container stands for a request that
// is missing, as it does in the pods.
func TestBufferCountOfLimits(t *testing.T) {
	template := bufferTemplate()
	got, err := (&provisioning.BufferSpec{Limits: resources.MustParse("memory=5Gi, cpu=100").ResourceList()}).Count(&template)
	require.NoError(t, err)
	require.Equal(t, 5, got)
}

// Replicas out of range are a fault before any pods are made of them, next to the faults of the template.
func TestBufferTooLargeToBuild(t *testing.T) {
	in := newScene().In
	in.Buffers = []provisioning.Buffer{{Namespace: "shop", Name: "spare", Replicas: math.MaxInt, Template: *bufferPodTemplate("cpu=1")}}
	in.Nominated = map[types.NamespacedName]string{{Namespace: "shop", Name: "gone"}: "plain"}
	var err error
	require.Less(t, testing.AllocsPerRun(1, func() { _, err = provisioning.Prepare(in, nil) }), 10_000.0)
	require.Equal(t, []string{
		`Buffer "shop/spare": Replicas: is 9223372036854775807; use at most 150000, or several buffers`,
		`Nominated: shop/gone: is not among Pods: only a pod that waits can be tried on a node; leave it out`,
	}, texts(provisioning.Faults(err)))
}

func TestBufferCountFaults(t *testing.T) {
	tests := []struct {
		name     string
		spec     provisioning.BufferSpec
		template *corev1.PodTemplateSpec
		want     []string // one a line
	}{
		{"nothing", provisioning.BufferSpec{}, bufferPodTemplate("cpu=1"),
			[]string{"spec.replicas: Required value: nothing says how large"}},
		{"no template", provisioning.BufferSpec{Replicas: new(int32(1))}, nil,
			[]string{"spec.podTemplateRef: Required value: the pod template is nil"}},
		{"a share of nothing known", provisioning.BufferSpec{Percentage: new(int32(10))}, bufferPodTemplate("cpu=1"),
			[]string{"spec.percentage: Invalid value: 10: it is a share of the replicas of a scalableRef"}},
		{"limits that bound nothing", provisioning.BufferSpec{Limits: resources.MustParse("nvidia.com/gpu=4").ResourceList()}, bufferPodTemplate("cpu=1"),
			[]string{"spec.limits: Invalid value: 1: the pod template requests none"}},
		{"all negative", provisioning.BufferSpec{Replicas: new(int32(-1)), Percentage: new(int32(-2)), ScaledReplicas: new(int32(-3)),
			Limits: resources.MustParse("cpu=-4, memory=-5").ResourceList()}, bufferPodTemplate("cpu=-6"),
			[]string{"spec.replicas: Invalid value: -1", "spec.percentage: Invalid value: -2", "spec.scalableRef: Invalid value: -3",
				`spec.limits[cpu]: Invalid value: "-4"`, `spec.limits[memory]: Invalid value: "-5"`, `pod template: `}},
		{"too many", provisioning.BufferSpec{Limits: resources.MustParse("memory=1Ti").ResourceList()}, bufferPodTemplate("memory=1Mi"),
			[]string{"spec: Invalid value: 1048576: the buffer has this many pods"}},
		{"far too many", provisioning.BufferSpec{Percentage: new(int32(math.MaxInt32)), ScaledReplicas: new(int32(math.MaxInt32))}, bufferPodTemplate(""),
			[]string{"spec: Invalid value: 46116860141324207: the buffer has this many pods"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got, err := test.spec.Count(test.template)
			require.Zero(t, got)
			require.Error(t, err)
			lines := strings.Split(err.Error(), "\n")
			require.Len(t, lines, len(test.want), err.Error())
			for i := range lines {
				require.Contains(t, lines[i], test.want[i])
			}
		})
	}
}

// FuzzBufferCount: a count is never negative or too large, never above what the
// limits hold, and never above both numbers.
func FuzzBufferCount(f *testing.F) {
	f.Add(int32(3), int32(10), int32(50), int64(4000), int64(1500), uint8(15))
	f.Add(int32(-1), int32(math.MaxInt32), int32(math.MaxInt32), int64(math.MaxInt64), int64(1), uint8(8))
	f.Fuzz(func(t *testing.T, replicas, percent, scaled int32, limit, request int64, set uint8) {
		spec := provisioning.BufferSpec{}
		if set&1 != 0 {
			spec.Replicas = &replicas
		}
		if set&2 != 0 {
			spec.Percentage = &percent
		}
		if set&4 != 0 {
			spec.ScaledReplicas = &scaled
		}
		if set&8 != 0 {
			spec.Limits = resources.New(map[corev1.ResourceName]int64{"cpu": limit}).ResourceList()
		}
		pod := shopPod("", "")
		pod.Spec.Containers[0].Resources.Requests = resources.New(map[corev1.ResourceName]int64{"cpu": request}).ResourceList()
		got, err := spec.Count(&corev1.PodTemplateSpec{Spec: pod.Spec})
		if err != nil {
			require.Zero(t, got)
			return
		}
		require.True(t, got >= 0 && got <= provisioning.MaxBufferReplicas)
		if set&8 != 0 && request > 0 {
			require.LessOrEqual(t, int64(got), limit/request)
		}
		if set&1 != 0 {
			most := int64(replicas)
			if set&6 == 6 {
				most = max(most, int64(math.Ceil(float64(scaled)*float64(percent)/100)))
			}
			require.LessOrEqual(t, int64(got), most)
		}
	})
}

func TestBufferConditions(t *testing.T) {
	reason := &provisioning.Explanation{Cause: provisioning.CauseNoNodePool}
	tests := []struct {
		name    string
		status  provisioning.BufferStatus
		want    metav1.ConditionStatus
		reason  string
		message string
	}{
		{"no pods", provisioning.BufferStatus{}, metav1.ConditionFalse, "BufferEmpty", "the buffer is of no pods"},
		{"all fit", provisioning.BufferStatus{Existing: 4}, metav1.ConditionTrue, "FitsExistingCapacity", "all 4 pods fit on existing nodes"},
		{"some wait", provisioning.BufferStatus{Existing: 4, Fresh: 1}, metav1.ConditionFalse, "RequiresNewCapacity",
			"of 5 pods, 4 fit on existing nodes, 1 wait for new ones and 0 have no place"},
		{"some have no place", provisioning.BufferStatus{Unplaced: 2, Explanation: reason}, metav1.ConditionFalse, "RequiresNewCapacity",
			"of 2 pods, 0 fit on existing nodes, 0 wait for new ones and 2 have no place: there is no NodePool to launch a node from"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			require.Equal(t, []metav1.Condition{
				{Type: "Provisioning", Status: test.want, Reason: test.reason, Message: test.message},
				{Type: "ReadyForProvisioning", Status: metav1.ConditionTrue, Reason: "Resolved"},
			}, test.status.Conditions())
		})
	}
	require.Equal(t, []metav1.Condition{
		{Type: "Provisioning", Status: metav1.ConditionFalse, Reason: "NotReadyForProvisioning"},
		{Type: "ReadyForProvisioning", Status: metav1.ConditionFalse, Reason: "PodTemplateNotFound", Message: "no PodTemplate web"},
	}, provisioning.UnresolvedBuffer(provisioning.ReasonPodTemplateNotFound, "no PodTemplate web"))
}
