package disruption

import (
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	corev1 "k8s.io/api/core/v1"
)

// Fixed times of a drain.
const (
	// DrainMinimum is how long a drain lasts at least: a pod may have been
	// bound before the scheduler saw the taint.
	DrainMinimum = 5 * time.Second
	// DrainStuckAfter is how long past its deletion time a terminating pod is
	// still waited for.
	DrainStuckAfter = time.Minute
	// DrainDefaultGrace is the grace period of a pod that states none.
	DrainDefaultGrace = 30 * time.Second
)

// DrainMode says what happens at the deadline.
type DrainMode string

// The modes.
const (
	// DrainForce deletes pods in time for the deadline: for a node that ends.
	// The zero value means the same.
	DrainForce DrainMode = "force"
	// DrainLeave leaves at the deadline whatever is still there and deletes
	// nothing: for a node that reboots.
	DrainLeave DrainMode = "leave"
)

// DrainTier is a group of pods that are evicted together. The next begins when
// none of the one before is waited for any more.
type DrainTier int

// The tiers, in order.
const (
	// DrainWorkload are pods that are neither critical nor of a DaemonSet.
	DrainWorkload DrainTier = iota + 1
	// DrainDaemon are pods of DaemonSets that are not critical.
	DrainDaemon
	// DrainCritical are critical pods that are not of a DaemonSet.
	DrainCritical
	// DrainCriticalDaemon are critical pods of DaemonSets.
	DrainCriticalDaemon
)

// String is the tier in words.
func (t DrainTier) String() string {
	switch t {
	case DrainWorkload:
		return "workload"
	case DrainDaemon:
		return "daemon"
	case DrainCritical:
		return "critical"
	case DrainCriticalDaemon:
		return "critical daemon"
	}
	return fmt.Sprintf("DrainTier(%d)", int(t))
}

// DrainPod is a pod on a node to drain. ObserveDrainPod makes it from the
// object.
type DrainPod struct {
	// Namespace and Name identify the pod. Required.
	Namespace, Name string
	// UID is carried on as a precondition.
	UID types.UID
	// Labels are what budgets select by.
	Labels map[string]string
	// Priority is its numeric priority, PriorityClass the name of the class. A
	// pod is critical if the class is one of the two system ones or the
	// priority is at least theirs.
	Priority      int32
	PriorityClass string
	// Daemon is whether a DaemonSet owns it, Mirror whether a Node does, as is
	// so for the mirror of a static pod.
	Daemon, Mirror bool
	// Phase is its phase: one that has ended is not waited for, and no budget
	// protects one that is Pending.
	Phase corev1.PodPhase
	// Ready is the status of its condition Ready, empty if it has none.
	Ready corev1.ConditionStatus
	// Grace is its termination grace period.
	Grace time.Duration
	// DeletionTime is its deletion time, by which its grace is over. Zero if it
	// is not being deleted.
	DeletionTime time.Time
	// ToleratesDisruption is whether it tolerates the disrupted taint. Such a
	// pod may stay.
	ToleratesDisruption bool
	// DoNotDisrupt is the annotation of that name: true, or a duration from
	// StartTime. Other values protect nothing.
	DoNotDisrupt string
	// StartTime is when the pod was started. A duration without it protects for
	// ever.
	StartTime time.Time
	// Volumes are the PersistentVolumes it uses.
	Volumes []string
}

// DrainBudget is a PodDisruptionBudget. ObserveDrainBudget makes it from the
// object.
type DrainBudget struct {
	// Namespace and Name identify the budget. Required.
	Namespace, Name string
	// Selector selects pods of the namespace. Nil selects none, an empty one
	// all.
	Selector *metav1.LabelSelector
	// Allowed is status.disruptionsAllowed.
	Allowed int
	// AlwaysAllow is whether the policy for unhealthy pods is AlwaysAllow: then
	// pods that are not ready may always be evicted. Otherwise they may if
	// Healthy is at least Desired, and Desired positive.
	AlwaysAllow bool
	// Healthy and Desired are status.currentHealthy and status.desiredHealthy.
	Healthy, Desired int
}

// DrainAttachment is a VolumeAttachment of a node.
type DrainAttachment struct {
	// Name is the name of the VolumeAttachment.
	Name string
	// Volume is the PersistentVolume, empty for one that has none.
	Volume string
}

// DrainNode is a node to drain.
type DrainNode struct {
	// Name is its name, unique among the nodes. Required.
	Name string
	// Pods are all pods bound to it.
	Pods []DrainPod
	// Attachments are the volumes attached to it.
	Attachments []DrainAttachment
	// Since is when the drain began, zero if it begins now.
	Since time.Time
	// Deadline is the termination deadline: when all pods are gone at the
	// latest. Zero is none.
	Deadline time.Time
}

// DrainInput is what is drained together, because the same budgets hold.
type DrainInput struct {
	// Nodes are the nodes to drain, in any order.
	Nodes []DrainNode
	// Budgets are all PodDisruptionBudgets, in any order.
	Budgets []DrainBudget
}

// DrainOptions say how to drain. The zero value, and nil, drain as Karpenter
// does.
type DrainOptions struct {
	// Mode says what happens at the deadline. Default DrainForce.
	Mode DrainMode
	// TierPatience, if positive, is how long after the beginning of the drain
	// the second tier begins even if the first is still waited for, and twice
	// and three times as long the third and fourth: one pod that cannot be
	// evicted then does not hold up all the others. Zero waits.
	TierPatience time.Duration
}
