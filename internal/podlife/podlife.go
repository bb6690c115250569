// Package podlife says which pods have ended, which end with their node, which are protected from
// disruption, and what the eviction of a pod costs. All packages that read pods share these rules.
package podlife

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
)

// Finished reports whether a pod has succeeded or failed: it takes no room any more.
func Finished(pod *corev1.Pod) bool {
	return pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed
}

// OfDaemonSet reports whether the controller of a pod is a DaemonSet.
func OfDaemonSet(pod *corev1.Pod) bool {
	owner := metav1.GetControllerOfNoCopy(pod)
	return owner != nil && owner.Kind == "DaemonSet"
}

// SameDaemonSet reports whether a pod belongs to the DaemonSet that a representative stands for. A
// representative made from a template has no owner, but has the name of the DaemonSet.
func SameDaemonSet(representative, pod *corev1.Pod) bool {
	owner, own := metav1.GetControllerOfNoCopy(pod), metav1.GetControllerOfNoCopy(representative)
	switch {
	case !OfDaemonSet(pod) || pod.Namespace != representative.Namespace:
		return false
	case own == nil:
		return owner.Name == representative.Name
	case own.UID != "" && owner.UID != "":
		return own.UID == owner.UID
	}
	return own.Name == owner.Name
}

// Workload returns the kind and the name of the workload that a pod belongs to: its controller, or
// the pod itself if nothing controls it. A ReplicaSet whose name ends in the hash of its pod template
// belongs to a Deployment, and the Deployment is returned.
func Workload(pod *corev1.Pod) (kind, name string) {
	owner := metav1.GetControllerOfNoCopy(pod)
	if owner == nil {
		return "Pod", pod.Name
	}
	if hash := pod.Labels[appsv1.DefaultDeploymentUniqueLabelKey]; owner.Kind == "ReplicaSet" && hash != "" {
		if name, ok := strings.CutSuffix(owner.Name, "-"+hash); ok && name != "" {
			return "Deployment", name
		}
	}
	return owner.Kind, owner.Name
}

// StaysBehind reports whether a pod ends with its node: a DaemonSet or the node
// itself controls it, or it is a mirror pod.
func StaysBehind(pod *corev1.Pod) bool {
	if _, mirror := pod.Annotations[corev1.MirrorPodAnnotationKey]; mirror {
		return true
	}
	owner := metav1.GetControllerOfNoCopy(pod)
	return owner != nil && (owner.Kind == "DaemonSet" || owner.Kind == "Node")
}

// Moves reports whether a pod needs another place when its node is removed. It is false for a nil
// pod.
func Moves(pod *corev1.Pod) bool {
	return pod != nil && !StaysBehind(pod) && (pod.DeletionTimestamp == nil && !Finished(pod) || ComesBack(pod))
}

// ComesBack reports whether a pod is being deleted and will be created again under the same name.
// That is so for a pod of a StatefulSet, which may for a moment be both deleted and finished.
func ComesBack(pod *corev1.Pod) bool {
	return pod.DeletionTimestamp != nil && OwnedBy(pod, "apps/v1", "StatefulSet")
}

// OwnedBy reports whether some owner of a pod, its controller or not, is of a kind.
func OwnedBy(pod *corev1.Pod, version, kind string) bool {
	return slices.ContainsFunc(pod.OwnerReferences, func(o metav1.OwnerReference) bool {
		return o.APIVersion == version && o.Kind == kind
	})
}

// Moved returns a pod as it will be on another node, or pending if node is empty. A pod that is
// being deleted is returned as its successor, which is created again. The copy is shallow: nothing
// below it is modified.
func Moved(pod *corev1.Pod, node string) *corev1.Pod {
	out := *pod
	out.Spec.NodeName = node
	if out.DeletionTimestamp != nil {
		out.DeletionTimestamp = nil
		out.Status.Phase = corev1.PodPending // not that with which it ended
	}
	return &out
}

// Tolerates reports whether a pod tolerates a taint. Tolerations that compare numbers do not
// count.
func Tolerates(pod *corev1.Pod, t corev1.Taint) bool {
	return slices.ContainsFunc(pod.Spec.Tolerations, func(o corev1.Toleration) bool {
		if o.Effect != "" && o.Effect != t.Effect || o.Key != "" && o.Key != t.Key {
			return false
		}
		switch o.Operator {
		case corev1.TolerationOpExists:
			return true
		case corev1.TolerationOpEqual, "":
			return o.Key != "" && o.Value == t.Value
		}
		return false
	})
}

// Protected reports whether the annotation karpenter.sh/do-not-disrupt with the given text protects
// a pod from disruption now, and until when; zero means forever. The value true protects forever. A
// duration above zero protects until it has passed since the pod was started; a pod that has not
// started is protected. Other texts protect nothing and are an error.
func Protected(text string, started, now time.Time) (held bool, until time.Time, err error) {
	if text == "true" {
		return true, time.Time{}, nil
	}
	d, err := time.ParseDuration(text)
	switch {
	case err != nil || d <= 0:
		return false, time.Time{}, fmt.Errorf("%q counts for nothing; write true, or a duration above zero such as 30m", text)
	case started.IsZero():
		return true, time.Time{}, nil
	}
	if until = started.Add(d); !until.After(now) {
		return false, time.Time{}, nil
	}
	return true, until, nil
}

// EvictionUnits is a cost in units of 2^-27, of which every cost is a whole
// number. So sums are exact, whatever their order.
type EvictionUnits int64

const (
	// OneEviction is the cost of evicting a pod without priority and annotations.
	OneEviction     EvictionUnits = 1 << 27
	perPriority     EvictionUnits = 1 << 2 // 2^-25
	maxEvictionCost               = 10 * OneEviction
)

// Float returns the cost as it is displayed.
func (u EvictionUnits) Float() float64 { return float64(u) / float64(OneEviction) }

// CostOfEviction returns the cost of evicting a pod:
//
//	1 + c/2^27 + p/2^25, at least -10 and at most 10
//
// where p is the priority of the pod, 0 if it has none, and c the 32-bit integer in the annotation
// karpenter.sh/disruption-cost or, if that is missing and ignoreDeletionCost is not set, in
// controller.kubernetes.io/pod-deletion-cost. A value that is no such integer counts as 0, and
// unread is its annotation.
func CostOfEviction(pod *corev1.Pod, ignoreDeletionCost bool) (cost EvictionUnits, unread string) {
	cost = OneEviction
	key := v1.DisruptionCostAnnotationKey
	text, found := pod.Annotations[key]
	if !found && !ignoreDeletionCost {
		key = v1.PodDeletionCostAnnotationKey
		text, found = pod.Annotations[key]
	}
	if n, err := strconv.ParseInt(text, 10, 32); err == nil {
		cost += EvictionUnits(n)
	} else if found {
		unread = key
	}
	cost += EvictionUnits(Priority(pod)) * perPriority
	return min(max(cost, -maxEvictionCost), maxEvictionCost), unread
}

// Priority returns the priority of a pod, 0 without one, as kube-scheduler takes it.
func Priority(pod *corev1.Pod) int32 {
	if pod.Spec.Priority == nil {
		return 0
	}
	return *pod.Spec.Priority
}
