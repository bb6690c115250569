package fake

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
)

// Create launches the cheapest option of the request, by the prices that the
// cloud has now, among those that it sells now; of equal ones the first. The
// instance runs at once.
//
// In this order:
//
//  1. A request that does not pass cloudprovider.LaunchRequest.Validate is
//     denied.
//  2. A token that was used returns its instance, or KindNotFound once that is
//     deleted, whatever else the request says.
//  3. A request is denied with all its faults if it has options that are not in
//     the catalog, that do not admit the Requirements, or that have no room for
//     the Requests. The fake is strict, so that tests show a planner that asks
//     for such.
//  4. If none of the options is on sale the error is KindInsufficientCapacity
//     with the keys of all of them, sorted.
//
// The labels of the instance are those of the option, the pool's name, and
// those of the request, where an earlier one wins.
func (c *Cloud) Create(ctx context.Context, req cloudprovider.LaunchRequest) (*cloudprovider.Instance, error) {
	if err := done(ctx, "Create", req.Name); err != nil {
		return nil, err
	}
	if err := req.Validate(); err != nil {
		return nil, err
	}
	now := c.clock()
	c.mu.Lock()
	defer c.mu.Unlock()
	if id, used := c.tokens[req.Token]; used {
		if instance, running := c.instances[id]; running {
			return instance, nil
		}
		return nil, &cloudprovider.Error{Op: "Create", Kind: cloudprovider.KindNotFound, Object: req.Name,
			Err: fmt.Errorf("the instance of token %q was deleted; use a new token for a new instance", req.Token)}
	}
	if err := c.check(&req); err != nil {
		return nil, denied("Create", req.Name, err)
	}
	option, err := c.cheapest(&req)
	if err != nil {
		return nil, err
	}
	instance, err := newInstance(option, &req)
	if err != nil {
		return nil, denied("Create", req.Name, err)
	}
	instance.ID, instance.CreatedAt = c.newID(req.Token, instance.Zone), now
	c.tokens[req.Token], c.instances[instance.ID] = instance.ID, instance
	return instance, nil
}

// own returns the cloud's own view of an option, which may be newer than that
// of the caller.
func (c *Cloud) own(option cloudprovider.LaunchOption) (cloudprovider.LaunchOption, bool) {
	i, found := c.index[option.InstanceType.Name]
	if !found {
		return cloudprovider.LaunchOption{}, false
	}
	o, found := c.types[i].Offering(option.Key())
	return cloudprovider.LaunchOption{InstanceType: c.types[i], Offering: o}, found
}

// check returns every fault of the options. Room and labels are judged by what
// the caller knows of an option, since overlays may have changed it.
func (c *Cloud) check(req *cloudprovider.LaunchRequest) error {
	var errs []error
	for i, option := range req.Options {
		where := fmt.Sprintf("options[%d] (%s)", i, option.Key())
		if _, found := c.own(option); !found {
			errs = append(errs, fmt.Errorf("%s: the cloud has no such offering; take options from InstanceTypes", where))
			continue
		}
		labels := option.Requirements()
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

// cheapest returns the option to launch.
func (c *Cloud) cheapest(req *cloudprovider.LaunchRequest) (cloudprovider.LaunchOption, error) {
	var best cloudprovider.LaunchOption
	refused := make([]cloudprovider.OfferingKey, 0, len(req.Options))
	for _, option := range req.Options {
		own, _ := c.own(option)
		if !own.Offering.Launchable() {
			refused = append(refused, option.Key())
			continue
		}
		if best.Offering == nil || own.Offering.Price < best.Offering.Price {
			best = own
		}
	}
	if best.Offering != nil {
		return best, nil
	}
	slices.SortFunc(refused, cloudprovider.OfferingKey.Compare)
	return best, &cloudprovider.Error{
		Op:        "Create",
		Kind:      cloudprovider.KindInsufficientCapacity,
		Object:    req.Name,
		Reason:    "InsufficientInstanceCapacity",
		Offerings: slices.Compact(refused),
		Err:       errors.New("none of the options is available"),
	}
}

// newInstance describes the machine that an option makes of a request, but for
// its ID and time.
func newInstance(option cloudprovider.LaunchOption, req *cloudprovider.LaunchRequest) (*cloudprovider.Instance, error) {
	t, o := option.InstanceType, option.Offering
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
	maps.Copy(labels, option.NodeLabels())
	return &cloudprovider.Instance{
		Name:          req.Name,
		NodePool:      req.NodePool,
		Type:          t.Name,
		Zone:          o.Zone,
		CapacityType:  o.CapacityType,
		ReservationID: o.ReservationID,
		OfferingID:    o.ID,
		ImageID:       "image-" + labels[corev1.LabelArchStable],
		Labels:        labels,
		Capacity:      capacity,
		Allocatable:   allocatable,
		Price:         o.Price,
	}, nil
}

// newID makes an ID that was never used, in the form that EC2 gives it.
func (c *Cloud) newID(token, zone string) string {
	for n := 0; ; n++ {
		id := fmt.Sprintf("fake:///%s/i-%017x", zone, hash(fmt.Sprintf("%s/%d", token, n)))
		if !c.issued[id] {
			c.issued[id] = true
			return id
		}
	}
}
