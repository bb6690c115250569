package ports

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/dovetail-sdk/dovetail/internal/engine/constraint"
	"github.com/dovetail-sdk/dovetail/internal/engine/model"
	"github.com/dovetail-sdk/dovetail/internal/podkey"
)

// Kind describes host ports to the engine.
func Kind() constraint.Kind {
	return constraint.Kind{
		Name:           "hostPorts",
		Cause:          model.CauseHostPorts,
		RuledOut:       "host ports",
		Key:            func(w *podkey.Writer, pod *corev1.Pod, _ bool) { key(w, pod) },
		BoundKey:       key,
		Holds:          of,
		TakenByDaemons: "a DaemonSet binds a host port of the pod",
		Sample: func(pod *corev1.Pod) {
			pod.Spec.Containers[0].Ports = []corev1.ContainerPort{{HostPort: 8080, ContainerPort: 8080, Protocol: corev1.ProtocolTCP}}
		},
	}
}

func key(w *podkey.Writer, pod *corev1.Pod) {
	ports := of(pod)
	w.Count(len(ports))
	for _, p := range ports {
		w.Number(int64(p.Number))
		w.Text(p.Name)
		w.Text(p.Address)
	}
}

// of lists the host ports that a pod binds, sorted by number and without duplicates. The protocol
// is the name. An empty address means all addresses of the node; "::" is an address like any other.
// Of init containers only sidecars, which keep running, count. All this is as in kube-scheduler.
func of(pod *corev1.Pod) []constraint.Hold {
	var out []constraint.Hold
	for i := range pod.Spec.Containers {
		out = add(out, &pod.Spec.Containers[i])
	}
	for i := range pod.Spec.InitContainers {
		if c := &pod.Spec.InitContainers[i]; c.RestartPolicy != nil && *c.RestartPolicy == corev1.ContainerRestartPolicyAlways {
			out = add(out, c)
		}
	}
	slices.SortFunc(out, constraint.Hold.Compare)
	return slices.Compact(out)
}

func add(out []constraint.Hold, c *corev1.Container) []constraint.Hold {
	for _, p := range c.Ports {
		if p.HostPort <= 0 {
			continue
		}
		port := constraint.Hold{Number: p.HostPort, Name: string(p.Protocol), Address: p.HostIP}
		if port.Name == "" {
			port.Name = string(corev1.ProtocolTCP)
		}
		if port.Address == "0.0.0.0" {
			port.Address = ""
		}
		out = append(out, port)
	}
	return out
}
