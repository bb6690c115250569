package fake

import (
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
)

// machine is an instance and its state in the cloud.
type machine struct {
	instance *cloudprovider.Instance // replaced, never written to
	before   *cloudprovider.Instance // as it was before it was Deleting
	shelf    *shelf                  // its offering
	token    string

	class     v1.NodeClassReference
	classHash string

	annotations           map[string]string
	taints, startupTaints []corev1.Taint

	stage   stage
	changed time.Time // when the readiness of the node last changed
	joined  time.Time
	stalled bool // it never joins

	deleted, gone time.Time // start and end of its shutdown; zero before
	taken         bool      // the cloud took it away, so that it does not return to stock

	faults     map[corev1.NodeConditionType]brokenPart
	boots      int
	rebooting  bool
	operations map[string]bool // requested reboots

	node *corev1.Node // nil if it has to be rebuilt
}

// stage is the stage of a machine's life.
type stage int

const (
	launching stage = iota
	joined
	registered
	ready
)

// lives reports whether the machine exists and is not going down.
func (m *machine) lives() bool { return m.deleted.IsZero() }

// short returns the part of the ID after the last slash.
func (m *machine) short() string { return m.instance.ID[strings.LastIndexByte(m.instance.ID, '/')+1:] }

// asOf returns the instance as it was at an instant, or nil if it did not exist then.
func (m *machine) asOf(at time.Time) *cloudprovider.Instance {
	switch {
	case m.instance.CreatedAt.After(at), !m.gone.IsZero() && !m.gone.After(at):
		return nil
	case !m.deleted.IsZero() && m.deleted.After(at):
		return m.before
	}
	return m.instance
}

// place returns the index of the machine with this ID in c.machines, or where it would be.
func (c *Cloud) place(id string) (int, bool) {
	return slices.BinarySearchFunc(c.machines, id, func(m *machine, id string) int {
		return strings.Compare(m.instance.ID, id)
	})
}

// find returns the machine, unless it is gone.
func (c *Cloud) find(id string) (*machine, bool) {
	i, found := c.place(id)
	if !found || !c.machines[i].gone.IsZero() {
		return nil, false
	}
	return c.machines[i], true
}

// add adds a new machine and schedules its start.
func (c *Cloud) add(m *machine) {
	i, _ := c.place(m.instance.ID)
	c.machines = slices.Insert(c.machines, i, m)
	c.tokens[m.token] = m.instance.ID
	c.stats.Launched++
	c.recordOf(m, EventLaunched, "%s at %.6g USD per hour", m.instance.OfferingKey(), m.instance.Price)
	d := newDice(c.opts.Seed, "timing", m.instance.ID)
	launch, register, initialize := d.in(c.opts.Timing.Launch), d.in(c.opts.Timing.Registration), d.in(c.opts.Timing.Initialization)
	if c.opts.Unregistered {
		register = 0
	}
	c.exposeToSpot(m)
	if m.stalled {
		return
	}
	c.step(m, launch, func() {
		m.joined = c.now
		c.reach(m, joined, EventJoined)
		c.step(m, register, func() {
			c.reach(m, registered, EventRegistered)
			c.step(m, initialize, func() { c.reach(m, ready, EventReady) })
		})
	})
}

// step runs do after d, unless the machine is going down by then. With a zero d it runs at once.
func (c *Cloud) step(m *machine, d time.Duration, do func()) {
	c.after(d, func() {
		if d <= 0 || m.lives() {
			do()
		}
	})
}

func (c *Cloud) reach(m *machine, s stage, kind EventKind) {
	m.stage, m.changed, m.node = s, c.now, nil
	if kind == EventRegistered && c.opts.Unregistered {
		return // the caller registers the Node
	}
	c.recordOf(m, kind, "")
}

// takeDown makes a machine go down.
func (c *Cloud) takeDown(m *machine, why string, taken bool) {
	m.before, m.deleted, m.changed, m.taken, m.node = m.instance, c.now, c.now, taken, nil
	going := *m.instance
	going.Deleting = true
	m.instance = &going
	c.recordOf(m, EventDeleting, "%s", why)
	c.after(newDice(c.opts.Seed, "shutdown", m.instance.ID).in(c.opts.Timing.Shutdown), func() { c.finish(m) })
}

// finish makes a machine gone. It is kept as long as a delayed List may return it.
func (c *Cloud) finish(m *machine) {
	m.gone, m.node = c.now, nil
	c.lived += c.now.Sub(m.instance.CreatedAt).Milliseconds()
	c.stats.Terminated++
	c.recordOf(m, EventGone, "")
	c.giveBack(m)
	c.after(c.opts.ListLag, func() {
		i, _ := c.place(m.instance.ID)
		c.machines = slices.Delete(c.machines, i, i+1)
	})
}
