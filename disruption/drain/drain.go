package drain

import (
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	corev1 "k8s.io/api/core/v1"
)

// Fixed times of a drain.
const (
	// Minimum is how long a drain lasts at least: a pod may have been
	// bound before the scheduler saw the taint.
	Minimum = 5 * time.Second
	// StuckAfter is how long past its deletion time a terminating pod is
	// still waited for.
	StuckAfter = time.Minute
	// DefaultGrace is the grace period of a pod that states none.
	DefaultGrace = 30 * time.Second
)

// Mode says what happens at the deadline. The zero value means Force; Plan reports an
// error for a value that is none of the modes.
type Mode string

// The modes.
const (
	// Force deletes pods in time for the deadline: for a node that ends.
	Force Mode = "force"
	// Leave leaves at the deadline whatever is still there and deletes
	// nothing: for a node that reboots.
	Leave Mode = "leave"
)

// Group is a group of pods that are evicted together. The next begins when
// none of the one before is waited for any more.
type Group int

// The groups, in order.
const (
	// Workload are pods that are neither critical nor of a DaemonSet.
	Workload Group = iota + 1
	// Daemon are pods of DaemonSets that are not critical.
	Daemon
	// Critical are critical pods that are not of a DaemonSet.
	Critical
	// CriticalDaemon are critical pods of DaemonSets.
	CriticalDaemon
)

// String is the group in words.
func (t Group) String() string {
	switch t {
	case Workload:
		return "workload"
	case Daemon:
		return "daemon"
	case Critical:
		return "critical"
	case CriticalDaemon:
		return "critical daemon"
	}
	return fmt.Sprintf("Group(%d)", int(t))
}

// Pod is a pod on a node to drain. ObservePod makes it from the
// object.
type Pod struct {
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

// Budget is a PodDisruptionBudget. ObserveBudget makes it from the
// object.
type Budget struct {
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
	// Granted are the names of the pods in status.disruptedPods, in any order: those
	// whose eviction the API server has counted and that have not gone. Whoever asked
	// for it may have ended before the pod was deleted. Plan deletes such a pod with
	// its own grace; the budget would refuse another eviction for two minutes.
	Granted []string
}

// Attachment is a VolumeAttachment of a node.
type Attachment struct {
	// Name is the name of the VolumeAttachment.
	Name string
	// Volume is the PersistentVolume, empty for one that has none.
	Volume string
}

// Node is a node to drain.
type Node struct {
	// Name is its name, unique among the nodes. Required.
	Name string
	// Reason is why it goes, for NodePlan.Reason. Nothing depends on it.
	Reason string
	// Pods are all pods bound to it.
	Pods []Pod
	// Attachments are the volumes attached to it.
	Attachments []Attachment
	// Gone is whether the machine is gone: the Node is not Ready, and the cloud answers that
	// it has no such machine. Then nothing is drained: no pod runs, and no volume is in use.
	Gone bool
	// Since is when the drain began, zero if it begins now.
	Since time.Time
	// Deadline is the termination deadline: when all pods are gone at the
	// latest. Zero is none.
	Deadline time.Time
}

// Input is what is drained together, because the same budgets hold.
type Input struct {
	// Nodes are the nodes to drain, in any order.
	Nodes []Node
	// Budgets are all PodDisruptionBudgets, in any order.
	Budgets []Budget
}

// Options say how to drain. The zero value, and nil, drain as Karpenter
// does.
type Options struct {
	// Mode says what happens at the deadline. Default Force.
	Mode Mode
	// GroupTimeout, if positive, is how long after the beginning of the drain
	// the second group begins even if the first is still waited for, and twice
	// and three times as long the third and fourth: one pod that cannot be
	// evicted then does not hold up all the others. Zero waits.
	GroupTimeout time.Duration
}
