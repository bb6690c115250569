package workload

import (
	"cmp"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/dovetail-sdk/dovetail/provisioning/internal/volume"
)

// HostPort is a port of the node that a pod binds. An empty address means all
// of the node's. A disk that a pod names without a claim, and that pods of one
// node may not share, is like a port: it has the number 0, its name in place of the
// protocol, and no address.
type HostPort struct {
	Number   int32
	Protocol corev1.Protocol
	Address  string
	Reads    bool // a disk that is only read: others may read it too
}

// Held lists what a pod holds of its node: its ports and disks.
func Held(pod *corev1.Pod) []HostPort {
	return append(HostPorts(pod), HeldDisks(volume.Disks(pod))...)
}

// HeldDisks lists disks as ports.
func HeldDisks(disks []volume.Disk) []HostPort {
	var out []HostPort
	for _, d := range disks {
		out = append(out, HostPort{Protocol: corev1.Protocol(d.Name), Reads: d.ReadOnly})
	}
	return out
}

// IsDisk says whether the port is a disk.
func (p HostPort) IsDisk() bool { return p.Number == 0 }

// HasDisks says whether a pod names a disk that pods of one node may not share.
func HasDisks(pod *corev1.Pod) bool {
	return slices.ContainsFunc(pod.Spec.Volumes, func(v corev1.Volume) bool {
		return v.AWSElasticBlockStore != nil || v.GCEPersistentDisk != nil || v.ISCSI != nil || v.RBD != nil
	})
}

// HostPorts lists the ports that a pod binds, sorted, each once. Of init
// containers only those that keep running (sidecars) count, as for
// kube-scheduler.
func HostPorts(pod *corev1.Pod) []HostPort {
	var out []HostPort
	for i := range pod.Spec.Containers {
		out = addHostPorts(out, &pod.Spec.Containers[i])
	}
	for i := range pod.Spec.InitContainers {
		if c := &pod.Spec.InitContainers[i]; c.RestartPolicy != nil && *c.RestartPolicy == corev1.ContainerRestartPolicyAlways {
			out = addHostPorts(out, c)
		}
	}
	slices.SortFunc(out, CompareHostPorts)
	return slices.Compact(out)
}

func addHostPorts(out []HostPort, c *corev1.Container) []HostPort {
	for _, p := range c.Ports {
		if p.HostPort > 0 {
			out = append(out, newHostPort(p))
		}
	}
	return out
}

func newHostPort(p corev1.ContainerPort) HostPort {
	out := HostPort{Number: p.HostPort, Protocol: p.Protocol, Address: p.HostIP}
	if out.Protocol == "" {
		out.Protocol = corev1.ProtocolTCP
	}
	if out.Address == "0.0.0.0" || out.Address == "::" {
		out.Address = ""
	}
	return out
}

// CompareHostPorts orders host ports.
func CompareHostPorts(a, b HostPort) int {
	reads := func(p HostPort) int {
		if p.Reads {
			return 1
		}
		return 0
	}
	return cmp.Or(cmp.Compare(a.Number, b.Number), cmp.Compare(a.Protocol, b.Protocol), cmp.Compare(a.Address, b.Address), cmp.Compare(reads(a), reads(b)))
}

// clashes says whether two pods cannot bind both ports on one node.
func (p HostPort) clashes(q HostPort) bool {
	return p.Number == q.Number && p.Protocol == q.Protocol && (p.Address == "" || q.Address == "" || p.Address == q.Address) && !(p.Reads && q.Reads)
}

// PortsClash says whether two pods cannot be on one node for their ports.
func PortsClash(a, b []HostPort) bool { return Clashing(a, b) >= 0 }

// Clashing is the first of some ports that clashes with one of others, -1 if none
// does.
func Clashing(a, b []HostPort) int {
	return slices.IndexFunc(a, func(p HostPort) bool { return slices.ContainsFunc(b, p.clashes) })
}
