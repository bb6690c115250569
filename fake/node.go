package fake

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/provisioning/resources"
)

// taintShutdown is the taint of the Kubernetes cloud controller on nodes whose machine is off.
const taintShutdown = "node.cloudprovider.kubernetes.io/shutdown"

// Nodes returns the present Node objects, sorted by name: one for each machine that has joined and
// is not gone. They are read-only, and the pointer of an unchanged Node stays the same. A node
//
//   - is named like the last part of the instance's ID, which is its providerID;
//   - has the labels of the instance, its host name, and the label of its node class; once
//     registered and once ready also karpenter.sh/registered and karpenter.sh/initialized, unless
//     the caller sets these (see Options.Unregistered);
//   - has the taints of the request; until it is ready the startup taints; until it is registered
//     karpenter.sh/unregistered; while its Ready condition is not True the taints that Kubernetes
//     sets for that; and while it is going down node.cloudprovider.kubernetes.io/shutdown and a
//     deletion timestamp;
//   - has the capacity and allocatable of the instance; until it is ready without resources of
//     device plugins, whose names have a domain;
//   - shows its faults (see Action.Break) as conditions, in addition to Ready and the three on
//     pressure.
//
// Changes by controllers, such as karpenter.sh/disrupted, are not included.
func (c *Cloud) Nodes() []*corev1.Node {
	c.enter()
	defer c.mu.Unlock()
	var out []*corev1.Node
	for _, m := range c.machines {
		if m.stage < joined || !m.gone.IsZero() {
			continue
		}
		if m.node == nil {
			m.node = c.buildNode(m)
		}
		out = append(out, m.node)
	}
	slices.SortFunc(out, func(a, b *corev1.Node) int { return strings.Compare(a.Name, b.Name) })
	return out
}

func (c *Cloud) buildNode(m *machine) *corev1.Node {
	readiness := c.readiness(m)
	node := &corev1.Node{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Node"},
		ObjectMeta: metav1.ObjectMeta{
			Name:              m.short(),
			UID:               types.UID(uuid(m.instance.ID)),
			CreationTimestamp: metav1.NewTime(m.joined),
			Labels:            c.nodeLabels(m),
			Annotations:       maps.Clone(m.annotations),
		},
		Spec: corev1.NodeSpec{ProviderID: m.instance.ID, Taints: c.nodeTaints(m, readiness.Status)},
		Status: corev1.NodeStatus{
			Capacity:    nodeResources(m, m.instance.Capacity),
			Allocatable: nodeResources(m, m.instance.Allocatable),
			Conditions:  nodeConditions(m, readiness),
			NodeInfo: corev1.NodeSystemInfo{
				BootID:          uuid(fmt.Sprintf("boot %d of %s", m.boots, m.instance.ID)),
				OSImage:         m.instance.ImageID,
				OperatingSystem: m.instance.Labels[corev1.LabelOSStable],
				Architecture:    m.instance.Labels[corev1.LabelArchStable],
			},
			Addresses: []corev1.NodeAddress{{Type: corev1.NodeHostName, Address: m.short()}},
		},
	}
	if !m.lives() {
		deleted := metav1.NewTime(m.deleted)
		node.DeletionTimestamp = &deleted
	}
	return node
}

func (c *Cloud) nodeLabels(m *machine) map[string]string {
	labels := maps.Clone(m.instance.Labels)
	labels[corev1.LabelHostname] = m.short()
	if kind := m.class.GroupKind(); kind.Group != "" && kind.Kind != "" {
		labels[v1.NodeClassLabelKey(kind)] = m.class.Name
	}
	if c.opts.Unregistered {
		return labels
	}
	if m.stage >= registered {
		labels[v1.NodeRegisteredLabelKey] = "true"
	}
	if m.stage >= ready {
		labels[v1.NodeInitializedLabelKey] = "true"
	}
	return labels
}

// nodeTaints returns the taints of a node, those of the request first.
func (c *Cloud) nodeTaints(m *machine, status corev1.ConditionStatus) []corev1.Taint {
	taints := slices.Clone(m.taints)
	add := func(more ...corev1.Taint) {
		for _, t := range more {
			if !slices.ContainsFunc(taints, func(have corev1.Taint) bool { return have.MatchTaint(&t) }) {
				taints = append(taints, t)
			}
		}
	}
	if m.stage < ready {
		add(m.startupTaints...)
	}
	if m.stage < registered || c.opts.Unregistered {
		add(v1.UnregisteredNoExecuteTaint())
	}
	key := map[corev1.ConditionStatus]string{
		corev1.ConditionFalse: corev1.TaintNodeNotReady, corev1.ConditionUnknown: corev1.TaintNodeUnreachable,
	}[status]
	if key != "" {
		add(corev1.Taint{Key: key, Effect: corev1.TaintEffectNoSchedule}, corev1.Taint{Key: key, Effect: corev1.TaintEffectNoExecute})
	}
	if !m.lives() {
		add(corev1.Taint{Key: taintShutdown, Effect: corev1.TaintEffectNoSchedule})
	}
	return taints
}

// readiness returns the Ready condition of a node.
func (c *Cloud) readiness(m *machine) corev1.NodeCondition {
	is := condition(corev1.NodeReady, corev1.ConditionFalse, "KubeletNotReady", "", m.changed)
	switch part, broken := m.faults[corev1.NodeReady]; {
	case !m.lives():
		is.Message = "the machine is going down"
	case m.rebooting:
		is.Message = "the machine is restarting"
	case broken:
		return part.condition()
	case m.stage < ready:
		is.Message = "the node is starting"
	default:
		is.Status, is.Reason, is.Message = corev1.ConditionTrue, "KubeletReady", "the kubelet is ready"
	}
	return is
}

// nodeConditions returns the conditions sorted by type, with the Ready condition last.
func nodeConditions(m *machine, readiness corev1.NodeCondition) []corev1.NodeCondition {
	out := []corev1.NodeCondition{
		condition(corev1.NodeDiskPressure, corev1.ConditionFalse, "KubeletHasNoDiskPressure", "", m.joined),
		condition(corev1.NodeMemoryPressure, corev1.ConditionFalse, "KubeletHasSufficientMemory", "", m.joined),
		condition(corev1.NodePIDPressure, corev1.ConditionFalse, "KubeletHasSufficientPID", "", m.joined),
	}
	for _, part := range m.faults {
		f := part.condition()
		at := slices.IndexFunc(out, func(have corev1.NodeCondition) bool { return have.Type == f.Type })
		switch {
		case f.Type == corev1.NodeReady:
		case at >= 0:
			out[at] = f
		default:
			out = append(out, f)
		}
	}
	slices.SortFunc(out, func(a, b corev1.NodeCondition) int { return cmp.Compare(a.Type, b.Type) })
	return append(out, readiness)
}

func (p brokenPart) condition() corev1.NodeCondition {
	return condition(p.Type, p.Status, p.Reason, p.Message, p.since)
}

func condition(t corev1.NodeConditionType, s corev1.ConditionStatus, reason, message string, since time.Time) corev1.NodeCondition {
	return corev1.NodeCondition{
		Type: t, Status: s, Reason: reason, Message: message,
		LastHeartbeatTime: metav1.NewTime(since), LastTransitionTime: metav1.NewTime(since),
	}
}

// nodeResources leaves out resources of device plugins until the node is ready.
func nodeResources(m *machine, amounts resources.List) corev1.ResourceList {
	if m.stage < ready {
		for name := range amounts.All() {
			if strings.Contains(string(name), "/") {
				amounts = amounts.Without(name)
			}
		}
	}
	return amounts.ResourceList()
}

// uuid returns a UUID that is computed from a text.
func uuid(text string) string {
	d := newDice(0, "uuid", text)
	h := fmt.Sprintf("%016x%016x", d.Next(), d.Next())
	return h[:8] + "-" + h[8:12] + "-" + h[12:16] + "-" + h[16:20] + "-" + h[20:]
}
