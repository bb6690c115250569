package drain

import (
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/types"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
)

// Fixed times of a drain.
const (
	// Minimum is the shortest duration of a drain: a pod may be bound before the scheduler sees the
	// taint.
	Minimum = 5 * time.Second
	// StuckAfter is how long after its deletion time a drain still waits for a terminating pod.
	StuckAfter = time.Minute
	// DefaultGrace is the grace period of a pod that states none.
	DefaultGrace = 30 * time.Second
)

// Mode says what happens at the deadline. The zero value means Force; Plan reports an
// error for a value that is none of the modes.
type Mode string

// The modes.
const (
	// Force deletes pods in time for the deadline: for a node that is removed.
	Force Mode = "force"
	// Leave deletes nothing and leaves the remaining pods at the deadline: for a node that is
	// rebooted.
	Leave Mode = "leave"
)

// Group is a group of pods that are evicted together. The next group begins when the drain waits
// for no pod of the previous one.
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

// String returns the group in words.
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
	// UID is the precondition of its eviction and deletion.
	UID types.UID
	// Labels are matched with the selectors of budgets.
	Labels map[string]string
	// Priority is its numeric priority, PriorityClass the name of the class. A
	// pod is critical if the class is one of the two system ones or the
	// priority is at least theirs.
	Priority      int32
	PriorityClass string
	// Daemon is whether a DaemonSet owns it, Mirror whether a Node owns it, as for the mirror of a
	// static pod.
	Daemon, Mirror bool
	// Phase is its phase: a drain does not wait for a pod that has ended, and no budget protects
	// one that is Pending.
	Phase corev1.PodPhase
	// Ready is the status of its condition Ready, empty if it has none.
	Ready corev1.ConditionStatus
	// Grace is its termination grace period.
	Grace time.Duration
	// DeletionTime is its deletionTimestamp, the end of its grace period. Zero if it is not being
	// deleted.
	DeletionTime time.Time
	// ToleratesDisruption is whether it tolerates the disrupted taint. Such a
	// pod may stay.
	ToleratesDisruption bool
	// DoNotDisrupt is the annotation of that name: true, or a duration from
	// StartTime. Other values protect nothing.
	DoNotDisrupt string
	// StartTime is when the pod was started. Without it a duration in DoNotDisrupt protects
	// forever.
	StartTime time.Time
	// Volumes are the PersistentVolumes it uses.
	Volumes []string
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
	// Reason is why it is removed, for NodePlan.Reason. Nothing depends on it.
	Reason string
	// Pods are all pods bound to it.
	Pods []Pod
	// Attachments are the volumes attached to it.
	Attachments []Attachment
	// Gone is whether the machine is gone: the Node is not Ready, and the cloud answers that it has
	// no such machine. Then there is nothing to drain: no pod runs, and no volume is in use.
	Gone bool
	// Since is when the drain began, zero if it begins now.
	Since time.Time
	// Deadline is the termination deadline, by which all pods are gone. Zero means none.
	Deadline time.Time
}

// Input is the nodes that are drained together, because they share budgets.
type Input struct {
	// Nodes are the nodes to drain, in any order.
	Nodes []Node
	// Budgets are all PodDisruptionBudgets, in any order. status.disruptedPods has the pods whose
	// eviction the API server has counted, but which still exist. The program that requested it may
	// have stopped before the pod was deleted. Plan deletes such a pod with its own grace, because the
	// budget would refuse another eviction for two minutes.
	Budgets []*policyv1.PodDisruptionBudget
}

// Options say how to drain. The zero value, and nil, drain as Karpenter
// does.
type Options struct {
	// Mode says what happens at the deadline. Default Force.
	Mode Mode
	// GroupTimeout, if positive, is the time from the beginning of the drain after which the second
	// group begins even if pods of the first remain; the third and fourth begin after twice and
	// three times that time. So a pod that cannot be evicted does not block all others. Zero means
	// to wait.
	GroupTimeout time.Duration
}
