package awstest

import (
	"fmt"
	"slices"
	"time"

	"github.com/dovetail-sdk/dovetail/cloudprovider"
)

// spotNotice is how long before it takes a spot machine AWS says so.
const spotNotice = 2 * time.Minute

// Interrupt takes a machine back as AWS does with spot capacity: a message is put
// into the queue now, and the machine goes down two minutes later. It returns the
// ID of the message, and an error for a machine that is not there or going down.
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

// Terminate takes a machine away, as somebody does who uses the console: it goes
// down now, and a message says so. It is an error if no such machine runs.
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
	c.settle()
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

// Add makes n machines by an offering, as if they had been launched now, without a
// fleet, with the same tags, and returns their IDs, sorted. They cost no stock and
// have no address. It is for tests that need many.
func (c *Cloud) Add(n int, key cloudprovider.OfferingKey, tags map[string]string) []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	ids := make([]string, 0, n)
	image := ""
	if len(c.images) > 0 {
		image = value(c.images[0].ImageId)
	}
	for range n {
		m := &machine{id: c.id("i"), key: key, image: image, launched: c.now, tags: cloneMap(tags), impaired: map[string]time.Time{}}
		if key.CapacityType == spot {
			m.lifecycle = spot
		}
		c.byID[m.id] = m
		c.machines = append(c.machines, m)
		ids = append(ids, m.id)
	}
	slices.SortFunc(c.machines, func(a, b *machine) int {
		if a.id < b.id {
			return -1
		}
		return 1
	})
	slices.Sort(ids)
	return ids
}

// Actions returns which actions were called so far, one each, as
// "service.Action", sorted.
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
