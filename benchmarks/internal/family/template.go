package family

import (
	"math"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// template is the pod of a workload: one container of common size, at times
// with a sidecar, an init container, scratch space or a priority, and with what
// admission adds to every pod.
func (m *maker) template() corev1.PodSpec {
	spec := corev1.PodSpec{
		RestartPolicy:      corev1.RestartPolicyAlways,
		DNSPolicy:          corev1.DNSClusterFirst,
		SchedulerName:      corev1.DefaultSchedulerName,
		ServiceAccountName: "default",
		Containers:         []corev1.Container{m.container()},
		Volumes:            []corev1.Volume{tokenVolume()},
	}
	grace := int64(corev1.DefaultTerminationGracePeriodSeconds)
	spec.TerminationGracePeriodSeconds = &grace
	for _, taint := range []string{corev1.TaintNodeNotReady, corev1.TaintNodeUnreachable} {
		seconds := int64(300)
		spec.Tolerations = append(spec.Tolerations, corev1.Toleration{
			Key: taint, Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoExecute, TolerationSeconds: &seconds,
		})
	}
	if m.chance(25) {
		spec.Containers = append(spec.Containers, helper("mesh", 100, 128))
	}
	if m.chance(10) {
		spec.InitContainers = []corev1.Container{helper("migrate", 100, 256)}
	}
	if m.chance(5) {
		high := int32(1000)
		spec.PriorityClassName, spec.Priority = "important", &high
	}
	return spec
}

// container draws sizes as clusters have them: many small requests, few large
// ones, and memory mostly between 1 and 8 GiB for each CPU.
func (m *maker) container() corev1.Container {
	milli := weighted(m.dice, []odds[int64]{
		{8, 20}, {10, 50}, {18, 100}, {11, 200}, {12, 250}, {15, 500}, {12, 1000}, {8, 2000}, {4, 4000}, {2, 8000},
	})
	gibPerCPU := weighted(m.dice, []odds[float64]{{10, 0.5}, {15, 1}, {25, 2}, {30, 4}, {20, 8}})
	// Somebody measured, and set it a little lower or higher.
	gibPerCPU *= oneOf(m.dice, 0.8, 1, 1, 1.2)
	const step = 32 // MiB
	mebi := step * max(1, int64(math.Round(float64(milli)/1000*gibPerCPU*1024/step)))
	requests := amounts(milli, mebi)
	limits := corev1.ResourceList{corev1.ResourceMemory: requests[corev1.ResourceMemory]}
	if m.chance(10) {
		requests[corev1.ResourceEphemeralStorage] = *resource.NewQuantity(int64(1+m.IntN(4))<<29, resource.BinarySI)
	}
	return corev1.Container{
		Name:            "app",
		Image:           mixImage,
		ImagePullPolicy: corev1.PullIfNotPresent,
		Resources:       corev1.ResourceRequirements{Requests: requests, Limits: limits},
		Ports:           []corev1.ContainerPort{{Name: "http", ContainerPort: 8080, Protocol: corev1.ProtocolTCP}},
		VolumeMounts: []corev1.VolumeMount{
			{Name: tokenVolume().Name, ReadOnly: true, MountPath: "/var/run/secrets/kubernetes.io/serviceaccount"},
		},
	}
}

func helper(name string, milli, mebi int64) corev1.Container {
	return corev1.Container{Name: name, Image: mixImage, Resources: corev1.ResourceRequirements{Requests: amounts(milli, mebi)}}
}

// tokenVolume is what gives a pod the token of its service account.
func tokenVolume() corev1.Volume {
	return corev1.Volume{Name: "token", VolumeSource: corev1.VolumeSource{Projected: &corev1.ProjectedVolumeSource{
		Sources: []corev1.VolumeProjection{
			{ServiceAccountToken: &corev1.ServiceAccountTokenProjection{Path: "token"}},
			{ConfigMap: &corev1.ConfigMapProjection{LocalObjectReference: corev1.LocalObjectReference{Name: "kube-root-ca.crt"}}},
		},
	}}}
}
