package fake

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/dovetail-sdk/dovetail/cloudprovider"
)

// NodeFault is a way in which a node can be broken: a condition that it shows.
type NodeFault struct {
	// Type and Status are those of the node condition. Required. A Ready
	// condition that is not True brings the taints with it that Kubernetes
	// sets.
	Type   corev1.NodeConditionType
	Status corev1.ConditionStatus
	// Reason and Message are those of the condition.
	Reason, Message string
	// CuredByReboot says that a reboot mends it.
	CuredByReboot bool
	// Notice says that the cloud finds it too, and issues a notice of kind
	// InterruptionUnhealthy.
	Notice bool
}

func (f *NodeFault) check() error {
	switch f.Status {
	case corev1.ConditionTrue, corev1.ConditionFalse, corev1.ConditionUnknown:
	default:
		return fmt.Errorf("node fault: Status: %q; use True, False or Unknown", f.Status)
	}
	if f.Type == "" {
		return errors.New("node fault: Type: empty; name a node condition, such as Ready")
	}
	return nil
}

// Breakdown makes nodes break by chance.
type Breakdown struct {
	// Mean is how long a node of Scope is ready, on average, until it has the
	// fault, and after it was mended, until it has it again. At least a second.
	Mean time.Duration
	// Scope is the offerings whose nodes it befalls. The zero Scope is all.
	Scope cloudprovider.Scope
	// Fault is what they have then.
	Fault NodeFault
}

func (b *Breakdown) check(where string) (errs []error) {
	if b.Mean < time.Second {
		errs = append(errs, fmt.Errorf("%s.Mean: %v; use at least a second", where, b.Mean))
	}
	if err := b.Fault.check(); err != nil {
		errs = append(errs, fmt.Errorf("%s.Fault: %w", where, err))
	}
	return errs
}

// brokenPart is a fault that a node has.
type brokenPart struct {
	NodeFault
	since     time.Time
	breakdown int // which of Options.Breakdowns it came from; -1 is none
}

// wearOut arranges the breakdowns of a machine that became ready.
func (c *Cloud) wearOut(m *machine) {
	for i := range c.opts.Breakdowns {
		if c.opts.Breakdowns[i].Scope.Covers(m.shelf.key) {
			c.wear(m, i)
		}
	}
}

// wear arranges the next time that one breakdown befalls a machine.
func (c *Cloud) wear(m *machine, i int) {
	if m.worn == nil {
		m.worn = make([]int, len(c.opts.Breakdowns))
	}
	m.worn[i]++
	d := newDice(c.opts.Seed, "breakdown", m.instance.ID, fmt.Sprint(i), fmt.Sprint(m.worn[i]))
	c.after(d.exponential(c.opts.Breakdowns[i].Mean), func() {
		if m.lives() {
			c.breakDown(m, c.opts.Breakdowns[i].Fault, i)
		}
	})
}

// breakDown gives a machine a fault, in place of one with the same condition.
func (c *Cloud) breakDown(m *machine, f NodeFault, breakdown int) {
	part := brokenPart{NodeFault: f, since: c.now, breakdown: breakdown}
	i, found := slices.BinarySearchFunc(m.faults, f.Type, compareParts)
	if found {
		if old := m.faults[i].breakdown; old >= 0 && old != breakdown {
			c.wear(m, old)
		}
		m.faults[i] = part
	} else {
		m.faults = slices.Insert(m.faults, i, part)
	}
	m.node = nil
	c.recordOf(m, EventBroke, "%s is %s (%s)", f.Type, f.Status, f.Reason)
	if f.Notice {
		c.notify(m, cloudprovider.InterruptionUnhealthy, time.Time{}, "the machine fails its checks")
	}
}

func compareParts(p brokenPart, t corev1.NodeConditionType) int { return cmp.Compare(p.Type, t) }

// mend takes from a machine the faults that a test picks.
func (c *Cloud) mend(m *machine, test func(*brokenPart) bool) {
	m.node = nil
	m.faults = slices.DeleteFunc(m.faults, func(p brokenPart) bool {
		if !test(&p) {
			return false
		}
		if p.Type == corev1.NodeReady {
			m.changed = c.now
		}
		c.recordOf(m, EventMended, "%s", p.Type)
		if p.breakdown >= 0 {
			c.wear(m, p.breakdown)
		}
		return true
	})
}

// Break returns the action that gives the nodes of a target a fault. Those that
// have not joined yet show it once they have.
func Break(t Target, f NodeFault) Action {
	return Action{
		text:  fmt.Sprintf("break nodes: %s is %s", f.Type, f.Status),
		check: func(*Cloud) error { return f.check() },
		do: func(c *Cloud) {
			for _, m := range c.hit(t, nil) {
				c.breakDown(m, f, -1)
			}
		},
	}
}

// Mend returns the action that takes all faults from the nodes of a target.
func Mend(t Target) Action {
	return Action{text: "mend nodes", do: func(c *Cloud) {
		for _, m := range c.hit(t, func(m *machine) bool { return len(m.faults) > 0 }) {
			c.mend(m, func(*brokenPart) bool { return true })
		}
	}}
}

// Reboot restarts the machine, which mends the faults that a reboot cures. Its
// node is not ready for Timing.Reboot, and has another boot ID from then on. A
// machine that is going down, or whose kubelet has not made its Node yet, cannot
// be restarted, which is KindDenied.
func (c *Cloud) Reboot(ctx context.Context, id, operation string) error {
	_, err := answer(c, ctx, call{op: OpReboot, object: id, offering: c.aboutInstance(id)}, func(*orders) (struct{}, error) {
		m, found := c.find(id)
		switch {
		case !found:
			return struct{}{}, c.notFound("Reboot", id)
		case operation == "":
			return struct{}{}, denied("Reboot", id, errors.New("the operation is empty; choose one for each restart"))
		case m.operations[operation]:
			return struct{}{}, nil
		case !m.lives():
			return struct{}{}, denied("Reboot", id, errors.New("the machine is going down"))
		case m.stage < joined:
			return struct{}{}, denied("Reboot", id, errors.New("the machine has not started yet; wait until its node has joined"))
		}
		c.reboot(m, operation)
		return struct{}{}, nil
	})
	return err
}

func (c *Cloud) reboot(m *machine, operation string) {
	if m.operations == nil {
		m.operations = map[string]bool{}
	}
	m.operations[operation] = true
	m.boots++
	boot := m.boots
	m.rebooting, m.changed, m.node = true, c.now, nil
	c.stats.Rebooted++
	c.recordOf(m, EventRebooting, "operation %s", operation)
	d := newDice(c.opts.Seed, "reboot", m.instance.ID, operation).in(c.opts.Timing.Reboot)
	c.step(m, d, func() {
		if m.boots != boot {
			return // restarted again meanwhile
		}
		m.rebooting, m.changed = false, c.now
		c.mend(m, func(p *brokenPart) bool { return p.CuredByReboot })
		c.recordOf(m, EventRebooted, "")
	})
}

// RepairPolicies returns Options.RepairPolicies.
func (c *Cloud) RepairPolicies() []cloudprovider.RepairPolicy {
	return slices.Clone(c.opts.RepairPolicies)
}

// defaultRepairPolicies tolerate what Kubernetes itself reports for half an
// hour, and restart nodes whose software is stuck.
func defaultRepairPolicies() []cloudprovider.RepairPolicy {
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
