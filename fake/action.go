package fake

import (
	"cmp"
	"errors"
	"slices"
	"time"

	"github.com/dovetail-sdk/dovetail/cloudprovider"
)

// Action is something that happens to the cloud without its customers asking
// for it: SetStock, Refill, SetReservation, EndReservation, Interrupt,
// Rebalance, Maintain, Stop, Break, Mend, PublishImage, DeprecateImage,
// SetNodeClass, RemoveNodeClass. It is a value: the same one may be used again,
// also with another cloud.
//
// The zero Action is not valid, nor is one with a number, a warning or another length of
// time below zero, without the name or ID of what it makes, with a fault that has no type
// or status, with a scope that covers no offering, or with a reservation that the cloud
// does not know: Do and After say so.
type Action struct {
	text  string
	check func(*Cloud) error // nil if nothing can be wrong
	do    func(*Cloud)
}

// String returns what happens, in words.
func (a Action) String() string { return a.text }

// Do lets the actions happen now, in their order. If any of them is not valid
// the error says so of all that are not, and none happens. An action that finds
// no machine to happen to is not an error.
func (c *Cloud) Do(actions ...Action) error { return c.arrange("Do", 0, actions) }

// After arranges for the actions to happen, in their order, once d has passed
// by the cloud's clock; see Advance. At once if d is not above zero. The error
// is that of Do, and known at once.
func (c *Cloud) After(d time.Duration, actions ...Action) error {
	return c.arrange("After", d, actions)
}

func (c *Cloud) arrange(op string, d time.Duration, actions []Action) error {
	c.enter()
	defer c.mu.Unlock()
	var errs []error
	for _, a := range actions {
		switch {
		case a.do == nil:
			errs = append(errs, denied(op, "", errors.New("the zero Action says nothing; make one with a function such as SetStock")))
		case a.check != nil:
			if err := a.check(c); err != nil {
				errs = append(errs, denied(op, "", err))
			}
		}
	}
	if len(errs) > 0 {
		return errors.Join(errs...)
	}
	for _, a := range actions {
		if d <= 0 {
			a.do(c)
			continue
		}
		c.after(d, func() { a.do(c) })
	}
	return nil
}

// Target chooses machines for an action, among those that are not going down.
// The zero Target is all of them.
type Target struct {
	// Instances are the IDs of the machines. Empty is any.
	Instances []string
	// NodePool is the pool of the machines. Empty is any.
	NodePool string
	// Scope is the offerings by which the machines were launched.
	Scope cloudprovider.Scope
	// Count is how many of them at most. Zero is all. Which ones is a matter
	// of Seed, and does not depend on when they were launched.
	Count int
}

// hit returns the machines of a target that also pass a test, sorted by ID.
func (c *Cloud) hit(t Target, test func(*machine) bool) []*machine {
	var out []*machine
	for _, m := range c.machines {
		switch {
		case !m.lives(), test != nil && !test(m),
			t.NodePool != "" && t.NodePool != m.instance.NodePool,
			!t.Scope.Covers(m.shelf.key),
			len(t.Instances) > 0 && !slices.Contains(t.Instances, m.instance.ID):
			continue
		}
		out = append(out, m)
	}
	if t.Count <= 0 || len(out) <= t.Count {
		return out
	}
	slices.SortStableFunc(out, func(a, b *machine) int {
		return cmp.Compare(newDice(c.opts.Seed, "target", a.instance.ID).Next(), newDice(c.opts.Seed, "target", b.instance.ID).Next())
	})
	out = out[:t.Count]
	slices.SortFunc(out, func(a, b *machine) int { return cmp.Compare(a.instance.ID, b.instance.ID) })
	return out
}
