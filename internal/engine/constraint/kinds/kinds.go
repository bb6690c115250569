package kinds

import (
	"errors"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/dovetail-sdk/dovetail/internal/engine/constraint"
	"github.com/dovetail-sdk/dovetail/internal/engine/constraint/affinity"
	"github.com/dovetail-sdk/dovetail/internal/engine/constraint/antiaffinity"
	"github.com/dovetail-sdk/dovetail/internal/engine/constraint/ports"
	"github.com/dovetail-sdk/dovetail/internal/engine/constraint/spread"
	"github.com/dovetail-sdk/dovetail/internal/engine/constraint/volumes"
	"github.com/dovetail-sdk/dovetail/internal/engine/model"
	"github.com/dovetail-sdk/dovetail/internal/engine/volume"
	"github.com/dovetail-sdk/dovetail/internal/podkey"
	"github.com/dovetail-sdk/dovetail/internal/podlife"
)

// list has the kinds. A new kind is a folder next to the others and a line here.
var list = [...]constraint.Kind{
	spread.Kind(),
	affinity.Kind(),
	antiaffinity.Kind(),
	ports.Kind(),
	volumes.Kind(),
}

// disks is the index of the kind that describes disks.
var disks = slices.IndexFunc(list[:], func(k constraint.Kind) bool { return k.Cause == model.CauseVolumes })

// limited says whether any kind has limits.
var limited = slices.ContainsFunc(list[:], func(k constraint.Kind) bool { return k.Limits != nil })

// All returns the kinds in the order of the list.
func All() []constraint.Kind { return slices.Clone(list[:]) }

// Of returns the kind with an index.
func Of(kind int) constraint.Kind { return list[kind] }

// ByCause returns the kind with a cause; false if no kind has it.
func ByCause(cause model.Cause) (constraint.Kind, bool) {
	i := slices.IndexFunc(list[:], func(k constraint.Kind) bool { return k.Cause == cause })
	if i < 0 {
		return constraint.Kind{}, false
	}
	return list[i], true
}

// Any says whether a pending pod may have constraints with other pods.
func Any(pod *corev1.Pod, defaults bool) bool {
	for i := range list {
		if has := list[i].Has; has != nil && has(pod, defaults) {
			return true
		}
	}
	return false
}

// WriteTowards writes everything that decides which constraints with other pods a pending pod has,
// except what the pod holds of its node.
func WriteTowards(w *podkey.Writer, pod *corev1.Pod, defaults bool) {
	for i := range list {
		if has := list[i].Has; has != nil && has(pod, defaults) {
			w.Number(int64(i))
			list[i].Key(w, pod, defaults)
		}
	}
}

// WriteWanted writes what a pending pod holds of its node, except disks: package workload knows
// which disks several pods name.
func WriteWanted(w *podkey.Writer, pod *corev1.Pod) {
	for i := range list {
		if list[i].Holds != nil && list[i].Key != nil {
			list[i].Key(w, pod, false)
		}
	}
}

// WriteBound writes what the constraints of a running pod mean to other pods.
func WriteBound(w *podkey.Writer, pod *corev1.Pod) {
	if limited && podlife.OfDaemonSet(pod) { // limits neither count DaemonSet pods nor apply to them
		w.Number(1)
	}
	for i := range list {
		if write := list[i].BoundKey; write != nil {
			write(w, pod)
		}
	}
}

// Wanted lists what a pending pod holds of its node, except disks.
func Wanted(pod *corev1.Pod) []constraint.Hold { return holds(pod, false) }

// Held lists what a running pod holds of its node.
func Held(pod *corev1.Pod) []constraint.Hold { return holds(pod, true) }

func holds(pod *corev1.Pod, runs bool) []constraint.Hold {
	var out []constraint.Hold
	for i := range list {
		if list[i].Holds != nil && (runs || list[i].Key != nil) {
			out = append(out, numbered(i, list[i].Holds(pod))...)
		}
	}
	return out
}

// Limits lists the pod's bounds on the number of pods on its node.
func Limits(pod *corev1.Pod) ([]constraint.Limit, error) { return limits(list[:], pod) }

func limits(of []constraint.Kind, pod *corev1.Pod) ([]constraint.Limit, error) {
	var out []constraint.Limit
	var faults []error
	for i := range of {
		if of[i].Limits == nil {
			continue
		}
		some, err := of[i].Limits(pod)
		for _, l := range some {
			l.Kind = i
			out = append(out, l)
		}
		if err != nil {
			faults = append(faults, err)
		}
	}
	if len(faults) > 0 {
		return nil, errors.Join(faults...)
	}
	return out, nil
}

// HeldDisks converts disks to holds.
func HeldDisks(of []volume.Disk) []constraint.Hold { return numbered(disks, volumes.Disks(of)) }

// IsDisk says whether a hold is a disk.
func IsDisk(h constraint.Hold) bool { return h.Kind == disks }

func numbered(kind int, holds []constraint.Hold) []constraint.Hold {
	for i := range holds {
		holds[i].Kind = kind
	}
	return holds
}

// Clash says whether two pods cannot be on one node because of their holds.
func Clash(a, b []constraint.Hold) bool {
	return slices.ContainsFunc(a, func(h constraint.Hold) bool { return slices.ContainsFunc(b, h.Clashes) })
}
