package exclusive

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
)

// Resource is a host port or a disk that a pod takes.
type Resource struct {
	Name  string
	Port  bool   // it is a host port, otherwise a disk
	IP    string // of a port; "" means every address
	Share bool   // of a disk: pods may share it if all of them set Share
}

// Of lists what a pod takes of its node.
func Of(pod *corev1.Pod) (out []Resource) {
	for i := range pod.Spec.InitContainers {
		// Init containers that end leave their ports to others.
		if c := &pod.Spec.InitContainers[i]; c.RestartPolicy != nil && *c.RestartPolicy == corev1.ContainerRestartPolicyAlways {
			out = append(out, ports(c)...)
		}
	}
	for i := range pod.Spec.Containers {
		out = append(out, ports(&pod.Spec.Containers[i])...)
	}
	for i := range pod.Spec.Volumes {
		disk := func(share bool, format string, args ...any) {
			out = append(out, Resource{Name: fmt.Sprintf(format, args...), Share: share})
		}
		switch v := &pod.Spec.Volumes[i]; {
		case v.GCEPersistentDisk != nil:
			disk(v.GCEPersistentDisk.ReadOnly, "disk %s", v.GCEPersistentDisk.PDName)
		case v.AWSElasticBlockStore != nil:
			disk(false, "volume %s", v.AWSElasticBlockStore.VolumeID)
		case v.ISCSI != nil:
			disk(v.ISCSI.ReadOnly, "target %s", v.ISCSI.IQN)
		case v.RBD != nil:
			for _, monitor := range v.RBD.CephMonitors {
				disk(v.RBD.ReadOnly, "image %s of pool %s at %s", v.RBD.RBDImage, v.RBD.RBDPool, monitor)
			}
		}
	}
	return out
}

func ports(c *corev1.Container) (out []Resource) {
	for _, port := range c.Ports {
		if port.HostPort <= 0 {
			continue
		}
		r := Resource{Port: true, IP: port.HostIP}
		if r.IP == "0.0.0.0" {
			r.IP = ""
		}
		protocol := port.Protocol
		if protocol == "" {
			protocol = corev1.ProtocolTCP
		}
		r.Name = fmt.Sprintf("port %d/%s", port.HostPort, protocol)
		out = append(out, r)
	}
	return out
}

// Clashes says whether two pods that take these cannot be on one node.
func (r Resource) Clashes(other Resource) bool {
	return r.Port == other.Port && r.Name == other.Name && !(r.Share && other.Share) &&
		(r.IP == "" || other.IP == "" || r.IP == other.IP)
}
