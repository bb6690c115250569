package provisioning

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
	"github.com/dovetail-sdk/dovetail/provisioning/resources"
)

// podSpec is what pods ask for that are alike but for their constraints towards
// others, worked out once for all.
type podSpec struct {
	of       *corev1.Pod // one of them
	requests resources.List
	asked    requirements.Pod
	ports    []hostPort

	// What is wrong with the requests, and with what is asked of nodes.
	noRequests, notAsked error
}

// readSpec returns the number of the podSpec of a pod.
func (k *classifier) readSpec(pod *corev1.Pod, podID int) int32 {
	id, fresh := intern(k.specKeys, k.specKey(pod, podID), int32(len(k.specs)))
	if fresh {
		s := podSpec{of: pod, ports: hostPorts(pod)}
		s.requests, s.noRequests = resources.PodRequests(pod)
		s.asked, s.notAsked = requirements.FromPod(pod, k.p.vocabulary)
		s.ports = s.ports[:len(s.ports):len(s.ports)]
		k.specs = append(k.specs, s)
	}
	return id
}

// specKey returns the key of all that decides where a pod may run but its
// constraints towards others. What keeps a pod pending makes it one of a kind.
func (k *classifier) specKey(pod *corev1.Pod, podID int) []byte {
	buf := k.key.scheduling(pod)
	buf = append(buf, k.p.extras.key(pod, podID)...)
	if r := k.barred(pod); r != nil {
		buf = append(buf, r.Cause...)
		buf = append(buf, r.Detail...)
	}
	if k.headroom[pod] {
		buf = append(buf, "spare"...)
	}
	k.key.Buf = buf
	return buf
}
