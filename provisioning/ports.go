package provisioning

import (
	"cmp"
	"slices"

	corev1 "k8s.io/api/core/v1"
)

// hostPort is a port of the node that a pod binds. An empty address means all
// of the node's.
type hostPort struct {
	number   int32
	protocol corev1.Protocol
	address  string
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
	return cmp.Or(cmp.Compare(a.number, b.number), cmp.Compare(a.protocol, b.protocol), cmp.Compare(a.address, b.address))
}

// clashes says whether two pods cannot bind both ports on one node.
func (p hostPort) clashes(q hostPort) bool {
	return p.number == q.number && p.protocol == q.protocol && (p.address == "" || q.address == "" || p.address == q.address)
}

func portsClash(a, b []hostPort) bool {
	for _, p := range a {
		if slices.ContainsFunc(b, p.clashes) {
			return true
		}
	}
	return false
}
