package fake

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/internal/chance"
	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
)

// Create launches the cheapest option of the request, at the current prices, that is on sale and in
// stock; of equal ones the first. With the zero Options.Timing the machine runs at once.
//
// In this order:
//
//  1. A request that does not pass cloudprovider.LaunchRequest.Validate is denied. The script is
//     not applied to it.
//  2. Faults apply; see Script.
//  3. A used token returns its instance, also while that is going down, or KindNotFound once it is
//     gone, whatever the other fields of the request.
//  4. The node class must exist and be ready, if Options.NodeClasses is set.
//  5. A request is denied with all its faults if it has options that are not in the catalog,
//     that do not satisfy the Requirements, or that have no room for the Requests, so that tests
//     detect planners that request such options.
//  6. If none of the options is on sale and in stock the error is KindInsufficientCapacity with
//     the keys of all of them, sorted.
//  7. If no image can be booted the error is KindNotReady.
//
// The labels of the instance are those of the option, the pool's name, and those of the request; of
// several values for a key the first counts.
func (c *Cloud) Create(ctx context.Context, req cloudprovider.LaunchRequest) (*cloudprovider.Instance, error) {
	if err := done(ctx, "Create", req.Name); err != nil {
		return nil, err
	}
	if err := req.Validate(); err != nil {
		return nil, err
	}
	in := call{op: OpCreate, object: req.Name, token: req.Token, pool: req.NodePool}
	in.offering = func() (cloudprovider.OfferingKey, bool) { return c.wouldLaunch(&req) }
	return answer(c, ctx, in, func(o *orders) (*cloudprovider.Instance, error) { return c.create(&req, o) })
}

// wouldLaunch returns the offering by which a request was launched, or would be now.
func (c *Cloud) wouldLaunch(req *cloudprovider.LaunchRequest) (cloudprovider.OfferingKey, bool) {
	if id, used := c.tokens[req.Token]; used {
		return c.aboutInstance(id)()
	}
	if s, _ := c.cheapest(req, nil); s != nil {
		return s.key, true
	}
	return cloudprovider.OfferingKey{}, false
}

func (c *Cloud) create(req *cloudprovider.LaunchRequest, o *orders) (*cloudprovider.Instance, error) {
	if id, used := c.tokens[req.Token]; used {
		if m, runs := c.find(id); runs {
			return m.instance, nil
		}
		return nil, failure("Create", req.Name, cloudprovider.KindNotFound, "the instance of token %q was deleted; use a new token for a new instance", req.Token)
	}
	class, err := c.class("Create", req.NodeClassRef)
	if err != nil {
		return nil, err
	}
	if err := c.check(req); err != nil {
		return nil, failure("Create", req.Name, cloudprovider.KindDenied, "%w", err)
	}
	s, refused := c.cheapest(req, o.refuse)
	if s == nil {
		return nil, c.outOfStock(req, refused)
	}
	arch := architecture(c.types[s.typ])
	image, found := c.imageFor(class, arch)
	if !found {
		return nil, failure("Create", req.Name, cloudprovider.KindNotReady, "node class %s has no image for architecture %q; publish one", req.NodeClassRef.Name, arch)
	}
	instance, err := c.newInstance(s, req, image.ID)
	if err != nil {
		return nil, failure("Create", req.Name, cloudprovider.KindDenied, "%w", err)
	}
	m := &machine{
		instance: instance, shelf: s, token: req.Token, class: req.NodeClassRef, changed: c.now, stalled: o.stall,
		annotations: maps.Clone(req.Annotations), taints: slices.Clone(req.Taints), startupTaints: slices.Clone(req.StartupTaints),
	}
	if class != nil {
		m.classHash = class.Hash
	}
	c.take(s)
	c.add(m)
	return m.instance, nil
}

// check returns every fault of the options. Room and labels are those of the caller's option, which
// overlays may have changed.
func (c *Cloud) check(req *cloudprovider.LaunchRequest) error {
	var errs []error
	for i, option := range req.Options {
		where := fmt.Sprintf("options[%d] (%s)", i, option.Key())
		if _, found := c.shelves[option.Key()]; !found {
			errs = append(errs, fmt.Errorf("%s: the cloud has no such offering; take options from InstanceTypes", where))
			continue
		}
		var labels requirements.Set
		if req.Requirements.Len() > 0 {
			labels = option.Requirements()
		}
		for want := range req.Requirements.All() {
			if have, named := labels.Get(want.Key()); named && !have.Overlaps(want) {
				errs = append(errs, fmt.Errorf("%s: the request wants %s, but it has %s; leave it out", where, want, have))
			}
		}
		allocatable, err := option.InstanceType.AllocatableFor(option.Offering)
		if err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", where, err))
			continue
		}
		if over := req.Requests.Exceeds(allocatable); len(over) > 0 {
			errs = append(errs, fmt.Errorf("%s: it has no room for the %v requested: requests are %s, allocatable is %s; leave it out",
				where, over, req.Requests, allocatable))
		}
	}
	return errors.Join(errs...)
}

// cheapest returns the offering to launch, or if there is none the unavailable options.
func (c *Cloud) cheapest(req *cloudprovider.LaunchRequest, refuse []cloudprovider.Scope) (*shelf, []cloudprovider.OfferingKey) {
	var best *shelf
	var price float64
	refused := make([]cloudprovider.OfferingKey, 0, len(req.Options))
	for _, option := range req.Options {
		key := option.Key()
		s, found := c.shelves[key]
		if !found {
			continue // create denies unknown options; here they are only skipped
		}
		isRefused := slices.ContainsFunc(refuse, func(scope cloudprovider.Scope) bool { return scope.Covers(key) })
		if isRefused || !s.available || s.left() < 1 {
			refused = append(refused, key)
			continue
		}
		if p := c.price(s); best == nil || p < price {
			best, price = s, p
		}
	}
	return best, refused
}

func (c *Cloud) outOfStock(req *cloudprovider.LaunchRequest, refused []cloudprovider.OfferingKey) error {
	slices.SortFunc(refused, cloudprovider.OfferingKey.Compare)
	refused = slices.Compact(refused)
	c.record(EventRefused, cmp.Or(req.Name, req.Token), "%d offerings", len(refused))
	return &cloudprovider.Error{Op: "Create", Kind: cloudprovider.KindInsufficientCapacity, Object: req.Name, Reason: "InsufficientInstanceCapacity",
		Offerings: refused, Err: errors.New("none of the options is available")}
}

// newInstance returns the instance for an offering, a request and an image.
func (c *Cloud) newInstance(s *shelf, req *cloudprovider.LaunchRequest, image string) (*cloudprovider.Instance, error) {
	t, o := c.types[s.typ], s.offering
	allocatable, err := t.AllocatableFor(o)
	if err != nil {
		return nil, err
	}
	capacity := t.Capacity
	if o.Capacity != nil {
		capacity = capacity.Merge(*o.Capacity)
	}
	labels := map[string]string{}
	maps.Copy(labels, req.Labels)
	if req.NodePool != "" {
		labels[v1.NodePoolLabelKey] = req.NodePool
	}
	maps.Copy(labels, cloudprovider.LaunchOption{InstanceType: t, Offering: o}.NodeLabels())
	return &cloudprovider.Instance{
		ID: c.newID(req.Token, o.Zone), Name: req.Name, NodePool: req.NodePool, Labels: labels, CreatedAt: c.now, ImageID: image,
		Type: t.Name, Zone: o.Zone, CapacityType: o.CapacityType, ReservationID: o.ReservationID, OfferingID: o.ID, Price: c.price(s),
		Capacity: capacity, Allocatable: allocatable,
	}, nil
}

// newID makes a new ID in the form of EC2.
func (c *Cloud) newID(token, zone string) string {
	for n := 0; ; n++ {
		id := fmt.Sprintf("fake:///%s/i-%017x", zone, chance.Hash(fmt.Sprintf("%s/%d", token, n)))
		if !c.issued[id] {
			c.issued[id] = true
			return id
		}
	}
}
