package volumes

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/dovetail-sdk/dovetail/internal/engine/constraint"
	"github.com/dovetail-sdk/dovetail/internal/engine/model"
	"github.com/dovetail-sdk/dovetail/internal/engine/volume"
	"github.com/dovetail-sdk/dovetail/internal/podkey"
)

// Kind describes shared volumes to the engine.
func Kind() constraint.Kind {
	return constraint.Kind{
		Name:     "volumes",
		Cause:    model.CauseVolumes,
		RuledOut: "volumes",
		BoundKey: boundKey,
		Holds:    func(pod *corev1.Pod) []constraint.Hold { return Disks(volume.Disks(pod)) },

		Sample: func(pod *corev1.Pod) {
			pod.Spec.Volumes = []corev1.Volume{{Name: "data", VolumeSource: corev1.VolumeSource{
				GCEPersistentDisk: &corev1.GCEPersistentDiskVolumeSource{PDName: "sample"},
			}}}
		},

		TakenByDaemons: "a DaemonSet has a disk of the pod, or binds a host port of it,",
	}
}

// Disks converts disks to holds. A hold has only the name of a disk: port numbers and addresses,
// which other holds have, stay empty.
func Disks(disks []volume.Disk) []constraint.Hold {
	var out []constraint.Hold
	for _, d := range disks {
		out = append(out, constraint.Hold{Name: d.Name, Reads: d.ReadOnly})
	}
	return out
}

// boundKey writes the disks and claims of a pod.
func boundKey(w *podkey.Writer, pod *corev1.Pod) {
	if len(pod.Spec.Volumes) == 0 {
		return
	}
	for _, d := range volume.Disks(pod) {
		w.Text(d.Name)
		if d.ReadOnly {
			w.Number(1)
		} else {
			w.Number(0)
		}
	}
	w.Number(-1)
	if HasClaims(pod) {
		for _, claim := range volume.Claims(pod) {
			w.Text(claim)
		}
	}
}

// HasClaims says whether a pod has a volume with a PersistentVolumeClaim.
func HasClaims(pod *corev1.Pod) bool {
	return slices.ContainsFunc(pod.Spec.Volumes, func(v corev1.Volume) bool { return v.PersistentVolumeClaim != nil })
}
