package fake

import (
	"context"
	"maps"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/internal/fault"
)

// NodeFault is a fault of a node, shown as a condition.
type NodeFault struct {
	// Type and Status are those of the node condition. Required. With a Ready condition that is not
	// True the node also gets the taints that Kubernetes sets.
	Type   corev1.NodeConditionType
	Status corev1.ConditionStatus
	// Reason and Message are those of the condition.
	Reason, Message string
	// CuredByReboot says that a reboot removes the fault.
	CuredByReboot bool
}

func (f *NodeFault) check() []error {
	switch f.Status {
	case corev1.ConditionTrue, corev1.ConditionFalse, corev1.ConditionUnknown:
		return nil
	}
	return []error{fault.Wrong("Break.Status", "%q; use True, False or Unknown", f.Status)}
}

// brokenPart is a present fault of a node.
type brokenPart struct {
	NodeFault
	since time.Time
}

// breakDown adds a fault to a machine, or replaces one with the same condition.
func (c *Cloud) breakDown(m *machine, f NodeFault) {
	if m.faults == nil {
		m.faults = map[corev1.NodeConditionType]brokenPart{}
	}
	m.faults[f.Type], m.node = brokenPart{f, c.now}, nil
	c.recordOf(m, EventBroke, "%s is %s (%s)", f.Type, f.Status, f.Reason)
}

// mend removes the faults of a machine for which test is true.
func (c *Cloud) mend(m *machine, test func(brokenPart) bool) {
	m.node = nil
	for _, t := range slices.Sorted(maps.Keys(m.faults)) {
		if !test(m.faults[t]) {
			continue
		}
		if t == corev1.NodeReady {
			m.changed = c.now
		}
		delete(m.faults, t)
		c.recordOf(m, EventMended, "%s", t)
	}
}

// Reboot restarts the machine, which removes faults with CuredByReboot. Its node is not ready for
// Timing.Reboot, and has another boot ID from then on. A machine that is going down, or whose node
// has not joined yet, cannot be restarted: KindDenied.
func (c *Cloud) Reboot(ctx context.Context, id, operation string) error {
	return do(c, ctx, call{op: OpReboot, object: id, offering: c.aboutInstance(id)}, func(*orders) error {
		m, found := c.find(id)
		why := ""
		switch {
		case !found:
			return c.notFound("Reboot", id)
		case operation == "":
			why = "the operation is empty; choose one for each restart"
		case m.operations[operation]:
			return nil
		case !m.lives():
			why = "the machine is going down"
		case m.stage < joined:
			why = "the machine has not started yet; wait until its node has joined"
		}
		if why != "" {
			return failure("Reboot", id, cloudprovider.KindDenied, "%s", why)
		}
		c.reboot(m, operation)
		return nil
	})
}

func (c *Cloud) reboot(m *machine, operation string) {
	if m.operations == nil {
		m.operations = map[string]bool{}
	}
	m.operations[operation] = true
	m.boots++
	boot := m.boots
	m.rebooting, m.changed, m.node = true, c.now, nil
	c.recordOf(m, EventRebooting, "operation %s", operation)
	d := newDice(c.opts.Seed, "reboot", m.instance.ID, operation).in(c.opts.Timing.Reboot)
	c.step(m, d, func() {
		if m.boots != boot {
			return // restarted again meanwhile
		}
		m.rebooting, m.changed = false, c.now
		c.mend(m, func(p brokenPart) bool { return p.CuredByReboot })
		c.recordOf(m, EventRebooted, "")
	})
}

// RepairPolicies returns policies that tolerate conditions of Kubernetes itself for half an hour,
// and reboot nodes whose software hangs.
func (c *Cloud) RepairPolicies() []cloudprovider.RepairPolicy {
	broken := func(t corev1.NodeConditionType, s corev1.ConditionStatus, regex string, d time.Duration, a cloudprovider.RepairAction) cloudprovider.RepairPolicy {
		return cloudprovider.RepairPolicy{ConditionType: t, ConditionStatus: s, ReasonRegex: regex, TolerationDuration: d, Action: a}
	}
	const replace, reboot = cloudprovider.ReplaceNode, cloudprovider.RebootNode
	return []cloudprovider.RepairPolicy{
		broken(corev1.NodeReady, corev1.ConditionFalse, "", 30*time.Minute, replace),
		broken(corev1.NodeReady, corev1.ConditionUnknown, ".*", 30*time.Minute, replace),
		broken("AcceleratedHardwareReady", corev1.ConditionFalse, ".*", 10*time.Minute, replace),
		broken("ContainerRuntimeReady", corev1.ConditionFalse, ".*", 10*time.Minute, reboot),
		broken("KernelReady", corev1.ConditionFalse, ".*", 10*time.Minute, reboot),
		broken("NetworkingReady", corev1.ConditionFalse, ".*", 30*time.Minute, replace),
		broken("StorageReady", corev1.ConditionFalse, ".*", 30*time.Minute, replace),
	}
}
