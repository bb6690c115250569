package provisioning

import (
	"cmp"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/dovetail-sdk/dovetail/provisioning/internal/volume"
)

// hostPort is a port of the node that a pod binds. An empty address means all
// of the node's. A disk that a pod names without a claim, and that pods of one
// node may not share, is like a port: it has the number 0, its name in place of the
// protocol, and no address.
type hostPort struct {
	number   int32
	protocol corev1.Protocol
	address  string
	reads    bool // a disk that is only read: others may read it too
}

// held lists what a pod holds of its node: its ports and disks.
func held(pod *corev1.Pod) []hostPort {
	return append(hostPorts(pod), heldDisks(volume.Disks(pod))...)
}

// heldDisks lists disks as ports.
func heldDisks(disks []volume.Disk) []hostPort {
	var out []hostPort
	for _, d := range disks {
		out = append(out, hostPort{protocol: corev1.Protocol(d.Name), reads: d.ReadOnly})
	}
	return out
}

// isDisk says whether the port is a disk.
func (p hostPort) isDisk() bool { return p.number == 0 }

// hasDisks says whether a pod names a disk that pods of one node may not share.
func hasDisks(pod *corev1.Pod) bool {
	return slices.ContainsFunc(pod.Spec.Volumes, func(v corev1.Volume) bool {
		return v.AWSElasticBlockStore != nil || v.GCEPersistentDisk != nil || v.ISCSI != nil || v.RBD != nil
	})
}

// hostPorts lists the ports that a pod binds, sorted, each once. Of init
// containers only those that keep running (sidecars) count, as for
// kube-scheduler.
func hostPorts(pod *corev1.Pod) []hostPort {
	var out []hostPort
	for i := range pod.Spec.Containers {
		out = addHostPorts(out, &pod.Spec.Containers[i])
	}
	for i := range pod.Spec.InitContainers {
		if c := &pod.Spec.InitContainers[i]; c.RestartPolicy != nil && *c.RestartPolicy == corev1.ContainerRestartPolicyAlways {
			out = addHostPorts(out, c)
		}
	}
	slices.SortFunc(out, compareHostPorts)
	return slices.Compact(out)
}

func addHostPorts(out []hostPort, c *corev1.Container) []hostPort {
	for _, p := range c.Ports {
		if p.HostPort > 0 {
			out = append(out, newHostPort(p))
		}
	}
	return out
}

func newHostPort(p corev1.ContainerPort) hostPort {
	out := hostPort{number: p.HostPort, protocol: p.Protocol, address: p.HostIP}
	if out.protocol == "" {
		out.protocol = corev1.ProtocolTCP
	}
	if out.address == "0.0.0.0" || out.address == "::" {
		out.address = ""
	}
	return out
}

func compareHostPorts(a, b hostPort) int {
	reads := func(p hostPort) int {
		if p.reads {
			return 1
		}
		return 0
	}
	return cmp.Or(cmp.Compare(a.number, b.number), cmp.Compare(a.protocol, b.protocol), cmp.Compare(a.address, b.address), cmp.Compare(reads(a), reads(b)))
}

// clashes says whether two pods cannot bind both ports on one node.
func (p hostPort) clashes(q hostPort) bool {
	return p.number == q.number && p.protocol == q.protocol && (p.address == "" || q.address == "" || p.address == q.address) && !(p.reads && q.reads)
}

func portsClash(a, b []hostPort) bool { return clashing(a, b) >= 0 }

// clashing is the first of some ports that clashes with one of others, -1 if none
// does.
func clashing(a, b []hostPort) int {
	return slices.IndexFunc(a, func(p hostPort) bool { return slices.ContainsFunc(b, p.clashes) })
}
