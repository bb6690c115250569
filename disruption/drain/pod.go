package drain

import (
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/internal/podlife"
)

// systemCritical is the priority of the class system-cluster-critical, the
// lower one of the two that the system reserves.
const systemCritical = 2_000_000_000

// ObservePod reads a pod. volumes are the PersistentVolumes behind its claims. Labels are shared
// with the object. For a nil pod it returns the zero Pod.
func ObservePod(pod *corev1.Pod, volumes []string) Pod {
	if pod == nil {
		return Pod{}
	}
	p := Pod{
		Namespace: pod.Namespace, Name: pod.Name, UID: pod.UID, Labels: pod.Labels,
		PriorityClass: pod.Spec.PriorityClassName, Phase: pod.Status.Phase,
		Grace: DefaultGrace, DoNotDisrupt: pod.Annotations[v1.DoNotDisruptAnnotationKey],
		Priority:            podlife.Priority(pod),
		ToleratesDisruption: podlife.Tolerates(pod, v1.DisruptedNoScheduleTaint()),
		Ready:               podlife.ReadyStatus(pod),
		Volumes:             slices.Clone(volumes),
	}
	if s := pod.Spec.TerminationGracePeriodSeconds; s != nil {
		// Limited to 0 to 100 years, to avoid overflow.
		p.Grace = time.Duration(min(max(*s, 0), int64(100*365*24*3600))) * time.Second
	}
	if pod.DeletionTimestamp != nil {
		p.DeletionTime = pod.DeletionTimestamp.Time
	}
	if pod.Status.StartTime != nil {
		p.StartTime = pod.Status.StartTime.Time
	}
	for _, o := range pod.OwnerReferences {
		p.Daemon = p.Daemon || o.APIVersion == "apps/v1" && o.Kind == "DaemonSet"
		p.Mirror = p.Mirror || o.APIVersion == "v1" && o.Kind == "Node"
	}
	return p
}

// group returns the group of the pod.
func (p *Pod) group() Group {
	critical := p.PriorityClass == "system-cluster-critical" || p.PriorityClass == "system-node-critical" || p.Priority >= systemCritical
	switch {
	case critical && p.Daemon:
		return CriticalDaemon
	case critical:
		return Critical
	case p.Daemon:
		return Daemon
	}
	return Workload
}
