package awstest

import (
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/dovetail-sdk/dovetail/cloudprovider"
)

// machine is an EC2 instance. Its state is a function of the clock.
type machine struct {
	id        string
	key       cloudprovider.OfferingKey
	subnet    *subnet
	image     string
	data      form // of its launch template
	token     string
	launched  time.Time
	ending    time.Time // when it began, or will begin, to shut down; zero if never
	reason    string    // why
	returned  bool      // its resources are free again
	tags      map[string]string
	address   string
	lifecycle string
	impaired  map[string]time.Time // checks that fail, and since when
	events    []maintenance
}

// The states of an instance, with their codes.
const (
	pending      = "pending"
	running      = "running"
	shuttingDown = "shutting-down"
	terminated   = "terminated"
)

func stateCode(state string) int32 {
	switch state {
	case running:
		return 16
	case shuttingDown:
		return 32
	case terminated:
		return 48
	}
	return 0
}

func (c *Cloud) state(m *machine) string {
	switch {
	case !m.ending.IsZero() && !c.now.Before(m.ending.Add(c.opts.Shutdown)):
		return terminated
	case !m.ending.IsZero() && !c.now.Before(m.ending):
		return shuttingDown
	case c.now.Before(m.launched.Add(c.opts.Boot)):
		return pending
	}
	return running
}

// launch makes a machine of a pool that does not refuse it.
func (c *Cloud) launch(f form, p *pool, fleet string) *machine {
	m := &machine{
		id: c.id("i"), key: p.key, subnet: p.subnet, image: p.image, data: p.template.data, token: f.str("ClientToken"),
		launched: c.now, tags: tagsFor(p.template.data, "instance"), impaired: map[string]time.Time{},
	}
	maps.Copy(m.tags, tagsFor(f, "instance"))
	m.tags["aws:ec2:fleet-id"] = fleet
	m.tags["aws:ec2launchtemplate:id"] = p.template.id
	m.tags["aws:ec2launchtemplate:version"] = "1"
	if p.key.CapacityType == spot {
		m.lifecycle = spot
	}
	switch market := m.data.str("InstanceMarketOptions.MarketType"); market {
	case "capacity-block", "interruptible-capacity-reservation":
		m.lifecycle = market
	}
	for s := range c.stock {
		if s.Covers(m.key) {
			c.stock[s]--
		}
	}
	if r := c.reservation(m.key.ReservationID); r != nil {
		r.free--
	}
	m.subnet.free--
	m.subnet.used++
	m.address = address(value(m.subnet.CidrBlock), m.subnet.used)
	c.insert(m)
	return m
}

func (c *Cloud) insert(m *machine) {
	at, _ := slices.BinarySearchFunc(c.machines, m.id, func(m *machine, id string) int { return strings.Compare(m.id, id) })
	c.machines = slices.Insert(c.machines, at, m)
	c.byID[m.id] = m
}

// address returns the nth address of a subnet, after the first four, which AWS reserves.
func address(cidr string, n int) string {
	prefix, err := netip.ParsePrefix(cidr)
	if err != nil || !prefix.Addr().Is4() {
		return "10.0.0.4"
	}
	a := prefix.Masked().Addr().As4()
	v := uint32(a[0])<<24 | uint32(a[1])<<16 | uint32(a[2])<<8 | uint32(a[3])
	v += uint32(n+3) & (1<<(32-prefix.Bits()) - 1)
	return netip.AddrFrom4([4]byte{byte(v >> 24), byte(v >> 16), byte(v >> 8), byte(v)}).String()
}

// end makes a machine go down at an instant, unless it goes down earlier.
func (c *Cloud) end(m *machine, at time.Time, reason string) {
	if !m.ending.IsZero() && !at.Before(m.ending) {
		return
	}
	if m.ending.IsZero() {
		c.ending = append(c.ending, m)
	}
	m.ending, m.reason = at, reason
}

// forget is how long a machine is described after it has terminated.
const forget = time.Hour

// reclaim frees the resources of terminated machines, and forgets machines that terminated an hour ago.
func (c *Cloud) reclaim() {
	before := len(c.byID)
	c.ending = slices.DeleteFunc(c.ending, func(m *machine) bool {
		if c.state(m) != terminated {
			return false
		}
		if !m.returned {
			c.giveBack(m)
		}
		gone := !c.now.Before(m.ending.Add(c.opts.Shutdown + forget))
		if gone {
			delete(c.byID, m.id)
		}
		return gone
	})
	if len(c.byID) < before {
		c.machines = slices.DeleteFunc(c.machines, func(m *machine) bool { return c.byID[m.id] == nil })
	}
}

func (c *Cloud) giveBack(m *machine) {
	m.returned = true
	for s := range c.stock {
		if s.Covers(m.key) {
			c.stock[s]++
		}
	}
	if r := c.reservation(m.key.ReservationID); r != nil {
		r.free++
	}
	if m.subnet != nil {
		m.subnet.free++
	}
}

// Instance is a machine that exists.
type Instance struct {
	// ID is the ID of EC2.
	ID string
	// State is pending, running, shutting-down or terminated.
	State string
	// Offering is the offering that was launched. Its capacity type is on-demand, spot or reserved.
	Offering cloudprovider.OfferingKey
	// ImageID, SubnetID and SecurityGroups are those of the machine.
	ImageID, SubnetID string
	SecurityGroups    []string
	// Tags are the tags of the machine, including the tags that AWS sets.
	Tags map[string]string
	// LaunchedAt is when it was launched.
	LaunchedAt time.Time
	// Reason is why it goes down; empty if it does not.
	Reason string
}

// ProviderID returns spec.providerID of its node.
func (i Instance) ProviderID() string {
	return fmt.Sprintf("aws:///%s/%s", i.Offering.Zone, i.ID)
}

// Instances returns all machines, sorted by ID, regardless of Options.Lag. Terminated ones are
// included for an hour.
func (c *Cloud) Instances() []Instance {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.reclaim()
	out := make([]Instance, 0, len(c.machines))
	for _, m := range c.machines {
		i := Instance{ID: m.id, State: c.state(m), Offering: m.key, ImageID: m.image, SecurityGroups: groupsOf(m.data),
			Tags: maps.Clone(m.tags), LaunchedAt: m.launched, Reason: m.reason}
		if m.subnet != nil {
			i.SubnetID = *m.subnet.SubnetId
		}
		out = append(out, i)
	}
	return out
}

// Running counts the machines that are not going down.
func (c *Cloud) Running() int {
	n := 0
	for _, i := range c.Instances() {
		if i.State == pending || i.State == running {
			n++
		}
	}
	return n
}

// spotNotice is the time between the announcement of AWS to interrupt a spot machine and the
// interruption.
const spotNotice = 2 * time.Minute

// Interrupt takes a machine back as AWS does with spot capacity: a message is put into the queue
// now, and the machine goes down two minutes later. It returns the ID of the message, and an error
// for a machine that does not exist or is going down.
func (c *Cloud) Interrupt(instanceID string) (string, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	m, err := c.alive(instanceID)
	if err != nil {
		return "", err
	}
	c.end(m, c.now.Add(spotNotice), "Server.SpotInstanceTermination: Spot instance termination")
	return c.send(c.event("aws.ec2", "EC2 Spot Instance Interruption Warning",
		map[string]any{"instance-id": instanceID, "instance-action": "terminate"})), nil
}

// Terminate ends a machine as a user of the console would: it goes down now, and a message says so.
// It is an error if no such machine runs.
func (c *Cloud) Terminate(instanceID string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	m, err := c.alive(instanceID)
	if err != nil {
		return err
	}
	c.end(m, c.now, "Client.UserInitiatedShutdown: User initiated shutdown")
	c.send(c.event("aws.ec2", "EC2 Instance State-change Notification",
		map[string]any{"instance-id": instanceID, "state": shuttingDown}))
	c.reclaim()
	return nil
}

func (c *Cloud) alive(id string) (*machine, error) {
	m := c.byID[id]
	if m == nil {
		return nil, fmt.Errorf("awstest: there is no instance %q", id)
	}
	if s := c.state(m); s != pending && s != running {
		return nil, fmt.Errorf("awstest: instance %q is %s", id, s)
	}
	return m, nil
}

// Add makes n machines of an offering, as if they were launched now, without a fleet, with the same
// tags, and returns their IDs, sorted. They use no stock and no address. It is for tests that need
// many machines.
func (c *Cloud) Add(n int, key cloudprovider.OfferingKey, tags map[string]string) []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	ids := make([]string, 0, n)
	image := ""
	if len(c.images) > 0 {
		image = value(c.images[0].ImageId)
	}
	for range n {
		m := &machine{id: c.id("i"), key: key, image: image, launched: c.now, tags: copied(tags), impaired: map[string]time.Time{}}
		if key.CapacityType == spot {
			m.lifecycle = spot
		}
		c.byID[m.id] = m
		c.machines = append(c.machines, m)
		ids = append(ids, m.id)
	}
	slices.SortFunc(c.machines, func(a, b *machine) int { return strings.Compare(a.id, b.id) })
	slices.Sort(ids)
	return ids
}

// Actions returns the actions that were called so far, as "service.Action", sorted, without
// duplicates.
func (c *Cloud) Actions() []string {
	var actions []string
	for _, call := range c.Calls() {
		if call.Action != "" {
			actions = append(actions, call.Service+"."+call.Action)
		}
	}
	slices.Sort(actions)
	return slices.Compact(actions)
}
