package provisioning

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/internal/engine/model"
)

// Buffer is headroom to keep: Replicas pods of a template that do not exist and give way to every
// real pod. It corresponds to a CapacityBuffer of autoscaling.x-k8s.io with its references
// resolved; BufferSpec computes the number of replicas. Buffers are identified by namespace and
// name.
type Buffer struct {
	// Namespace and Name are those of the CapacityBuffer. The pods count as pods of that namespace.
	// Name is required.
	Namespace, Name string

	// UID is that of the CapacityBuffer. Optional; with it, the UIDs of the pods differ from those
	// of an earlier buffer of the same name.
	UID types.UID

	// Template is the template of each pod. Pods describes which fields are left out.
	Template corev1.PodTemplateSpec

	// Replicas is the number of pods, from 0 to MaxBufferReplicas.
	Replicas int
}

// MaxBufferReplicas is the largest number of pods of one buffer: as many as Kubernetes supports in
// a cluster. So a mistyped quantity gives an error and does not fill the memory.
const MaxBufferReplicas = 150_000

// bufferPodPrefix begins the names of the pods of all buffers.
const bufferPodPrefix = "capacity-buffer-"

// Pods returns the virtual pods of the buffer, in the order of their indexes, which start at 0.
// Each is a pod of the template as a scheduler would see it:
//
//   - Its name is capacity-buffer-<name>-<index>, its namespace that of the
//     buffer, its UID <UID>-<index>, or <namespace>/<name>-<index> if the
//     buffer has no UID.
//   - It has the labels of the template. Its annotations are those that mark a
//     virtual pod and name its buffer, and no others; see BufferOf.
//   - Volumes of PersistentVolumeClaims, ephemeral volumes and their mounts are left out, because
//     the claims of a pod that does not exist are never bound. Scheduling gates are left out too,
//     because no controller would remove them.
//   - spec.nodeName is empty. spec.priority is the lowest there is, and the
//     priority class is left out.
//   - It has the requests and host ports that the API server gives to a created pod; see Admitted.
//     The template must contain what its RuntimeClass would add.
//   - Its status says that it is pending (PodScheduled is False with the reason Unschedulable) and
//     has no phase.
//
// Every call makes new pods, which share nothing with the buffer or with the pods of another call.
// The pods of one call share everything that their specs, labels, annotations and conditions point
// at, so do not write to any of it. A call takes the time of one copy of the template plus a small
// constant for each pod. At most MaxBufferReplicas pods are made, and none if Replicas is negative.
func (b Buffer) Pods() []*corev1.Pod {
	n := min(max(b.Replicas, 0), MaxBufferReplicas)
	if n == 0 {
		return nil
	}
	model := b.model()
	uid := string(b.UID)
	if uid == "" {
		uid = b.Namespace + "/" + b.Name
	}
	all := make([]corev1.Pod, n)
	pods := make([]*corev1.Pod, n)
	for i := range all {
		index := strconv.Itoa(i)
		all[i] = *model
		all[i].Name = bufferPodPrefix + b.Name + "-" + index
		all[i].UID = types.UID(uid + "-" + index)
		pods[i] = &all[i]
	}
	return pods
}

// model returns a pod with everything that the pods of the buffer have in common.
func (b *Buffer) model() *corev1.Pod {
	template := b.Template.DeepCopy()
	lowest := int32(math.MinInt32)
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: b.Namespace,
			Labels:    template.Labels,
			Annotations: map[string]string{
				v1.CapacityBufferFakePodAnnotationKey:   "true",
				v1.CapacityBufferNameAnnotationKey:      b.Name,
				v1.CapacityBufferNamespaceAnnotationKey: b.Namespace,
			},
		},
		Spec: template.Spec,
		Status: corev1.PodStatus{Conditions: []corev1.PodCondition{{
			Type:   corev1.PodScheduled,
			Status: corev1.ConditionFalse,
			Reason: corev1.PodReasonUnschedulable,
		}}},
	}
	pod.Spec.NodeName = ""
	pod.Spec.Priority = &lowest
	pod.Spec.PriorityClassName = ""
	pod.Spec.SchedulingGates = nil
	withoutClaims(&pod.Spec)
	pod, _ = Admitted(pod) // only a RuntimeClass gives an error
	return pod
}

// withoutClaims removes the volumes that need a PersistentVolumeClaim, and
// their mounts.
func withoutClaims(spec *corev1.PodSpec) {
	gone := map[string]bool{}
	spec.Volumes = slices.DeleteFunc(spec.Volumes, func(v corev1.Volume) bool {
		if v.PersistentVolumeClaim == nil && v.Ephemeral == nil {
			return false
		}
		gone[v.Name] = true
		return true
	})
	if len(gone) == 0 {
		return
	}
	for _, containers := range [][]corev1.Container{spec.InitContainers, spec.Containers} {
		for i := range containers {
			c := &containers[i]
			c.VolumeMounts = slices.DeleteFunc(c.VolumeMounts, func(m corev1.VolumeMount) bool { return gone[m.Name] })
			c.VolumeDevices = slices.DeleteFunc(c.VolumeDevices, func(d corev1.VolumeDevice) bool { return gone[d.Name] })
		}
	}
}

// BufferOf returns the namespace and name of the buffer of a virtual pod, and false for a real pod.
// A virtual pod is recognised by its annotation karpenter.sh/capacity-buffer-fake-pod.
func BufferOf(pod *corev1.Pod) (namespace, name string, ok bool) {
	if pod == nil || pod.Annotations[v1.CapacityBufferFakePodAnnotationKey] != "true" {
		return "", "", false
	}
	return pod.Annotations[v1.CapacityBufferNamespaceAnnotationKey], pod.Annotations[v1.CapacityBufferNameAnnotationKey], true
}

// sortedBuffers returns the buffers sorted by namespace and name. It reports buffers that have no
// name, are listed twice, or have an invalid number of replicas.
func sortedBuffers(buffers []Buffer, f *model.Faults) []Buffer {
	sorted := make([]Buffer, 0, len(buffers))
	for i, b := range buffers {
		object := bufferObject(&b)
		switch {
		case b.Name == "":
			f.Add(fmt.Sprintf("Buffers[%d]", i), "Name", "is empty; buffers are told apart by namespace and name")
			continue
		case b.Replicas < 0:
			f.Add(object, "Replicas", "is %d; use zero or more", b.Replicas)
		case b.Replicas > MaxBufferReplicas:
			f.Add(object, "Replicas", "is %d; use at most %d, or several buffers", b.Replicas, MaxBufferReplicas)
			b.Replicas = 1 // shows the faults of the template
		}
		sorted = append(sorted, b)
	}
	slices.SortStableFunc(sorted, func(a, b Buffer) int { return compareBuffers(&a, &b) })
	return slices.CompactFunc(sorted, func(a, b Buffer) bool {
		if compareBuffers(&a, &b) != 0 {
			return false
		}
		f.Add(bufferObject(&b), "", "is listed twice in Buffers; list each buffer once")
		return true
	})
}

func compareBuffers(a, b *Buffer) int {
	return cmp.Or(strings.Compare(a.Namespace, b.Namespace), strings.Compare(a.Name, b.Name))
}

func bufferObject(b *Buffer) string {
	return fmt.Sprintf("Buffer %q", b.Namespace+"/"+b.Name)
}
