package fake

import (
	"context"
	"errors"
	"fmt"
	"slices"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
)

// InstanceTypes returns what the cloud sells, the same for every pool, nil
// included, at the prices of the moment. An offering that SetAvailable has taken
// away is there and not Available. One that is merely out of stock is Available,
// as in real clouds, which tell of it only when asked for a machine. The slice
// is the caller's; later changes do not show in it.
//
// Where Options.NodeClasses says which node classes there are, that of the pool
// must exist and be ready, and a pool that names none is KindDenied.
func (c *Cloud) InstanceTypes(ctx context.Context, pool *v1.NodePool) ([]*cloudprovider.InstanceType, error) {
	in := call{op: OpInstanceTypes}
	if pool != nil {
		in.object, in.pool = pool.Name, pool.Name
	}
	return answer(c, ctx, in, func(*orders) ([]*cloudprovider.InstanceType, error) {
		if pool != nil {
			ref := pool.Spec.Template.Spec.NodeClassRef
			if ref == nil && c.classes != nil {
				return nil, denied("InstanceTypes", pool.Name, errors.New("the pool names no node class; set spec.template.spec.nodeClassRef"))
			}
			if ref != nil {
				if _, err := c.class("InstanceTypes", *ref); err != nil {
					return nil, err
				}
			}
		}
		c.refresh()
		return slices.Clone(c.shown), nil
	})
}

// refresh brings shown up to date.
func (c *Cloud) refresh() {
	tick := c.tick()
	for i, t := range c.types {
		if !c.stale[i] && (tick == c.shownAt || !sellsSpot(t)) {
			continue
		}
		// Callers hold the old one, which must not change under them.
		fresh := t.Clone()
		for n := range fresh.Offerings {
			o := &fresh.Offerings[n]
			s := c.shelves[o.Key(t.Name)]
			o.Available, o.Price = s.available, c.price(s)
			if s.reservation != nil {
				o.Available, o.ReservationCapacity = s.available && !s.reservation.ended, s.reservation.left()
			}
		}
		c.shown[i], c.stale[i] = fresh, false
	}
	c.shownAt = tick
}

func sellsSpot(t *cloudprovider.InstanceType) bool {
	return slices.ContainsFunc(t.Offerings, func(o cloudprovider.Offering) bool { return o.CapacityType == v1.CapacityTypeSpot })
}

// SetAvailable puts an offering on sale or takes it off, which InstanceTypes
// shows; to let it run dry unseen, see SetStock. Instances that were launched by
// it run on. An offering that the cloud does not have is an error of
// KindDenied.
func (c *Cloud) SetAvailable(key cloudprovider.OfferingKey, available bool) error {
	c.enter()
	defer c.mu.Unlock()
	s, err := c.shelf("SetAvailable", key)
	if err != nil {
		return err
	}
	if s.available != available {
		s.available, c.stale[s.typ] = available, true
	}
	return nil
}

// shelf returns the shelf of an offering.
func (c *Cloud) shelf(op string, key cloudprovider.OfferingKey) (*shelf, error) {
	if s, found := c.shelves[key]; found {
		return s, nil
	}
	if _, found := c.index[key.InstanceType]; !found {
		return nil, denied(op, key.String(), fmt.Errorf("the catalog has no instance type %q", key.InstanceType))
	}
	return nil, denied(op, key.String(), errors.New("the instance type has no such offering; see its Offerings"))
}

// Get returns the instance, as it was Options.Lag.Get ago. One that had not been launched
// by then, or was gone, is KindNotFound.
func (c *Cloud) Get(ctx context.Context, id string) (*cloudprovider.Instance, error) {
	in := call{op: OpGet, object: id, offering: c.aboutInstance(id)}
	return answer(c, ctx, in, func(*orders) (*cloudprovider.Instance, error) {
		if i, known := c.place(id); known {
			if instance := c.machines[i].asOf(c.now.Add(-c.opts.Lag.Get)); instance != nil {
				return instance, nil
			}
		}
		return nil, c.notFound("Get", id)
	})
}

// List returns the instances, sorted by ID, as they were Options.Lag.List ago.
func (c *Cloud) List(ctx context.Context) ([]*cloudprovider.Instance, error) {
	return answer(c, ctx, call{op: OpList}, func(*orders) ([]*cloudprovider.Instance, error) {
		at := c.now.Add(-c.opts.Lag.List)
		out := make([]*cloudprovider.Instance, 0, len(c.machines))
		for _, m := range c.machines {
			if instance := m.asOf(at); instance != nil {
				out = append(out, instance)
			}
		}
		return out, nil
	})
}

// Delete makes the instance go down, which takes Options.Timing.Shutdown; by
// default it is gone at once. Of one that is going down it returns nil.
func (c *Cloud) Delete(ctx context.Context, id string) error {
	in := call{op: OpDelete, object: id, offering: c.aboutInstance(id)}
	_, err := answer(c, ctx, in, func(*orders) (struct{}, error) {
		m, found := c.find(id)
		if !found {
			return struct{}{}, c.notFound("Delete", id)
		}
		if m.lives() {
			c.takeDown(m, "asked for", false)
		}
		return struct{}{}, nil
	})
	return err
}
